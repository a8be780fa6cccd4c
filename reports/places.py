"""Where evidence is in the benchmark's own files: a file and a line for each pointer, and a quote in its context."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from pydantic import BaseModel

from agenthard.audit.evidence import canonical_json, text_at
from agenthard.audit.native_text import TERSE, NativeFiles, origin_of
from agenthard.taxonomy.finding import Evidence, NativeText
from agenthard.taxonomy.pointer import join, resolve, split
from agenthard.taxonomy.task import AgentTask, Check
from agenthard.taxonomy.trajectory import Trajectory


class Quotable(Protocol):
    """What places need of an audit."""

    @property
    def root(self) -> Path:
        """Folder that origins are relative to."""

    @property
    def task(self) -> Mapping[str, AgentTask]:
        """Tasks by id."""

    @property
    def cited_runs(self) -> Mapping[str, Trajectory]:
        """Runs that evidence quotes, by id."""


@dataclass(frozen=True)
class Place:
    """A line of a file."""

    file: str
    """Path with forward slashes, relative to the benchmark's root, or to the runs that were given."""
    line: int | None
    """1-based line; None when unknown."""
    of_run: bool = False
    """True when the file is a log of runs rather than the benchmark's data."""

    def __str__(self) -> str:
        return self.file if self.line is None else f"{self.file}:{self.line}"


class Places:
    """Resolves evidence to places. Each file of the benchmark is read at most once."""

    def __init__(self, result: Quotable) -> None:
        self._result = result
        self._files = NativeFiles(lambda name: result.root / name)

    def of(self, evidence: Evidence) -> Place | None:
        """Return the place of one quote, or None when its source does not give it."""
        native = self.native(evidence)
        if native is not None:
            return Place(native.file, native.line, of_run=evidence.trajectory_id is not None)
        if evidence.trajectory_id is not None:
            run = self._result.cited_runs.get(evidence.trajectory_id)
            origin = run.origin if run is not None else None
            return None if origin is None else Place(origin.file, origin.line, of_run=True)
        task = self._result.task.get(evidence.task_id)
        origin = None if task is None else origin_of(task, evidence.pointer)
        return None if origin is None else Place(origin.file, self._files.line_of(origin))

    def described(self, evidence: Evidence) -> dict[str, Any]:
        """Describe one quote as plain data: in the words and at the place of the benchmark's file, where it is known.

        The same in our record of the task follows as ``record_pointer`` and ``record_quote``.
        """
        place, native = self.of(evidence), self.native(evidence)
        return evidence.model_dump(mode="python", exclude={"native"}) | {
            "quote": native.text if native else evidence.quote,
            "pointer": native.pointer if native else evidence.pointer,
            "file": place.file if place else None,
            "line": place.line if place and (native or place.of_run) else None,
            "start": native.start if native else None,
            "end": native.end if native else None,
            "record_pointer": evidence.pointer,
            "record_quote": evidence.quote,
        }

    def native(self, evidence: Evidence) -> NativeText | None:
        """Return what the benchmark's file or the log of a run says at the place of a quote; None where unknown."""
        if evidence.native is not None or evidence.trajectory_id is not None:
            return evidence.native
        task = self._result.task.get(evidence.task_id)
        return None if task is None else self._files.find(task, evidence)

    def of_task(self, task: AgentTask) -> Place | None:
        """Return the place where the task itself starts."""
        origin = task.origins.get("")
        return None if origin is None else Place(origin.file, self._files.line_of(origin))

    def of_part(self, task: AgentTask, pointer: str) -> Place | None:
        """Return the place of a part of a task, or of the nearest value above it that is known."""
        origin = origin_of(task, pointer)
        return None if origin is None else Place(origin.file, self._files.line_of(origin))

    def passage(self, task: AgentTask, pointer: str) -> NativeText | None:
        """Return the whole JSON value that a part of a task is in its file; see `NativeFiles.passage`."""
        return self._files.passage(task, pointer)

    def excerpt(self, evidence: Evidence) -> "Excerpt":
        """Show a quote in place: in its file, or for a run in the record of the run."""
        native = self.native(evidence)
        if native is not None and evidence.trajectory_id is None:
            before, after = self._files.around(native)
            return _cut(Excerpt(before, native.text, after))
        check = self.scoring(evidence)
        return _cut(Excerpt("", scoring_text(check), "") if check else _in_record(self._result, evidence))

    def scoring(self, evidence: Evidence) -> Check | None:
        """Return the check of the evaluator that a quote is of, where no file of the benchmark states it."""
        if not evidence.pointer.startswith("/evaluation/checks/") or evidence.trajectory_id is not None:
            return None
        task = self._result.task.get(evidence.task_id)
        if task is None or self.native(evidence) is not None:
            return None
        checks = (f"/evaluation/checks/{i}" for i in range(len(task.evaluation.checks)))
        return dict(zip(checks, task.evaluation.checks, strict=True)).get(evidence.pointer)


def scoring_text(check: Check) -> str:
    r"""Say in words what a check of the evaluator looks at.

    >>> scoring_text(Check(kind="output_substring", scored=True, expected="4", note="commas removed"))
    'Output substring, scored: commas removed\nexpected: 4'
    """
    expected = "" if check.expected is None else f"expected: {_plain(check.expected)}"
    return "\n".join(filter(None, (f"{scoring_title(check)}: {check.note}".removesuffix(": "), expected)))


def scoring_title(check: Check) -> str:
    """Return the kind of a check of the evaluator, and whether it is scored."""
    return f"{check.kind.replace('_', ' ').capitalize()}, {'scored' if check.scored else 'stated, not scored'}"


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else _text(value)


CONTEXT = 280
"""Characters shown on each side of a quote."""
LONGEST_QUOTE = 1500
"""A longer quote is shown without its middle; findings.json holds it in full."""
_LARGEST_PARENT = 4000


@dataclass(frozen=True)
class Excerpt:
    """A quote with the text before and after it. The three strings joined are the text as shown."""

    before: str
    """Text before the quote; starts with an ellipsis when cut."""
    quote: str
    """The quote."""
    after: str
    """Text after the quote; ends with an ellipsis when cut."""


def _in_record(result: Quotable, evidence: Evidence) -> Excerpt:
    """Show a quote in a record; a short value in the JSON that holds it; alone when the record does not have it."""
    run = evidence.trajectory_id
    root = result.cited_runs.get(run) if run is not None else result.task.get(evidence.task_id)
    if root is None:
        return Excerpt("", evidence.quote, "")
    try:
        before, _, after = text_at(root, evidence.pointer).partition(evidence.quote)
        return _in_parents(root, evidence.pointer, Excerpt(before, evidence.quote, after))
    except (LookupError, ValueError, RecursionError):
        return Excerpt("", evidence.quote, "")


def _in_parents(root: BaseModel, pointer: str, part: Excerpt) -> Excerpt:
    # A call or a tool is context enough, and the parts of a task (/user, /ground_truth ...) are too much.
    tokens = split(pointer)
    while len(tokens) > 2 and len(part.before) + len(part.quote) + len(part.after) < TERSE:
        parent, key = resolve(root, join("", *tokens[:-1])), tokens.pop()
        if not _is_small(parent):
            break
        part = _inside(parent, key, part)
        if isinstance(parent, BaseModel):
            break
    return part


def _inside(parent: Any, key: str, part: Excerpt) -> Excerpt:
    members = _members(parent, key)
    if isinstance(members.get(key), str):
        part = Excerpt('"' + _encoded(part.before), _encoded(part.quote), _encoded(part.after) + '"')
    named = not isinstance(parent, Sequence)
    label = f"{canonical_json(key)}: " if named else ""
    texts = [(f"{canonical_json(k)}: " if named else "") + _text(v) for k, v in members.items() if k != key]
    position = list(members).index(key)
    opening, closing = "{}" if named else "[]"
    before = "".join(f"{text}, " for text in texts[:position])
    after = "".join(f", {text}" for text in texts[position:])
    return Excerpt(opening + before + label + part.before, part.quote, part.after + after + closing)


def _members(parent: Any, key: str = "") -> dict[str, Any]:
    if isinstance(parent, BaseModel):
        usual = {name: f.get_default(call_default_factory=True) for name, f in type(parent).model_fields.items()}
        values = {name: getattr(parent, name) for name in usual if name != "origin"}
        return {name: value for name, value in values.items() if name == key or value != usual[name]}
    if isinstance(parent, Mapping):
        return dict(parent)
    return {str(i): item for i, item in enumerate(parent)}


def _text(value: Any) -> str:
    if isinstance(value, BaseModel):
        value = value.model_dump(mode="json", exclude_defaults=True, exclude={"origin"})
    return canonical_json(value)


def _is_small(value: Any) -> bool:
    size = 0
    for chunk in json.JSONEncoder(default=_members).iterencode(value):
        size += len(chunk)
        if size > _LARGEST_PARENT:
            return False
    return True


def _encoded(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _cut(part: Excerpt) -> Excerpt:
    before, quote, after = part.before, part.quote, part.after
    if len(before) > CONTEXT:
        before = "… " + before[-CONTEXT:].lstrip()
    if len(quote) > LONGEST_QUOTE:
        left_out = len(quote) - LONGEST_QUOTE
        quote = f"{quote[: LONGEST_QUOTE - 300]} [… {left_out:,} characters …] {quote[-300:]}"
    if len(after) > CONTEXT:
        after = after[:CONTEXT].rstrip() + " …"
    return Excerpt(before, quote, after)
