"""What only programs write in a conversation: calls of tools, their responses, and the marks of a chat template."""

import json
import re
from collections.abc import Iterable, Iterator

from agenthard.audit.detectors.support.assistant_speech import Cue
from agenthard.audit.detectors.support.leaks import spoken

_CALL = frozenset({"arguments", "parameters", "args", "kwargs", "input", "tool_calls"})
"""Members that a written call has beside the name of its tool."""
_MARKS = {
    name: re.compile(pattern, re.IGNORECASE | re.MULTILINE)
    for name, pattern in {
        "writes a tool call": (
            r"</?\|?(?:tool|function)[ _-]?(?:calls?)?\b[^<>\n]{0,60}>"
            r"|^[\s*#>`-]{0,8}(?:tool|function|api) ?calls?[\s*`]{0,4}:"
            r"|(?<![\w./@])[A-Za-z_]\w*\(\s*[A-Za-z_]\w*\s*=\s*(?:['\"\[{\d-]|True\b|False\b|None\b|true\b|false\b|null\b)"
            r"|(?-i:(?<![\w./@])[a-z]\w{0,80}(?:_|[a-z][A-Z])\w{0,80}\((?:\)|\s*[\"'{]))"
        ),
        "answers as a tool": (
            r"</?\|?(?:tool|function|api)[ _-]?(?:response|result|output|observation)s?\b[^<>\n]{0,60}>|</?observation>"
            r"|^[\s*#>`-]{0,8}(?:tool|function|api) ?(?:response|result|output)s?\b[\s*`]{0,4}:"
            r"|^[\s*#>`\[(-]{0,8}(?:observation|(?:tool|function|api)?[ _]?(?:results?|outputs?|returned))\b"
            r"[\s*`\])]{0,4}:?\s*[{\[<]"
            r"|^HTTP/\d(?:\.\d)? \d{3}\b"
        ),
        "writes marks of a chat template": (
            r"<\|(?:im_start|im_end|start_header_id|end_header_id|eot_id|assistant|user|system)\|?>|\[/?INST\]"
        ),
    }.items()
}
_OBJECT = re.compile(r"\{\s*\"")
_PYTHON = re.compile(r"\{\s*'\w[^'\n]{0,40}'\s*:\s*(?:['\[{\d-]|True\b|False\b|None\b)[^{}]{0,600}\}")
_MOST_OBJECTS = 20
"""Objects of one turn that are looked at."""
_LONGEST = 300
"""Characters quoted at most."""


def machine_speech(text: str, heard: Iterable[str] = ()) -> Cue | None:
    """Find what only a program writes, in one turn of a user; None when the turn is speech.

    A call or response between tags or behind a label, a call with its arguments in parentheses, a mark of a chat
    template, and an object in JSON or Python are such, whatever tool they name. A JSON object that was said to the
    user, or that the user was told to say, may be repeated.

    Args:
        text: one message of the user.
        heard: texts that the user may quote: its instruction, and what the agent said.

    >>> machine_speech('<tool_call>{"name": "get_trip", "arguments": {}}</tool_call>').name
    'writes a tool call'
    >>> machine_speech("I get {error 7} when I log in.")
    """
    said = spoken(text)
    for name, pattern in _MARKS.items():
        found = pattern.search(said)
        if found is not None:
            return Cue(name, text[found.start() : found.start() + _LONGEST].strip())
    objects = list(_objects(said))
    objects += [(*found.span(), {}) for found in _PYTHON.finditer(said)][:_MOST_OBJECTS]
    sources = list(heard) if objects else []
    for start, end, value in objects:
        if not any(said[start:end] in source for source in sources):
            called = "name" in value and bool(_CALL & value.keys())
            return Cue("writes a tool call" if called else "writes JSON", text[start : min(end, start + _LONGEST)])
    return None


def _objects(said: str) -> Iterator[tuple[int, int, dict[str, object]]]:
    """Yield the outermost JSON objects of a text with where they stand."""
    decoder, at = json.JSONDecoder(), 0
    for _ in range(_MOST_OBJECTS):
        found = _OBJECT.search(said, at)
        if found is None:
            return
        try:
            value, at = decoder.raw_decode(said, found.start())
        except (ValueError, RecursionError):
            at = found.end()
            continue
        yield found.start(), at, value
