"""A verdict after code has looked at it: every quote searched, and what execution can settle settled."""

from typing import Any, Literal

from agenthard.audit.judge.verdict import Issue
from agenthard.taxonomy.finding import Evidence, Proof, Severity
from agenthard.taxonomy.record import Record

Standing = Literal["verified", "unverified", "refuted", "proved"]
"""verified: every quote it needs was found; unverified: one was not; refuted or proved: execution settled it."""


class CheckedQuote(Record):
    """A quote, and where it was found."""

    passage: str
    """Label that the judge gave."""
    quote: str
    """The words as they stand there; the judge's own words when they were not found."""
    found: Literal["exact", "normalised", "elsewhere", "no"]
    """exact: as quoted; normalised: but for space and Unicode forms; elsewhere: in another passage; no: nowhere."""
    evidence: Evidence | None = None
    """The place in the task record; None for a quote that stands nowhere, or outside the record (replay, look-ups)."""


class CheckedIssue(Record):
    """An issue with what code says of it."""

    issue: Issue
    """What the judge said."""
    standing: Standing
    """What is left of it."""
    quotes: tuple[CheckedQuote, ...]
    """Its quotes."""
    reason: str = ""
    """Why it stands so: which quote failed, what execution showed, or why it could not settle it."""
    severity: Severity | None = None
    """What the flaw does to the score, where a check or execution showed it; None leaves it to the judge's word."""
    proof: Proof | None = None
    """A run that is scored wrongly, where a check found one."""
    patch: tuple[dict[str, Any], ...] = ()
    """Its JSON Patch, when it was re-checked and accepted; else empty."""
    patch_reason: str = ""
    """Why the patch was rejected; empty when there is none or it was accepted."""


class CheckedVerdict(Record):
    """A judge's verdict on one task after the gate."""

    task_id: str
    """Task."""
    judge: str
    """Judge."""
    sample: int = 0
    """Repetition, from 0."""
    outcome: Literal["flawed", "not_flawed", "cannot_tell", "error"]
    """The judge's outcome; a flawed verdict none of whose issues stands is cannot_tell."""
    issues: tuple[CheckedIssue, ...] = ()
    """All its issues, those that failed included."""
    reason: str = ""
    """Why it cannot be told, or the error."""

    @property
    def standing(self) -> tuple[CheckedIssue, ...]:
        """Issues that count: verified or proved."""
        return tuple(issue for issue in self.issues if issue.standing in ("verified", "proved"))
