"""Where evidence is in the benchmark's own files: a file and a line for each pointer, and a quote in its context."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from agenthard.audit.evidence import canonical_json, text_at
from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.formats.files import open_binary
from agenthard.audit.sources.formats.json_records import RawRecord, read_json_array
from agenthard.audit.sources.formats.json_text import line_of
from agenthard.reports.result import AuditResult
from agenthard.taxonomy.files import MAX_BYTES
from agenthard.taxonomy.finding import Evidence
from agenthard.taxonomy.pointer import join, resolve, split
from agenthard.taxonomy.record import Origin
from agenthard.taxonomy.task import AgentTask, ToolSpec


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


def origin_of(task: AgentTask, pointer: str) -> Origin | None:
    """Find the origin of the text at ``pointer``, with the rest of the pointer appended to the origin's.

    A tool's own origin counts before those of the task; among these, the longest prefix of ``pointer`` counts.
    """
    own = _tool_origin(task, pointer)
    if own is not None:
        return own
    tokens = split(pointer)
    for length in range(len(tokens), -1, -1):
        origin = task.origins.get(join("", *tokens[:length]))
        if origin is not None:
            return _deeper(origin, tokens[length:])
    return None


def _tool_origin(task: AgentTask, pointer: str) -> Origin | None:
    tokens = split(pointer)
    if len(tokens) < 3 or tokens[0] != "environment" or tokens[1] not in ("tools", "user_tools"):
        return None
    try:
        tool = resolve(task, join("", *tokens[:3]))
    except LookupError:
        return None
    if not isinstance(tool, ToolSpec):
        return None
    if tokens[3:4] == ["implementation"] and tool.implementation is not None:
        return tool.implementation.origin
    return None if tool.origin is None else _deeper(tool.origin, tokens[3:])


def _deeper(origin: Origin, tokens: Iterable[str]) -> Origin:
    return origin.model_copy(update={"pointer": join(origin.pointer, *tokens)})


class Places:
    """Resolves evidence to places. Each file of the benchmark is read at most once."""

    def __init__(self, result: AuditResult) -> None:
        self._result = result
        self._documents: dict[str, _Document | None] = {}

    def of(self, evidence: Evidence) -> Place | None:
        """Return the place of one quote, or None when its source does not give it."""
        if evidence.trajectory_id is not None:
            run = self._result.cited_runs.get(evidence.trajectory_id)
            origin = run.origin if run is not None else None
            return None if origin is None else Place(origin.file, origin.line, of_run=True)
        task = self._result.task.get(evidence.task_id)
        origin = None if task is None else origin_of(task, evidence.pointer)
        return None if origin is None else self._place(origin, evidence.quote)

    def described(self, evidence: Evidence) -> dict[str, Any]:
        """Describe one quote as plain data, with its file and line (None when unknown)."""
        place = self.of(evidence)
        where = {"file": place.file if place else None, "line": place.line if place else None}
        return evidence.model_dump(mode="python") | where

    def of_task(self, task: AgentTask) -> Place | None:
        """Return the place where the task itself starts."""
        origin = task.origins.get("")
        return None if origin is None else self._place(origin, "")

    def _place(self, origin: Origin, quote: str) -> Place:
        if origin.line is not None:
            return Place(origin.file, origin.line)
        document = None if origin.file.endswith(".parquet") else self._document(origin.file)
        return Place(origin.file, None if document is None else document.line(origin.pointer, quote))

    def _document(self, name: str) -> "_Document | None":
        if name not in self._documents:
            self._documents[name] = _read(self._result.root, name)
        return self._documents[name]


def _read(root: Path, name: str) -> "_Document | None":
    path = root / name
    try:
        if not path.resolve().is_relative_to(root.resolve()):
            return None
        with open_binary(path) as stream:
            return _Document(path, stream.read(MAX_BYTES).decode("utf-8", errors="replace"))
    except (OSError, EOFError, ValueError):
        return None


@dataclass(frozen=True)
class _Document:
    path: Path
    text: str

    @cached_property
    def elements(self) -> dict[str, RawRecord]:
        """Elements of a top-level array by index, so that a place inside one is found without reading the others."""
        records = read_json_array(self.path, self.path.name, Quarantine()) if self.text.lstrip()[:1] == "[" else ()
        return {str(record.index): record for record in records}

    def line(self, pointer: str, quote: str) -> int | None:
        if not self.path.name.removesuffix(".gz").endswith(".json"):
            start = self.text.find(quote.strip().partition("\n")[0])
            return None if start < 0 else self.text.count("\n", 0, start) + 1
        try:
            index, *rest = split(pointer) or [""]
            if index in self.elements:
                element = self.elements[index]
                return element.line - 1 + line_of(element.raw.decode("utf-8"), join("", *rest))
            return line_of(self.text, pointer)
        except (ValueError, RecursionError):
            return None


CONTEXT = 280
"""Characters shown on each side of a quote."""
LONGEST_QUOTE = 1500
"""A longer quote is shown without its middle; findings.json holds it in full."""
_TERSE = 200
"""A shorter text means little alone and is shown inside its parent."""
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


def excerpt(result: AuditResult, evidence: Evidence) -> Excerpt:
    """Show a quote in place.

    A short value is shown inside the JSON that holds it. When the record is not at hand, or the quote is not found in
    it, the quote is shown alone.
    """
    run = evidence.trajectory_id
    root = result.cited_runs.get(run) if run is not None else result.task.get(evidence.task_id)
    found = Excerpt("", evidence.quote, "")
    if root is not None:
        try:
            before, _, after = text_at(root, evidence.pointer).partition(evidence.quote)
            found = _in_parents(root, evidence.pointer, Excerpt(before, evidence.quote, after))
        except (LookupError, ValueError, RecursionError):
            pass
    return _cut(found)


def _in_parents(root: BaseModel, pointer: str, part: Excerpt) -> Excerpt:
    # A call or a tool is context enough, and the parts of a task (/user, /ground_truth ...) are too much.
    tokens = split(pointer)
    while len(tokens) > 2 and len(part.before) + len(part.quote) + len(part.after) < _TERSE:
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
