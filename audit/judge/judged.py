"""One question put to one judge, and what came of it: a verdict, or an error that is no verdict."""

from typing import Literal

from pydantic import model_validator

from agenthard.audit.judge.context.material import Passage
from agenthard.audit.judge.verdict import Verdict
from agenthard.models.request import Usage
from agenthard.taxonomy.record import Record

ErrorKind = Literal["refusal", "timeout", "unreadable", "context_overflow", "provider", "prompt", "internal"]
"""Why there is no verdict: the judge refused, did not answer in time, answered with no verdict, could not read so much,
its provider failed, no prompt could be written, or our own code failed on the answer."""


class JudgeError(Record):
    """Why there is no verdict."""

    kind: ErrorKind
    """What kind of failure."""
    message: str
    """What happened."""


class Judged(Record):
    """The outcome of one question. An error is never a verdict: it counts neither for nor against the task."""

    task_id: str
    """Task."""
    judge: str
    """Name of the judge in the settings."""
    sample: int = 0
    """Number of the repetition, from 0."""
    prompt_version: str
    """Version of the prompt: a hash of its text, the schema of the verdict and the taxonomy."""
    verdict: Verdict | None = None
    """What the judge said."""
    error: JudgeError | None = None
    """Why it said nothing."""
    lookups: tuple[Passage, ...] = ()
    """What an investigating judge fetched, as passages that its evidence may cite (``lookup/1`` ...)."""
    usage: Usage = Usage()
    """Tokens of all its requests."""
    cost: float | None = None
    """What they cost; None without a price."""

    @model_validator(mode="after")
    def _a_verdict_or_an_error(self) -> "Judged":
        if (self.verdict is None) == (self.error is None):
            raise ValueError("a question ends in a verdict or in an error, never in both or neither")
        return self
