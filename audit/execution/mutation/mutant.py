"""Records of mutation: the mutant, the site of a change, and the change."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from agenthard.audit.execution.environment import Attempt
from agenthard.audit.execution.mutation.root_causes import ValueClass
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.task import AgentTask, ToolCall, ToolSpec


class Truth(StrEnum):
    """Whether a mutant is a right answer; changes that could be either are not made."""

    WRONG = "wrong"
    """An evaluator that accepts it is too lenient."""
    EQUIVALENT = "equivalent"
    """An evaluator that rejects it is too strict."""


Shared = Literal["operator", "field", "task"]


class Mutant(Record):
    """An attempt that differs from the ground truth in one place."""

    id: str
    """Operator and JSON Pointer of the site: the same in every run."""
    operator: str
    """Kind of change."""
    pointer: str
    """JSON Pointer of the changed part of the task."""
    field: str
    """Tool and argument, as TOOL.ARGUMENT; "reply" for what the agent says."""
    change: str
    """Old and new value, for display."""
    truth: Truth
    """Whether it is right."""
    why: str
    """Why ``truth`` is certain."""
    shared: Shared
    """What tasks have in common when the verdict is wrong: how the evaluator treats such a change at all, how it treats
    this argument, or nothing."""
    certain: bool = True
    """False where a careful maintainer may still disagree."""
    kind: ValueClass | None = None
    """Class of the wrong value; None for what the agent says, and for arguments left out."""
    attempt: Attempt
    """The attempt."""


@dataclass(frozen=True)
class MutationSite:
    """An argument of a gold call, or a value inside one."""

    task: AgentTask
    call: ToolCall
    tool: ToolSpec | None
    pointer: str
    """JSON Pointer into the task of the argument."""
    path: tuple[str | int, ...]
    """Argument, then keys and positions inside it."""
    value: Any
    """The value that the ground truth accepts first."""
    schema: dict[str, Any] = field(default_factory=dict)
    """Its documented schema."""

    @property
    def argument(self) -> str:
        """Name of the argument."""
        return str(self.path[0])

    @property
    def required(self) -> bool:
        """Whether the documentation requires the argument."""
        return self.tool is None or self.argument in self.tool.parameters.get("required", ())


@dataclass(frozen=True)
class Change:
    """What an operator changes at a site."""

    operator: str
    value: Any
    """The new value; ``OMITTED`` leaves the argument out."""
    truth: Truth
    why: str
    shared: Shared
    certain: bool = True


OMITTED = object()
"""Marks an argument that is left out."""
