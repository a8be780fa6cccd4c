"""The names that a prompt uses as names of tools."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from agenthard.audit.detectors.support.prompts import without_code_blocks
from agenthard.audit.detectors.support.written_calls import stands_for_any, written_calls

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
    """Cut out what stands beside a name in its own clause: that there is no such tool is said there."""
    before = re.split(r"[.;:!?\n]", text[max(0, match.start() - _BEFORE) : match.start()])[-1]
    after = re.split(r"[.;:!?,\n]", text[match.end() : match.end() + _AFTER])[0]
    return f"{before} … {after}"
