"""What there is to ask: one question for each task, judge and sample."""

import hashlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from agenthard.audit.judge.settings import Judge

MOST_SAMPLES, MOST_ATTEMPTS = 64, 100
"""Bounds of the settings; numbers of requests are laid out with them, so that they never depend on the settings."""


class Question(NamedTuple):
    """One question; within a run folder it has one outcome, however often it has to be put."""

    task_id: str
    """Id of the task."""
    judge: str
    """Name of the judge."""
    sample: int
    """Number of the repetition, from 0."""
    against: str = ""
    """For a defence of the task: the category of the flaw; empty where a verdict is asked for."""

    @property
    def owner(self) -> str:
        """What the ledger calls it."""
        about = f"defence against {self.against}" if self.against else str(self.sample)
        return f"{self.task_id} | {self.judge} | {about}"


def questions_of(task_id: str, judges: Sequence[Judge]) -> Iterator[Question]:
    """List the questions about one task: judges in order, then samples."""
    for judge in judges:
        for sample in range(judge.samples):
            yield Question(task_id, judge.name, sample)


def request_number(twins: int, sample: int, attempt: int) -> int:
    """Number a request among those of the same words (agenthard.models.request.Request.sample).

    Every question gets replies of its own: repetitions, further attempts at an answer that could not be used, and
    judges that differ in nothing but their name never share one.

    Args:
        twins: Earlier judges of the panel with the same model and sampling.
        sample: Number of the repetition, from 0.
        attempt: Number of the attempt, from 0.

    >>> request_number(0, 2, 0), request_number(0, 2, 1), request_number(1, 0, 0)
    (2, 66, 6400)
    """
    return sample + MOST_SAMPLES * (attempt + MOST_ATTEMPTS * twins)


def twins_before(judge: Judge, judges: Sequence[Judge]) -> int:
    """Count the judges before this one that would send the same words to the same model."""
    before = judges[: judges.index(judge)]
    return sum((each.model.name, each.model.sampling) == (judge.model.name, judge.model.sampling) for each in before)


def custom_id(owner: str, digest: str) -> str:
    """Name a request outside of a run: the first half says which question, the second with which words.

    Args:
        owner: The question.
        digest: Digest of the request.
    """
    return f"{owner_id(owner)}-{digest[:20]}"


def owner_id(owner: str) -> str:
    """The first half of the custom ids of a question."""
    return f"q{hashlib.sha256(owner.encode()).hexdigest()[:20]}"
