"""Builds the record of a task from an entry of a description."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from agenthard.audit.sources.agencybench.layout import Scenario
from agenthard.audit.sources.formats.malformed import MalformedRecordError
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.record import Origin
from agenthard.taxonomy.task import AgentTask, Check, EnvironmentSpec, EvaluationSpec, GroundTruth, Message, UserSpec

BENCHMARK = "agencybench"
WORKSPACE = EnvironmentSpec()
"""The agent works in a folder with the tools of its harness, which the benchmark's files do not describe."""

CRITERION_NOTE = "a criterion of the task's text; how it is scored is decided by the scenario's script or by a judge"
DELIVERABLE_NOTE = "a deliverable of the task's text"
UNSTATED_NOTE = "the text states no criteria; the scenario's script or a judge decides by the whole of it"


@dataclass(frozen=True)
class Description:
    """The parts of a task's text: what is asked, what is to be delivered, and what is scored."""

    said: tuple[tuple[str, str], ...]
    """Texts that the agent receives, each with the JSON Pointer of its place below the task."""
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


def build_task(scenario: Scenario, file: str, number: int, value: Any, extras: Mapping[str, Any]) -> AgentTask:
    """Build a task.

    Args:
        scenario: where the task belongs.
        file: the description's path relative to the root.
        number: the N of ``subtaskN``.
        value: the entry.
        extras: members of the description that are not tasks.

    Raises:
        MalformedRecordError: when the entry cannot be read; its pointer is relative to the entry.
    """
    name = f"subtask{number}"
    parts = describe(value)
    pointers = {f"/user/turns/0/{i}/content": pointer for i, (pointer, _) in enumerate(parts.said)}
    if isinstance(value, Mapping):
        pointers |= {f"/metadata/{key}": f"/{key}" for key in ("query", "deliverables", "rubric") if key in value}
        pointers |= {"/metadata/criteria": "/rubric"} if "rubric" in value else {}
    return AgentTask(
        id=f"{scenario.id}/{name}",
        native_id=f"{scenario.id}/{name}",
        benchmark=BENCHMARK,
        subtask=scenario.capability,
        user=UserSpec(kind="scripted", turns=(tuple(Message(role="user", content=text) for _, text in parts.said),)),
        environment=WORKSPACE,
        evaluation=EvaluationSpec(checks=_checks(parts)),
        ground_truth=GroundTruth(semantics="none", call_matching="none"),
        traits=_traits(number, value, parts),
        cluster=scenario.id,
        metadata={
            "scenario": scenario.id,
            "number": number,
            "query": parts.query,
            "deliverables": list(parts.deliverables),
            "rubric": parts.rubric,
            "criteria": list(parts.criteria),
            "criteria_heading": parts.heading if parts.criteria else "",
            **{key: text for key, text in extras.items() if key != "subtask_count"},
        },
        origins={
            "": Origin(file=file, pointer=join("", name)),
            **{ours: Origin(file=file, pointer=f"/{name}{theirs}") for ours, theirs in sorted(pointers.items())},
        },
    )


def _checks(parts: Description) -> tuple[Check, ...]:
    listed = (("criteria", parts.criteria, CRITERION_NOTE), ("deliverables", parts.deliverables, DELIVERABLE_NOTE))
    checks = [
        Check(kind="rubric", scored=True, expected=text, pointer=f"/metadata/{name}/{i}", note=note)
        for name, texts, note in listed
        for i, text in enumerate(texts)
    ]
    if not parts.criteria:
        whole = Check(kind="judge", scored=True, expected=parts.query, pointer="/metadata/query", note=UNSTATED_NOTE)
        checks.insert(0, whole)
    return tuple(checks)


def _traits(number: int, value: Any, parts: Description) -> frozenset[str]:
    traits = set()
    if parts.criteria:
        traits.add("rubric_in_prompt" if isinstance(value, str) else "rubric_maybe_in_prompt")
    if number > 1:
        traits.add("continues_previous")
    return frozenset(traits)


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


def describe(value: Any) -> Description:
    """Split a task's entry into its parts.

    An entry is a text with headings, or an object with ``query``, ``deliverables`` and ``rubric``.

    A text without headings is the query. Without a rubric, the requirements count as one. Line breaks written
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
