"""The arguments that the sentences of a prompt tell to give to a tool."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from agenthard.audit.detectors.support.prompts import without_code_blocks
from agenthard.audit.detectors.support.written_calls import object_spans

_NAME = r"[A-Za-z_]\w*"
_JOINED = r"(?-i:[a-z][^\W_]*+_\w+|[a-z]+[A-Z]\w*)"
_TOOL = r"(?:the )?`(?P<tool>[A-Za-z_][\w.]*)(?:\(\))?`"
_TOLD = re.compile(
    rf"\b(?:pass|give|set|provide|include) `(?P<name>{_NAME})(?:=[^`\n]*)?`(?: [^`.\n]{{0,30}})? (?:to|of|for|in) "
    rf"{_TOOL}"
    rf"|\b(?:parameter|argument) `(?P<name2>{_NAME})` (?:to|of|for) {_TOOL.replace('<tool>', '<tool2>')}",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?:[^.!?\n]|[.!?](?=\S))+[.!?]*")
_MARKED = (
    rf"(?P<{{0}}q>`|\*\*|__{{1}})(?P<{{0}}m>{_NAME})(?:”|(?P={{0}}q))|(?<![\w.`/$])(?P<{{0}}b>{_JOINED})(?![\w(/])"
)
"""A name in code style; quotation marks count where a word says that it is a parameter, as values stand in them too."""
_QUOTES = "|[\"'“]"
_KIND = r"(?:parameter|argument|field|flag|option|input|keyword|arg|param|property)"
_ADJECTIVE = (
    r"(?:following|optional|additional|extra|required|mandatory|single|first|second|third|last|next|same|correct|right"
    r"|valid|new|other|different|certain|special|specific|named|keyword|positional|string|text|integer|number|numeric"
    r"|boolean|list|array|object|json|date|missing|corresponding|further)"
)
_ARGUMENT = re.compile(
    rf"\b{_KIND}s?:?\s+(?:(?:named|called)\s+)?(?:{_MARKED.format('a', _QUOTES)})"
    rf"|\b(?:requires?|needs?|takes?|accepts?|expects?) (?:the|an?) (?!{_ADJECTIVE}\b)(?P<dm>{_NAME})"
    r" (?:argument|parameter)\b"
    rf"|(?:{_MARKED.format('b', _QUOTES)})\s+(?:\w+\s+)?{_KIND}\b"
    rf"|`(?P<em>{_NAME})\s*=[^`\n]{{0,60}}`|\bwith (?P<fm>{_JOINED})\s*(?:=|set to\b|equal to\b)"
    rf"|\b(?:set|pass|give|provide|include|supply|fill in|fill out|specify|requires?|needs?|takes?"
    rf"|accepts?|expects?)\s+(?:the |a |an |its |their )?(?:{_MARKED.format('c', '')})",
    re.IGNORECASE,
)
_VALUE = r"(?:`(?P<{0}c>[^`\n]{{1,60}})`|[\"“](?P<{0}d>[^\"”\n]{{1,60}})[\"”]|'(?P<{0}s>[^'\n]{{1,60}})'(?!\w))"
_PLACED = (
    r"(?:\s*[=:]\s*|\s+(?:(?:argument|parameter|field|option|flag)\s+)?(?:(?:of|in|for|on) (?:the )?[`*\"\w.]+"
    r"(?: (?:tool|function|call))?\s+)?(?:(?:always|must|should|has to|is|be|set|to|as|=)\s+)+"
    r"|\s+(?:of|in|for) (?:the )?[`*\"\w.]+(?: (?:tool|function|call))?\s*[:=]\s*)"
)
_SET = re.compile(
    rf"(?:[`\"'“]|\*\*)(?P<name>{_NAME})(?:[`\"'”]|\*\*){_PLACED}{_VALUE.format('a')}"
    rf"|(?<![\w.`-])(?P<name3>{_NAME})\s*=\s*{_VALUE.format('c')}"
    rf"|(?<!\w){_VALUE.format('b')}\s+(?:as|for)\s+(?:the )?(?:[`\"'“]|\*\*)(?P<name2>{_NAME})(?:[`\"'”]|\*\*)",
    re.IGNORECASE,
)
_ELSEWHERE = re.compile(
    r"\b(?:no|not|never|without|cannot|don['’]t|doesn['’]t|isn['’]t|instead of|rather than|returns?|returned|respon\w+"
    r"|results?|outputs?|contains?|shows?|unlike"
    r"|(?:user|customer|client|caller|member)s? (?:\w+ )?"
    r"(?:provides?|gives?|supply|supplies|specify|specifies|includes?)"
    r"|(?:in|to) (?:your|the|a) (?:reply|answer|message|user|customer))\b",
    re.IGNORECASE,
)
"""A sentence that denies, or that speaks of what a tool gives back, tells nothing about what it takes."""


class Told(NamedTuple):
    """An argument that a sentence names beside a tool."""

    tool: str
    """Name of the tool."""
    argument: str
    """Name of the argument."""
    value: str | None
    """Its value, where the sentence gives one."""
    passage: str
    """The sentence, or the part of it."""
    sure: bool
    """Whether the words themselves join argument and tool."""


def told_arguments(text: str, tools: frozenset[str]) -> Iterator[Told]:
    """Yield the arguments that a prompt tells to give to one of ``tools``.

    A sentence that joins both ("pass `reason` to `book`") is sure. One that names a single tool, and a parameter or a
    word to set, pass or fill in, is not: the word can be a field of what the tool works on.
    """
    prose = without_code_blocks(text)
    for start, end in object_spans(prose):
        prose = prose[:start] + "\n" * (end - start) + prose[end:]
    for match in _TOLD.finditer(prose):
        yield Told(match["tool"] or match["tool2"], match["name"] or match["name2"], None, match[0], True)
    pattern = _any_of(tools) if any(tool.rpartition(".")[2] in prose for tool in tools) else None
    for sentence in (match[0].strip() for match in _SENTENCE.finditer(prose)) if pattern else ():
        named = {match[0] for match in pattern.finditer(sentence)} if pattern else set()
        if len(named) != 1:
            continue
        [tool] = named
        for match in _SET.finditer(sentence):
            given = next(
                (match[key] for key in ("ac", "ad", "as", "bc", "bd", "bs", "cc", "cd", "cs") if match[key]), None
            )
            name = match["name"] or match["name2"] or match["name3"]
            if tool not in (given, name):
                yield Told(tool, name, given, sentence, False)
        if _ELSEWHERE.search(sentence):
            continue
        for match in _ARGUMENT.finditer(sentence):
            name = next(match[key] for key in ("am", "ab", "dm", "bm", "bb", "em", "fm", "cm", "cb") if match[key])
            if name not in tools:
                yield Told(tool, name, None, sentence, False)


@lru_cache(maxsize=64)
def _any_of(tools: frozenset[str]) -> re.Pattern[str] | None:
    names = sorted({name for tool in tools for name in (tool, tool.rpartition(".")[2])}, reverse=True)
    joined = [re.escape(name) for name in names if re.search(r"[^\W_]_[^\W_]|[a-z][A-Z]", name)]
    single = [rf"(?<=`){re.escape(name)}(?=`|\(\)`)|(?<=\*\*){re.escape(name)}(?=\*\*)" for name in names]
    return re.compile("|".join([*(rf"(?<![\w.]){name}(?!\w)" for name in joined), *single])) if names else None
