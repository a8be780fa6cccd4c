"""The parts of a task's text: what is asked, what is to be delivered, and what is scored."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from agenthard.audit.sources.formats.malformed import MalformedRecordError

_HEADINGS: dict[str, Literal["query", "deliverables", "rubric"]] = {
    "query": "query",
    "deliverables": "deliverables",
    "rubric": "rubric",
    "acceptance criteria": "rubric",
    "requirements": "rubric",
}
_HEADING = re.compile(r"^[#*\s]*(" + "|".join(_HEADINGS) + r")\b(?:[ \t]*\([^)\n]*\))?[*: \t]*$", re.I | re.M)
_BULLET = re.compile(r"^([ \t]*)(?:[-*•]|\d+[.)])[ \t]+(?=\S)", re.M)
_ADVICE = "write one or remove the entry"
_SCORING = re.compile(r"\W*scor(?:e|ing)\b[^:\n]*:", re.I)
_LEVEL = re.compile(r"(?:score[ \t]+)?\d+(?:\.\d+)?(?:[ \t]*points?)?[ \t]*:", re.I)


@dataclass(frozen=True)
class Description:
    """A task's text, taken apart."""

    said: tuple[tuple[str, str], ...]
    """Texts that the agent receives, each with the JSON Pointer where it stands below the task."""
    query: str
    """What is asked."""
    deliverables: tuple[str, ...]
    """What is to be delivered, one item each."""
    rubric: str
    """The whole text of the criteria; empty when the task states none."""
    criteria: tuple[str, ...]
    """The criteria one by one, without the formula of the score; a scale (0 points ..., 10 points ...) is one."""
    heading: str
    """Heading above the criteria, in lower case."""


def describe(value: Any) -> Description:
    """Take a task's entry apart: a text with headings, or an object with ``query``, ``deliverables`` and ``rubric``.

    A text without headings is all query. Where there is no rubric, the requirements count as one. Line breaks written
    as backslash and n are read as line breaks.

    Raises:
        MalformedRecordError: when the entry is neither, is empty, or a field has the wrong type.
    """
    if isinstance(value, str):
        if not value.strip():
            raise MalformedRecordError("the task has no text", advice=_ADVICE)
        parts, heading = _sections(_with_line_breaks(value))
        rubric = parts.get("rubric", "")
        said: tuple[tuple[str, str], ...] = (("", value),)
        return Description(
            said, parts["query"], _items(parts.get("deliverables", "")), rubric, _criteria(rubric), heading
        )
    if not isinstance(value, Mapping):
        raise MalformedRecordError(f"expected a text or an object, found {type(value).__name__}", "")
    query, rubric = (_text(value, name) for name in ("query", "rubric"))
    listed = value.get("deliverables", "")
    items = tuple(listed) if _is_texts(listed) else _items(_text(value, "deliverables"))
    if not query:
        raise MalformedRecordError("the task has no query", "/query", _ADVICE)
    said = (("/query", query), ("/deliverables", "\n".join(items) if _is_texts(listed) else listed))
    return Description(tuple(pair for pair in said if pair[1]), query, items, rubric, _criteria(rubric), "rubric")


def _sections(text: str) -> tuple[dict[str, str], str]:
    """Cut a text at its headings; what precedes the first one is query."""
    parts, heading = {"query": ""}, ""
    found = list(_HEADING.finditer(text))
    if any(match[1].lower() in ("rubric", "acceptance criteria") for match in found):
        found = [match for match in found if match[1].lower() != "requirements"]
    starts = [(0, 0, "query"), *((m.start(), m.end(), _HEADINGS[m[1].lower()]) for m in found)]
    for i, (_, begin, name) in enumerate(starts):
        end = starts[i + 1][0] if i + 1 < len(starts) else len(text)
        parts[name] = "\n".join(filter(None, (parts.get(name, ""), text[begin:end].strip())))
        if name == "rubric" and not heading:
            heading = found[i - 1][1].lower()
    return parts, heading


def _items(text: str) -> tuple[str, ...]:
    """Cut a list at its outermost bullets; a text without bullets is one item.

    An item ends where a line begins that is indented no deeper than its bullet.
    """
    bullets = list(_BULLET.finditer(text))
    if not bullets:
        return (text.strip(),) if text.strip() else ()
    margin = min(len(bullet[1]) for bullet in bullets)
    outer = [bullet for bullet in bullets if len(bullet[1]) == margin]
    ends = [*(bullet.start() for bullet in outer[1:]), len(text)]
    return tuple(_item(text[bullet.end() : end], margin) for bullet, end in zip(outer, ends, strict=True))


def _item(text: str, margin: int) -> str:
    kept: list[str] = []
    for line in text.split("\n"):
        if kept and line.strip() and len(line) - len(line.lstrip()) <= margin:
            break
        kept.append(line)
    return "\n".join(kept).strip()


def _criteria(rubric: str) -> tuple[str, ...]:
    items = _items(rubric)
    if items and all(_LEVEL.match(item) for item in items):
        return (rubric.strip(),)
    return tuple(item for item in items if not _SCORING.match(item)) or items


def _with_line_breaks(text: str) -> str:
    return text.replace("\\n", "\n") if "\n" not in text else text


def _text(value: Mapping[str, Any], name: str) -> str:
    found = value.get(name, "")
    if isinstance(found, str):
        return found
    if name == "deliverables":
        raise MalformedRecordError("expected a text or a list of texts", "/deliverables")
    raise MalformedRecordError(f"expected a text, found {type(found).__name__}", f"/{name}")


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
