"""Tools and arguments that a prompt names in its sentences."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from agenthard.audit.detectors.support.prompt_calls import (
    object_spans,
    stands_for_any,
    without_code_blocks,
    written_calls,
)

_NAME = r"[A-Za-z_]\w*+(?:\.\w++)*+"
_JOINED = r"(?=[a-z][^\W_]*+_\w|[a-z][a-z]+[A-Z][a-z])[a-z]\w*+"
"""Several words in one, as no prose writes them: get_card, getCard; but not iPhone, macOS."""
_BARE = rf"(?<![\w.`]){_JOINED}"
_QUOTED = rf"(?:\*\*|__|[\"'“‘])(?P<{{0}}q>{_JOINED})(?:\(\))?(?:\*\*|__|[\"'”’])"
_MARKED = rf"(?:\*{{{{0,2}}}}`(?P<{{0}}m>{_NAME})(?:\(\))?`\*{{{{0,2}}}}|{_QUOTED}|(?P<{{0}}s>{_BARE})(?:\(\))?)"
_TOOL = r"(?i:tool|function)"
_AS_TOOL = re.compile(
    _MARKED.format("a") + rf"\s+{_TOOL}\b(?!\s*(?i:name|response|result)s?\b)"
    rf"|\b{_TOOL}(?:\s+(?i:called|named))?:?\s+" + _MARKED.format("b") + r"(?=[\s.,;:)]|$)"
)
_AS_WORK = re.compile(
    r"\b(?i:results?|outputs?|responses?|answers?|return values?)\s+(?i:of|from|by)\s+"
    + _MARKED.format("c")
    + r"|\b(?i:call|invoke|run|execute|trigger|calling|invoking|running|executing|triggering|calls|invokes|runs"
    r"|executes|triggers)\s+(?:the )?" + _MARKED.format("d")
    + r"|" + _MARKED.format("e") + r"\s+(?i:returns|responds|answers"
    r"|(?:(?:must|should|has to|is to|can|may|will) (?:always |only )?)?(?:be|is|gets) "
    r"(?:called|invoked|executed))\b"
    + r"|\b(?i:calls?|requests?) to (?:the )?" + _MARKED.format("g")
)  # fmt: skip
_AS_USED = re.compile(r"\b(?i:use|using|uses|via|with|through)\s+(?:the )?" + _MARKED.format("f"))
_AS_CALL = re.compile(rf"(?P<call>{_BARE})\((?=[^\n]{{0,200}}\))")
_COMPOUND = re.compile(r"\w*(?:[^\W_]_[^\W_]|[a-z][A-Z])\w*")
"""Names of several words: a single word in backticks is a value or a state as often as a tool."""
_LIST = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]+|\*\*)?[^\n.]{0,60}\b(?:tools|functions|apis)\b[^\n.]{0,40}?(?::|:?\*\*:?|(?<=s))[ \t]*\n"
    r"(?P<items>(?:[ \t]*(?:[-*+•]|\d+[.)])[ \t]+[^\n]*(?:\n|\Z)|[ \t]{2,}[^\n]*(?:\n|\Z)|[ \t]*\n){1,200})",
    re.MULTILINE | re.IGNORECASE,
)
_ITEM = re.compile(
    rf"^[ \t]*(?:[-*+•]|\d+[.)])[ \t]+[*_]{{0,2}}`?(?P<name>{_NAME})`?(?:\([^()\n]*\))?[*_]{{0,2}}[ \t]*(?=[:–—-]|$)",
    re.MULTILINE,
)
_ABSENT = re.compile(
    r"\b(?:no|not|never|without|cannot|can['’]t|n['’]t|instead of|rather than|absent|missing|unavailable|nonexistent"
    r"|do(?:es)? not exist)\b",
    re.IGNORECASE,
)
_EXAMPLE = re.compile(r"\be\.\s?g\.|\bfor (?:example|instance)\b|\bsuch as\b|\bsyntax\b|\bform(?:at)?\b", re.IGNORECASE)
_ANY_ARGUMENTS = re.compile(
    r"\(\s*+(?:(?:\*{0,2}(?:args|arguments|params|parameters|kwargs|inputs?)\b|\.\.\.|…)[,\s]*+){1,4}\)", re.IGNORECASE
)
"""Arguments of a call that shows syntax: ``f(args)``, ``f(...)``."""
_SPEECH = re.compile(r"\"[^\"\n]{1,2000}\"|“[^”\n]{1,2000}”")
_FEWEST_WORDS = 3
"""Words of a quotation that is something said, and not a term."""
_INVENTED = re.compile(
    r"\b(?:lie|lies|lying|pretend(?:s|ing)?|falsely|allege(?:s|dly)?|fabricate[sd]?|ma(?:ke|de)[ -]up|invent(?:s|ed)?"
    r"|bluff(?:s|ing)?|claim(?:s|ing)? (?:that|to|you|they|s?he|having)|you (?:called|ran|used|invoked|executed))\b",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<!\be\.g)(?<!\bi\.e)[.;!?](?=\s|$)|\n", re.IGNORECASE)
_BEFORE, _AFTER = 40, 40


class NamedTool(NamedTuple):
    """A name that a prompt uses as that of a tool."""

    name: str
    """The name."""
    passage: str
    """Where the prompt uses it."""
    sure: bool
    """Whether the text itself says that it is a tool."""


@lru_cache(maxsize=256)
def named_tools(text: str) -> tuple[NamedTool, ...]:
    """List the names that a prompt uses as names of tools, each once, with the passage.

    A name counts where the text calls it a tool, speaks of its results, tells to call it, lists it under a heading of
    tools, or writes a call. Where it only says "use", or the call is one of a block of code, it is not sure.

    >>> named_tools("Use the `get_status` tool. The status is `pending`.")
    (NamedTool(name='get_status', passage='`get_status` tool', sure=True),)
    """
    found: dict[str, NamedTool] = {}
    for named in sorted(_found(text), key=lambda named: not named.sure):
        found.setdefault(named.name, named)
    return tuple(found.values())


def _found(text: str) -> Iterator[NamedTool]:
    prose = without_code_blocks(text)
    for pattern in (_AS_TOOL, _AS_WORK, _AS_CALL, _AS_USED):
        for match in pattern.finditer(prose):
            name = next(name for name in match.groups() if name)
            compound = pattern is _AS_TOOL or _COMPOUND.fullmatch(name)
            if stands_for_any(name) or _shows_syntax(prose, match):
                continue
            if compound and not _ABSENT.search(_around(prose, match)):
                yield NamedTool(name, match[0], pattern is not _AS_USED)
    for section in _LIST.finditer(prose):
        for item in _ITEM.finditer(section["items"]):
            if _COMPOUND.fullmatch(item["name"]) and not stands_for_any(item["name"]):
                yield NamedTool(item["name"], item[0].strip(), True)
    for call in written_calls(text):
        if call.is_tool and _COMPOUND.fullmatch(call.tool):
            yield NamedTool(call.tool, call.passage, not call.in_code)


def only_claimed(text: str, name: str) -> bool:
    """Tell whether a user's instruction has a name only in what the user says or claims to have done.

    The user may call things what they like: in a line in quotation marks that the user is to say, in a lie, in a claim.
    """
    spoken = [match.span() for match in _SPEECH.finditer(text) if len(match[0].split()) >= _FEWEST_WORDS]
    places = (match.start() for match in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text))
    return all(
        any(start < at < end for start, end in spoken) or _INVENTED.search(_sentence_before(text, at)) for at in places
    )


def _sentence_before(text: str, at: int) -> str:
    return _SENTENCE_END.split(text[max(0, at - 5 * _BEFORE) : at])[-1]


def _shows_syntax(text: str, match: re.Match[str]) -> bool:
    """Tell whether a call is an example of how calls are written, with a word for the arguments in their place."""
    given = _ANY_ARGUMENTS.match(text, match.end(match.lastgroup or 0))
    return given is not None and _EXAMPLE.search(_sentence_before(text, match.start())) is not None


def _around(text: str, match: re.Match[str]) -> str:
    """Return the clause around a name: it may say that the tool does not exist."""
    before = re.split(r"[.;:!?\n]", text[max(0, match.start() - _BEFORE) : match.start()])[-1]
    after = re.split(r"[.;:!?,\n]", text[match.end() : match.end() + _AFTER])[0]
    return f"{before} … {after}"


_NAMED = r"[A-Za-z_]\w*"
_JOINED_NAME = r"(?-i:[a-z][^\W_]*+_\w+|[a-z]+[A-Z]\w*)"
_TO_TOOL = r"(?:the )?`(?P<tool>[A-Za-z_][\w.]*)(?:\(\))?`"
_TOLD = re.compile(
    rf"\b(?:pass|give|set|provide|include) `(?P<name>{_NAMED})(?:=[^`\n]*)?`(?: [^`.\n]{{0,30}})? (?:to|of|for|in) "
    rf"{_TO_TOOL}"
    rf"|\b(?:parameter|argument) `(?P<name2>{_NAMED})` (?:to|of|for) {_TO_TOOL.replace('<tool>', '<tool2>')}",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?:[^.!?\n]|[.!?](?=\S))+[.!?]*")
_MARKED_NAME = (
    rf"(?P<{{0}}q>`|\*\*|__{{1}})(?P<{{0}}m>{_NAMED})(?:”|(?P={{0}}q))"
    rf"|(?<![\w.`/$])(?P<{{0}}b>{_JOINED_NAME})(?![\w(/])"
)
"""A name in code style; quotation marks count only where a word calls it a parameter, because values are quoted too."""
_QUOTES = "|[\"'“]"
_KIND = r"(?:parameter|argument|field|flag|option|input|keyword|arg|param|property)"
_ADJECTIVE = (
    r"(?:following|optional|additional|extra|required|mandatory|single|first|second|third|last|next|same|correct|right"
    r"|valid|new|other|different|certain|special|specific|named|keyword|positional|string|text|integer|number|numeric"
    r"|boolean|list|array|object|json|date|missing|corresponding|further)"
)
_ARGUMENT = re.compile(
    rf"\b{_KIND}s?:?\s+(?:(?:named|called)\s+)?(?:{_MARKED_NAME.format('a', _QUOTES)})"
    rf"|\b(?:requires?|needs?|takes?|accepts?|expects?) (?:the|an?) (?!{_ADJECTIVE}\b)(?P<dm>{_NAMED})"
    r" (?:argument|parameter)\b"
    rf"|(?:{_MARKED_NAME.format('b', _QUOTES)})\s+(?:\w+\s+)?{_KIND}\b"
    rf"|`(?P<em>{_NAMED})\s*=[^`\n]{{0,60}}`|\bwith (?P<fm>{_JOINED_NAME})\s*(?:=|set to\b|equal to\b)"
    rf"|\b(?:set|pass|give|provide|include|supply|fill in|fill out|specify|requires?|needs?|takes?"
    rf"|accepts?|expects?)\s+(?:the |a |an |its |their )?(?:{_MARKED_NAME.format('c', '')})",
    re.IGNORECASE,
)
_VALUE = r"(?:`(?P<{0}c>[^`\n]{{1,60}})`|[\"“](?P<{0}d>[^\"”\n]{{1,60}})[\"”]|'(?P<{0}s>[^'\n]{{1,60}})'(?!\w))"
_PLACED = (
    r"(?:\s*[=:]\s*|\s+(?:(?:argument|parameter|field|option|flag)\s+)?(?:(?:of|in|for|on) (?:the )?[`*\"\w.]+"
    r"(?: (?:tool|function|call))?\s+)?(?:(?:always|must|should|has to|is|be|set|to|as|=)\s+)+"
    r"|\s+(?:of|in|for) (?:the )?[`*\"\w.]+(?: (?:tool|function|call))?\s*[:=]\s*)"
)
_SET = re.compile(
    rf"(?:[`\"'“]|\*\*)(?P<name>{_NAMED})(?:[`\"'”]|\*\*){_PLACED}{_VALUE.format('a')}"
    rf"|(?<![\w.`-])(?P<name3>{_NAMED})\s*=\s*{_VALUE.format('c')}"
    rf"|(?<!\w){_VALUE.format('b')}\s+(?:as|for)\s+(?:the )?(?:[`\"'“]|\*\*)(?P<name2>{_NAMED})(?:[`\"'”]|\*\*)",
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
"""A sentence that denies, or that is about what a tool returns, says nothing about what it takes."""


class Told(NamedTuple):
    """An argument that a sentence names together with a tool."""

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
