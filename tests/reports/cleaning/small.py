"""Small audits written by hand: models × tasks as rows of text, and one letter of decision per task."""

from collections.abc import Mapping, Sequence
from typing import Any

from agenthard.audit.decisions.policy import Action, Decision
from agenthard.reports.cleaning.inputs import AuditIdentity, CleaningInput, LedgerEntry, TaskFacts, experiments_of
from agenthard.taxonomy.finding import Evidence, Finding, Severity, Tier
from agenthard.taxonomy.trajectory import Trajectory
from tests.builders import make_run

ACTIONS: dict[str, Action] = {"k": "keep", "d": "drop", "r": "review"}
IDENTITY = AuditIdentity(
    agenthard="0.1.0",
    taxonomy="1.0",
    source="library",
    benchmark="v1",
    content_hash="00ff",
    audit_key="ab12",
    policy="1",
    checks={"call-schema": "1", "all-fail": "2"},
)


def runs(rows: Mapping[str, str], protocol: str | None = None, trial: int = 0) -> list[Trajectory]:
    """Make one run per character: 1 passed, 0 failed, x infrastructure error, space not run. Task i is "t<i>"."""
    return [
        make_run(f"t{i}", model, None if mark == "x" else mark == "1", protocol=protocol, trial=trial)
        for model, marks in rows.items()
        for i, mark in enumerate(marks)
        if mark != " "
    ]


def finding(number: int, *tasks: str, **changes: Any) -> Finding:
    """One confirmed finding about a tool call that affects the score, with the given fields replaced."""
    values: dict[str, Any] = {
        "id": f"{number:012x}",
        "check": "call-schema",
        "check_version": "1",
        "category": "malformed-tool-call",
        "severity": Severity.AFFECTS_SCORE,
        "tier": Tier.CONFIRMED,
        "claim": f"Flaw {number}.",
        "task_ids": tasks,
        "evidence": (Evidence(task_id=tasks[0] if tasks else "t0", pointer="/user", quote="x"),),
    }
    return Finding(**{**values, **changes})


def made(
    decisions: str,
    trajectories: Sequence[Trajectory] = (),
    *,
    categories: str = "",
    clusters: Mapping[str, str] | None = None,
    findings: Sequence[Finding] = (),
    known: frozenset[str] | None = None,
) -> CleaningInput:
    """Build the input of an analysis.

    Args:
        decisions: one letter per task: k keep, d drop, r review.
        trajectories: the runs.
        categories: one letter per task; all "a" when empty.
        clusters: cluster by task id.
        findings: findings, all about the ground truth.
        known: ids of the findings of an earlier audit.
    """
    tasks = [
        TaskFacts(
            id=f"t{i}",
            category=(categories or "a" * len(decisions))[i],
            cluster=(clusters or {}).get(f"t{i}"),
            prompt=f"Lend book number{i} to member{i % 3}.",
        )
        for i in range(len(decisions))
    ]
    return CleaningInput(
        title="Library",
        tasks=tasks,
        decisions=[Decision(task_id=f"t{i}", action=ACTIONS[d], reasons=("why",)) for i, d in enumerate(decisions)],
        findings=findings,
        components={f.id: "ground_truth" for f in findings},
        ledger=[LedgerEntry(check="call-schema", version="1", flagged=1, clean=9, not_checked=0, errors=0)],
        checked=len(tasks),
        audit=IDENTITY,
        experiments=experiments_of(trajectories, [task.id for task in tasks]),
        known=known,
    )
