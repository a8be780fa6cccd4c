"""What an operator is: a function that plants one flaw into a sound task, with what the answer key records of it.

An operator follows from the definition of its category in ``taxonomy/issues.yaml``, not from what a check looks for. It
returns None where it does not apply, or where the flaw would not be real.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Literal

from pydantic import Field

from agenthard.taxonomy.record import Record
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

DecidedBy = Literal["rules", "judge"]
"""Whether a rule over the files and runs can decide that the flaw is there, or a reader has to understand the text."""


class Sound(Record):
    """A task that is known to be right, with its runs."""

    task: AgentTask
    """The task."""
    runs: tuple[Trajectory, ...] = ()
    """Its runs; most tasks have none."""
    strength: dict[str, float] = Field(default_factory=dict)
    """Share of all its scored runs that each model passes, over the whole benchmark."""


class Fault(Record):
    """A planted flaw."""

    task: AgentTask
    """The task as it is now."""
    pointer: str
    """JSON Pointer into the task to what was changed; into a run, for a flaw of runs."""
    before: Any = None
    """What was there; None where nothing did."""
    after: Any = None
    """What is there now; None where nothing does."""
    claim: str
    """What a finding has to say."""
    copy_of: AgentTask | None = None
    """The untouched task that stays in addition to the flawed one; None when the flawed one takes its place."""
    runs: tuple[Trajectory, ...] | None = None
    """The changed runs; None when they stay as they are."""


Plant = Callable[[Sound, Random], Fault | None]


@dataclass(frozen=True)
class Operator:
    """One way to plant a flaw of one category."""

    id: str
    """Stable kebab-case id."""
    category: str
    """Taxonomy category."""
    decided_by: DecidedBy
    """Declared before anything is measured."""
    because: str
    """Why rules can decide it, or cannot."""
    rule_known: bool
    """True when a check for just this was known to the author of the operator, or was written because of it; its recall
    then says less."""
    also: tuple[str, ...]
    """Other categories under which the very same fact can rightly be reported."""
    plant: Plant
    """What it does."""

    @property
    def plants(self) -> str:
        """What it plants, in a sentence."""
        return " ".join((self.plant.__doc__ or "").split())


def operator(
    category: str, decided_by: DecidedBy, because: str, *, rule_known: bool, also: tuple[str, ...] = ()
) -> Callable[[Plant], Operator]:
    """Make an operator of a function; its id is the function's name with hyphens.

    Args:
        category: taxonomy category of the flaw.
        decided_by: whether rules can decide it.
        because: why.
        rule_known: whether a check for it was known, or was written because of it.
        also: categories that name the same fact.
    """

    def made(function: Plant) -> Operator:
        id = function.__name__.replace("_", "-")
        return Operator(id, category, decided_by, because, rule_known, also, function)

    return made


_SHARE = 0.6
"""Share of the runs of a task in which a flaw shows."""


def sample_runs(runs: Sequence[Trajectory], rng: Random) -> set[str]:
    """Choose the runs in which the flaw shows; returns their ids."""
    return {run.id for run in rng.sample(runs, max(1, round(len(runs) * _SHARE)))}


def run_fault(sound: Sound, runs: Sequence[Trajectory], pointer: str, before: Any, after: Any, claim: str) -> Fault:
    """Make a flaw of changed runs; the task stays as it is."""
    return Fault(task=sound.task, pointer=pointer, before=before, after=after, claim=claim, runs=tuple(runs))
