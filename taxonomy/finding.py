"""Findings, their evidence, and the status of a check on a task."""

import hashlib
from enum import StrEnum
from typing import Any, Literal

from pydantic import Field

from agenthard.taxonomy.record import Record
from agenthard.taxonomy.task import ToolCall


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


class Level(StrEnum):
    """Where a cause has to be fixed. One cause is one finding, at its level."""

    TASK = "task"
    """In this task: its words, its ground truth, its own state or required texts."""
    ENVIRONMENT = "environment"
    """In what tasks share: a tool, its documentation, the policy, the database, the simulator's instructions."""
    EVALUATOR = "evaluator"
    """In how runs are scored, whatever the task."""
    SUITE = "suite"
    """In the benchmark as a whole: tasks compared with each other, run logs, files that no task owns."""


class Status(StrEnum):
    """Outcome of one check on one task."""

    FLAGGED = "flagged"
    CLEAN = "clean"
    NOT_CHECKED = "not_checked"
    ERROR = "error"


class NativeText(Record):
    """What the benchmark's own file says at the place of a quote. It was found again in the bytes on disk."""

    file: str
    """Path relative to the benchmark's root folder, with forward slashes."""
    line: int
    """1-based line on which the text begins."""
    pointer: str = ""
    """JSON Pointer of the value in its JSON document; empty for other files."""
    document_line: int | None = None
    """1-based line on which this document begins, in a file of many; None when it is the whole file."""
    start: int
    """Offset of its first byte in the file (unpacked, for ``.gz``; behind a byte order mark)."""
    end: int
    """Offset behind its last byte."""
    text: str
    """These bytes; for a part of a JSON string, the characters that they stand for."""


class Evidence(Record):
    """An exact quote at a place of a task or of a run. Code re-checks that the quote is found there."""

    task_id: str
    """Task the place belongs to."""
    pointer: str
    """JSON Pointer into the AgentTask record, or into the Trajectory record when ``trajectory_id`` is set."""
    quote: str
    """A substring of the text there; for a value that is not a string, its canonical JSON (or part of it)."""
    trajectory_id: str | None = None
    """Run that the pointer enters; None for the task itself."""
    note: str = ""
    """What this quote shows."""
    native: NativeText | None = None
    """The same place in the benchmark's own file; None for a run, and where the source does not know the place."""


class Proof(Record):
    """One concrete run that the benchmark scores wrongly. It was scored again when the finding was made."""

    task_id: str
    """Task that was attempted."""
    kind: Literal["recorded", "constructed"]
    """recorded: a run of the logs; constructed: an attempt made from the ground truth, or by a probe."""
    trajectory_id: str | None = None
    """Id of the recorded run; None for a constructed one."""
    turns: tuple[tuple[ToolCall, ...], ...] = ()
    """Calls of a constructed attempt, turn by turn."""
    replies: tuple[str, ...] = ()
    """What the agent says in a constructed attempt."""
    passes: bool
    """What the evaluator says of it."""
    should_pass: bool
    """What it would have to say."""
    evaluator: str
    """What scored it: the environment with its version, or the evaluation that the task declares."""
    reason: str = ""
    """What the evaluator said about it, if it gave a reason."""


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
    level: Level = Level.TASK
    """Where the cause has to be fixed."""
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
    decides: tuple[str, ...] = ()
    """Tasks whose score the cause decides in a recorded run; a subset of ``task_ids``."""
    evidence: tuple[Evidence, ...] = Field(min_length=1)
    """Exact quotes; every item was re-checked."""
    proof: Proof | None = None
    """A run that is scored wrongly; every confirmed finding that affects the score has one."""
    command: str = ""
    """Shell command that shows the flaw again; empty where the quoted file and line show it."""
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
