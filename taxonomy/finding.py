"""Findings, their evidence, and the status of a check on a task."""

import hashlib
from enum import StrEnum
from typing import Any

from pydantic import Field

from taxonomy.record import Record


class Severity(StrEnum):
    """What a flaw does to the score, worst first."""

    AFFECTS_SCORE = "affects_score"
    """A right run can fail or a wrong run can pass."""
    MAY_AFFECT_SCORE = "may_affect_score"
    """It can mislead the model, the user or the evaluator; whether the score moves was not shown."""
    COSMETIC = "cosmetic"
    """Worth mending; no effect on the score is expected."""


class Tier(StrEnum):
    """How sure a check is, surest first."""

    CONFIRMED = "confirmed"
    """Follows from the files by a stated rule; the quoted evidence is the proof."""
    SUSPECTED = "suspected"
    """A heuristic or a statistic; a person or a judge decides."""
    SIGNAL = "signal"
    """Only orders the review queue; never removes a task."""


class Status(StrEnum):
    """Outcome of one check on one task."""

    FLAGGED = "flagged"
    CLEAN = "clean"
    NOT_CHECKED = "not_checked"
    ERROR = "error"


class Evidence(Record):
    """An exact quote at a place of a task or of a run. Code re-checks that the quote stands there."""

    task_id: str
    """Task the place belongs to."""
    pointer: str
    """JSON Pointer into the AgentTask record, or into the Trajectory record when ``trajectory_id`` is set."""
    quote: str
    """A substring of the text there; for a value that is no string, its canonical JSON (or part of it)."""
    trajectory_id: str | None = None
    """Run that the pointer enters; None for the task itself."""
    note: str = ""
    """What this quote shows."""


class Finding(Record):
    """One flaw with its cause, its evidence and all tasks it touches."""

    id: str
    """Stable across runs: hash of (subject, category, canonical locator)."""
    check: str
    """Id of the detector or judge."""
    check_version: str
    """Its version."""
    category: str
    """Id of the taxonomy category."""
    severity: Severity
    """What it does to the score."""
    tier: Tier
    """How sure the check is."""
    claim: str
    """What is wrong, in one sentence."""
    why: str = ""
    """Why it matters for the score."""
    fix: str = ""
    """Suggested minimal change."""
    task_ids: tuple[str, ...]
    """Tasks affected, in the benchmark's order."""
    also_in: tuple[str, ...] = ()
    """Tasks that carry the cause without being affected (they offer a tool that their ground truth never calls)."""
    evidence: tuple[Evidence, ...] = Field(min_length=1)
    """The proof; every item was re-checked."""
    patch: tuple[dict[str, Any], ...] = ()
    """Optional JSON Patch (RFC 6902) against the AgentTask record."""
    measures: dict[str, float] = Field(default_factory=dict)
    """Figures behind a statistical finding (n, rate, low, high ...)."""


class Coverage(Record):
    """What one check did on one task."""

    task_id: str
    """Task."""
    check: str
    """Check."""
    status: Status
    """Outcome."""
    reason: str = ""
    """Why it was not checked, or the error."""


def finding_id(subject: str, category: str, locator: str) -> str:
    """Derive the stable id of a finding.

    Args:
        subject: the task id, or the benchmark's name for a cause that many tasks share.
        category: the taxonomy category.
        locator: canonical place or cause within the subject.

    Returns:
        Twelve hexadecimal digits.
    """
    return hashlib.sha256("\x1f".join((subject, category, locator)).encode()).hexdigest()[:12]
