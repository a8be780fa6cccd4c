"""Scenarios: chains of tasks on one workspace, with what each must deliver and how it is judged."""

from collections.abc import Iterable
from typing import Literal, Self

from pydantic import Field, model_validator

from agenthard.taxonomy.record import Record

Regime = Literal["per_attempt", "shared", "git_reset", "external_state"]
Carry = Literal["last", "best", "first"]
Judge = Literal["text", "vision", "script"]

SCENARIO_KEY = "agency_scenario"
"""Key of a task's metadata that holds the whole scenario, as JSON data."""


class Deliverable(Record):
    """What a task must leave in the workspace."""

    text: str
    """What the task says about it."""
    path: str | None = None
    """Path or pattern below the workspace; None where the text names none."""


class Criterion(Record):
    """One clause of a rubric, with what decides it."""

    id: str
    """Unique within its task."""
    text: str
    """The clause."""
    weight: float = Field(default=1.0, gt=0)
    """Share of the score, relative to the other criteria."""
    check: str | None = None
    """Name of the check of ours that decides it."""
    judge: Judge | None = None
    """Judge that decides it where no check does."""
    visible: bool = True
    """Whether the agent reads it."""

    @model_validator(mode="after")
    def _one_decides(self) -> Self:
        if self.check is not None and self.judge is not None:
            raise ValueError(f"criterion {self.id} has a check and a judge: keep one, or make two criteria of it")
        return self

    @property
    def decided(self) -> bool:
        """Whether anything decides it."""
        return self.check is not None or self.judge is not None


class ScenarioTask(Record):
    """One task of a chain."""

    id: str
    """Unique: ``Game/scenario1/subtask1``."""
    number: int = Field(ge=1)
    """Place in the chain."""
    query: str
    """What the agent is asked."""
    deliverables: tuple[Deliverable, ...] = ()
    """What it must leave."""
    criteria: tuple[Criterion, ...] = ()
    """How it is judged."""
    threshold: float = Field(default=0.6, gt=0, le=1)
    """Share of the score at which it passes, and no further attempt is made."""


class Needs(Record):
    """What a scenario cannot be played and judged without."""

    browser: bool = False
    """A browser without a screen."""
    network: bool = False
    """Hosts on the internet."""
    model_judge: bool = False
    """A judge that is a model."""
    model_in_task: bool = False
    """A hosted model that the solution itself calls."""
    account: str | None = None
    """An account with a secret, by its name."""
    programs: tuple[str, ...] = ()
    """Programs on the search path."""
    packages: tuple[str, ...] = ()
    """Python modules that the grader imports."""


class Scenario(Record):
    """A chain of tasks on one workspace."""

    id: str
    """Unique: ``Game/scenario1``."""
    capability: str
    """What it is about: ``Game``."""
    regime: Regime
    """How the workspaces of its attempts relate."""
    carry: Carry
    """The attempt whose workspace the next task begins on."""
    tasks: tuple[ScenarioTask, ...] = Field(min_length=1)
    """Its tasks, in order."""
    needs: Needs = Needs()
    """What it needs."""
    license: str = ""
    """Licence of its texts and files."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        numbers = [task.number for task in self.tasks]
        if numbers != sorted(set(numbers)):
            raise ValueError(f"the tasks of {self.id} are not in order of their numbers: {numbers}")
        return self


def undecided(scenarios: Iterable[Scenario]) -> list[tuple[str, str]]:
    """List the criteria that nothing decides, as task and criterion."""
    return [
        (task.id, criterion.id)
        for scenario in scenarios
        for task in scenario.tasks
        for criterion in task.criteria
        if not criterion.decided
    ]
