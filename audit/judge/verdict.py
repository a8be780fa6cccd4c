"""What a judge says of a task: the record that is asked for as structured output."""

from typing import Literal

from pydantic import Field, model_validator

from agenthard.taxonomy.finding import Severity
from agenthard.taxonomy.record import Record

Outcome = Literal["flawed", "not_flawed", "cannot_tell"]


class Quote(Record):
    """Words of the material that an issue rests on."""

    passage: str
    """Label of the passage that holds the words, just as the material gives it."""
    quote: str
    """The words, copied exactly, as short as proves the point."""
    shows: str
    """What these words show."""


class Change(Record):
    """One operation of a JSON Patch (RFC 6902) against the task record."""

    op: Literal["add", "remove", "replace"]
    """What to do."""
    path: str
    """JSON Pointer into the task record, as the labels of passages give it."""
    value: str
    """The new value as JSON text; an empty string for remove."""


class Issue(Record):
    """One flaw that a judge sees."""

    category: str
    """Id of the taxonomy category."""
    claim: str
    """What is wrong, in one sentence."""
    reasoning_summary: str
    """Why it is wrong and what it does to the score, in two or three sentences."""
    severity: Severity
    """What it does to the score."""
    confidence: float = Field(ge=0, le=1, allow_inf_nan=False)
    """Probability, in the judge's eyes, that a careful maintainer would agree."""
    evidence: tuple[Quote, ...]
    """Exact quotes; both sides of a contradiction."""
    fix: str
    """The smallest change that would mend it, in words; empty when there is no single one."""
    patch: tuple[Change, ...]
    """The same as JSON Patch, when it can be written down; else empty."""


class Verdict(Record):
    """Everything a judge says of one task. The audit paper's four fields follow from it (see `paper_fields`)."""

    reasoning: str
    """The way to the verdict, step by step."""
    outcome: Outcome
    """Whether the task is flawed; cannot_tell when the material does not decide it."""
    because: str
    """One sentence: why it is not flawed, or what is missing to tell; empty for a flawed task."""
    issues: tuple[Issue, ...]
    """The flaws; empty unless the outcome is flawed."""

    @model_validator(mode="after")
    def _issues_belong_to_flawed_tasks(self) -> "Verdict":
        if bool(self.issues) != (self.outcome == "flawed"):
            raise ValueError(f"the outcome is {self.outcome} with {len(self.issues)} issues")
        return self
