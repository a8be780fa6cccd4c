"""A quote inside the text around it, short enough to read."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from agenthard.audit.evidence import canonical_json, text_at
from agenthard.reports.result import AuditResult
from agenthard.taxonomy.finding import Evidence
from agenthard.taxonomy.pointer import join, resolve, split

CONTEXT = 280
"""Characters shown on each side of a quote."""
LONGEST_QUOTE = 1500
"""A longer quote is shown without its middle; findings.json holds it in full."""
_TERSE = 200
"""A text shorter than this says little alone and is shown inside its parent."""
_LARGEST_PARENT = 4000


@dataclass(frozen=True)
class Excerpt:
    """A quote with what stands before and after it. The three strings joined are the text as shown."""

    before: str
    """Text before the quote; starts with an ellipsis when cut."""
    quote: str
    """The quote."""
    after: str
    """Text after the quote; ends with an ellipsis when cut."""


def excerpt(result: AuditResult, evidence: Evidence) -> Excerpt:
    """Show a quote in place.

    A short value is shown inside the JSON that holds it. When the record is not at hand, or the quote is not found in
    it, the quote stands alone.
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
