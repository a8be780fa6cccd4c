"""What a simulated user says after an attempt that did not pass."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from agenthard.agency.judges import Grade
from agenthard.agency.scenario import ScenarioTask
from agenthard.models.request import Usage
from agenthard.taxonomy.record import Record


class Leak(Record):
    """Something that was taken out of a feedback because the agent must not read it."""

    source: str
    """Where it is from: ``gold``, ``rubric`` or ``name``."""
    digest: str
    """First 12 hexadecimal digits of its SHA-256; the words themselves are not repeated."""


class Feedback(Record):
    """A feedback as the agent reads it."""

    task_id: str
    """Task."""
    attempt: int
    """Attempt that it is about, from 0."""
    by: str
    """Who speaks: ``template``, or the name of a model."""
    status: str
    """Where the work is, in a few sentences."""
    diagnosis: str
    """What is not met, criterion by criterion."""
    root_cause: str
    """Why, as far as can be told."""
    directives: str
    """What to do next."""
    leaks: tuple[Leak, ...] = ()
    """What was taken out."""
    usage: Usage = Usage()
    """Tokens of the model that wrote it."""
    cost: float | None = None
    """What it cost; None without a model, or without a price."""

    @property
    def text(self) -> str:
        """The whole text, with the four sections of the paper."""
        named = zip(SECTIONS, (self.status, self.diagnosis, self.root_cause, self.directives), strict=True)
        return "\n\n".join(f"{title}:\n{said}" for title, said in named)


SECTIONS = ("Status", "Diagnosis", "Root cause", "Directives")


class Situation(NamedTuple):
    """What a user knows when it speaks. It holds no gold, and nothing about who the agent is."""

    task: ScenarioTask
    """The task."""
    attempt: int
    """Number of the attempt, from 0."""
    grade: Grade
    """How it was graded."""
    files: Sequence[str]
    """Paths in the workspace."""
    last_words: str
    """What the agent said last."""


class User(Protocol):
    """A simulated user."""

    async def respond(self, situation: Situation, owner: str) -> Feedback:
        """Say what is missing.

        Args:
            situation: what the user knows.
            owner: what requests are charged to.

        Raises:
            agenthard.models.errors.ModelError: no usable reply.
        """
        ...


def score_text(grade: Grade) -> str:
    """Write the score of a grade.

    >>> score_text(Grade(task_id="t", snapshot="", score=6.5, passed=True, criteria=()))
    '6.5 of 10'
    """
    return "nothing, since there was nothing to be seen" if grade.score is None else f"{grade.score:.1f} of 10"


def failed(situation: Situation) -> list[tuple[str, float, str]]:
    """Return the criteria that are not met, as text, share and reason, in the task's order.

    A criterion that the agent does not read is named by its place alone.
    """
    texts = {
        each.id: each.text if each.visible else f"requirement {number}"
        for number, each in enumerate(situation.task.criteria, 1)
    }
    return [(texts[each.criterion], each.share, each.reason) for each in situation.grade.criteria if each.share < 1]
