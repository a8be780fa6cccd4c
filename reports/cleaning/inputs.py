"""What the cleaning analysis reads: tasks, decisions, findings and runs, from records or from a run folder."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import Field

from agenthard.audit.coverage import RAN, CoverageTable
from agenthard.audit.decisions.difficulty import DifficultyRule
from agenthard.audit.decisions.policy import Decision, Policy
from agenthard.audit.decisions.stages import StageDecisions, decide_by_stage, stage_of
from agenthard.audit.decisions.suppressions import SuppressedFinding
from agenthard.audit.detectors.registry import detectors
from agenthard.audit.judge.aggregate.findings import JudgeCheck
from agenthard.audit.statistics import Result, ScoreMatrix, facet_variance, matrix_from_trajectories
from agenthard.reports.coverage_parquet import read_coverage_parquet
from agenthard.reports.kit.load import RunTablesError, load_json, read_rows, table_file
from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.finding import Finding, Status, Tier
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.trajectory import Trajectory

RUN_COLUMNS = ["id", "task_id", "model", "trial", "status", "passed", "user_model", "protocol"]
"""What a score needs; conversations are never read."""


class AnalysisError(AgentHardError, ValueError):
    """The analysis is impossible with these parameters; the message says why and what to do."""

    code = "AH705"
    remedy = "Change the parameter that the message names, or give the audit more runs."


class AnalysisSettings(Record):
    """Parameters of the analysis; equal parameters and inputs give equal numbers."""

    seed: int = 0
    """Seed of every draw."""
    draws: int = Field(default=5000, ge=200)
    """Random subsets behind a null; one draw is an anecdote, so at least 200."""
    resamples: int = Field(default=2000, ge=1)
    """Bootstrap resamples behind an interval."""
    level: float = Field(default=0.95, gt=0, lt=1)
    """Coverage of intervals."""
    difficulty: DifficultyRule = DifficultyRule()
    """Parameters of the hard split."""
    min_verdicts: float = Field(default=0.8, ge=0, le=1)
    """Least share of the tasks on which a model needs a verdict to be compared. Scores are taken on tasks that every
    compared model has a verdict on, so one model with many broken runs would cost all others these tasks."""
    embedder: str = "tfidf"
    """What turns prompts into vectors (see ``agenthard.audit.statistics.embedder``)."""


class LedgerEntry(Record):
    """What one check did on the whole benchmark; not checked never reads as clean."""

    check: str
    """Id of the check."""
    version: str
    """Its version."""
    flagged: int
    """Tasks it flagged."""
    clean: int
    """Tasks it looked at and found nothing in."""
    not_checked: int
    """Tasks it had nothing to check in."""
    errors: int
    """Tasks on which it ended in an error."""


class AuditIdentity(Record):
    """Which audit of which release the analysis is about."""

    agenthard: str
    """Version of AgentHard that audited."""
    taxonomy: str
    """Version of the taxonomy."""
    source: str
    """Name of the source."""
    benchmark: str
    """Release label of the benchmark."""
    content_hash: str
    """Hash of all its files."""
    audit_key: str
    """Hash of the audit's inputs, options and checks."""
    policy: str
    """Version of the decision policy."""
    checks: dict[str, str]
    """Version of every check."""


class TaskFacts(Record):
    """What the analysis needs of a task."""

    id: str
    """Task id."""
    category: str
    """Subtask, domain or category; retention is counted per category."""
    cluster: str | None = None
    """Tasks with the same cluster are variants of one base task; None = independent."""
    prompt: str = ""
    """Text of the user, for the diversity."""


@dataclass(frozen=True)
class Experiment:
    """All runs of one experiment, in both readings of infrastructure errors."""

    name: str
    """Protocol as the logs give it; empty when they name none."""
    missing: ScoreMatrix
    """Runs with an infrastructure error are missing (the default)."""
    failures: ScoreMatrix
    """They count as failures."""
    trials: int
    """Most runs of one model on one task."""
    simulator: Result | None = None
    """Variance that the user simulator adds, where a model met several on a task; None where runs are not known."""
    judge: Result | None = None
    """Variance that the judge adds, where several models scored a run; scripts are not judges."""


@dataclass(frozen=True)
class CleaningInput:
    """Everything ``analyse`` reads. Tasks and decisions are in the benchmark's order, one decision per task."""

    title: str
    """Name of the benchmark for people."""
    tasks: Sequence[TaskFacts]
    """All tasks that could be read."""
    decisions: Sequence[Decision]
    """What happens to each of them."""
    findings: Sequence[Finding]
    """All findings."""
    components: Mapping[str, str]
    """Component of each finding, by finding id."""
    ledger: Sequence[LedgerEntry]
    """What each check did."""
    checked: int
    """Tasks on which at least one check ran."""
    audit: AuditIdentity
    """Versions and hashes."""
    experiments: Sequence[Experiment] = ()
    """Runs; empty without."""
    known: frozenset[str] | None = None
    """Ids of the findings of an earlier audit; None when there is none to compare with."""
    suppressed: Sequence[SuppressedFinding] = ()
    """Findings that the user has accepted until a day; they are not among ``findings``."""
    decided_by_stage: Callable[[], Sequence[StageDecisions]] = tuple
    """Decides again after each stage, when that is asked for; nothing where only the last decisions are known."""
    vectors: Path | None = None
    """File that keeps the vectors of a model that embeds prompts; None keeps none."""
    spent: Callable[[], float | None] = lambda: None
    """Reads what was spent on models, once everything is computed; None where it is not known."""

    def __post_init__(self) -> None:
        if [decision.task_id for decision in self.decisions] != [task.id for task in self.tasks]:
            raise ValueError("decisions must name every task once, in the order of the tasks")

    @cached_property
    def categories(self) -> dict[str, str]:
        """Category by task id, in the benchmark's order."""
        return {task.id: task.category for task in self.tasks}

    @cached_property
    def clusters(self) -> dict[str, str] | None:
        """Cluster by task id, a task without one being its own; None when all tasks are independent."""
        sizes = Counter(task.cluster for task in self.tasks if task.cluster)
        if not any(size > 1 for size in sizes.values()):
            return None
        return {task.id: task.cluster or f"task {task.id}" for task in self.tasks}

    @cached_property
    def stages(self) -> Sequence[StageDecisions]:
        """What would be decided after each stage; empty where only the last decisions are known."""
        return self.decided_by_stage()

    @cached_property
    def flagged(self) -> frozenset[str]:
        """Tasks that a confirmed or suspected finding touches."""
        return frozenset(i for f in self.findings if f.tier is not Tier.SIGNAL for i in f.task_ids)

    def with_action(self, *actions: str) -> tuple[str, ...]:
        """Tasks with one of these decisions, in the benchmark's order."""
        return tuple(decision.task_id for decision in self.decisions if decision.action in actions)


def experiments_of(runs: Iterable[Trajectory], tasks: Sequence[str]) -> list[Experiment]:
    """Group runs by experiment (protocol).

    Runs of one model on one task that carry the same trial number come from different files; they count as further
    trials, in the order of their ids.

    Args:
        runs: runs, their messages are not read.
        tasks: all task ids, in the benchmark's order; runs of other tasks are left out.

    Returns:
        The experiments, in order of name; their matrices hold the tasks of the benchmark that have a run, in its order.
    """
    groups: dict[str, list[Trajectory]] = {}
    for run in sorted(runs, key=lambda run: (run.protocol or "", run.model, run.task_id, run.trial, run.id)):
        groups.setdefault(run.protocol or "", []).append(run)
    wanted = {task: place for place, task in enumerate(tasks)}
    return [_experiment(name, [run for run in runs if run.task_id in wanted], wanted) for name, runs in groups.items()]


def _experiment(name: str, runs: list[Trajectory], place: Mapping[str, int]) -> Experiment:
    trials: Counter[tuple[str, str]] = Counter()
    numbered = []
    for run in runs:
        key = run.model, run.task_id
        number = trials[key]
        numbered.append(run if run.trial == number else run.model_copy(update={"trial": number}))
        trials[key] += 1

    def matrix(reading: str) -> ScoreMatrix:
        found = matrix_from_trajectories(numbered, "failure" if reading == "failure" else "missing")
        return found.take(sorted(range(len(found.tasks)), key=lambda i: place[found.tasks[i]]))

    return Experiment(
        name,
        matrix("missing"),
        matrix("failure"),
        max(trials.values(), default=0),
        facet_variance(
            [
                ((run.model, run.task_id), run.user_model, float(run.passed))
                for run in runs
                if run.passed is not None and run.user_model
            ],
            "user simulator",
        ),
        facet_variance(
            [
                (run.id, each.judge, each.score)
                for run in runs
                for each in run.judgements
                if each.score is not None and each.kind != "script"
            ],
            "judge",
        ),
    )


def load_runs(folder: Path) -> list[Trajectory]:
    """Read what a score needs of the runs of a run folder, and what each judge gave, where the table has it.

    Raises:
        RunTablesError: when the table or a column is missing.
    """
    try:
        there = set(pq.read_schema(table_file(folder, "trajectories")).names)
    except pa.ArrowException:
        there = set()  # reading the columns says what is wrong with the file
    columns = [*RUN_COLUMNS, *({"judgements"} & there)]
    return [Trajectory.model_validate(row) for row in read_rows(folder, "trajectories", columns)]


def load_run(folder: Path, baseline: Path | None = None) -> CleaningInput:
    """Read a run folder.

    Args:
        folder: run folder of a finished audit.
        baseline: run folder of an earlier audit, whose findings are not new.

    Returns:
        The input of ``analyse``.

    Raises:
        RunTablesError: when a file is missing or cannot be read.
    """
    manifest = load_json(folder, "manifest.json")
    document = load_json(folder, "findings.json")
    try:
        tasks = [_task(row) for row in read_rows(folder, "tasks", ["id", "subtask", "cluster", "user"])]
        findings = [Finding.model_validate(item) for item in document["findings"]]
        rows = read_rows(folder, "findings", ["id", "component"])
        decisions = read_rows(folder, "decisions", ["task_id", "action", "reasons", "finding_ids"])
        runs = load_runs(folder)
        suppressed = list(map(SuppressedFinding.model_validate, document.get("suppressed", ())))
        decided = [Decision.model_validate(row) for row in decisions]
        coverage = read_coverage_parquet(table_file(folder, "coverage"))
        policy = Policy.model_validate(manifest["policy"])
        ledger, checked = _ledger(coverage, manifest["checks"])
        return CleaningInput(
            title=str(document["benchmark"]["title"]),
            tasks=tasks,
            decisions=decided,
            findings=findings,
            components={row["id"]: row["component"] for row in rows},
            ledger=ledger,
            checked=checked,
            audit=_identity(manifest),
            experiments=experiments_of(runs, [task.id for task in tasks]),
            known=None if baseline is None else frozenset(r["id"] for r in read_rows(baseline, "findings", ["id"])),
            suppressed=suppressed,
            vectors=folder / "work" / "embeddings.sqlite",
            decided_by_stage=lambda: decide_by_stage(
                policy,
                [task.id for task in tasks],
                # What people reject counts for the stages before them.
                [*findings, *(each.finding for each in suppressed if each.until is None)],
                coverage,
                {check.id: stage_of(check) for check in (*detectors(), JudgeCheck())},
                decided,
            ),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise RunTablesError(
            f"{folder}: the tables do not fit together ({str(error)[:200]}); audit again with this version of AgentHard"
        ) from error


def _task(row: dict[str, Any]) -> TaskFacts:
    return TaskFacts(id=row["id"], category=row["subtask"], cluster=row["cluster"], prompt=_prompt(row["user"]))


def _prompt(user: str) -> str:
    """Join the texts of the user: instruction, context, turns."""
    spec = json.loads(user)
    texts = [spec["instruction"], *spec["context"].values()]
    texts += [message["content"] for turn in spec["turns"] for message in turn]
    return "\n".join(text for text in texts if text)


def _ledger(table: CoverageTable, versions: dict[str, str]) -> tuple[list[LedgerEntry], int]:
    sums = {status: table.having(status).sum(axis=0) for status in Status}
    counts = {
        (check, status): int(number)
        for status, numbers in sums.items()
        for check, number in zip(table.checks, numbers, strict=True)
    }
    entries = [
        LedgerEntry(
            check=check,
            version=versions.get(check, ""),
            flagged=counts.get((check, Status.FLAGGED), 0),
            clean=counts.get((check, Status.CLEAN), 0),
            not_checked=counts.get((check, Status.NOT_CHECKED), 0),
            errors=counts.get((check, Status.ERROR), 0),
        )
        for check in versions
    ]
    return entries, len(table.tasks_having(*RAN))


def _identity(manifest: dict[str, Any]) -> AuditIdentity:
    return AuditIdentity(
        agenthard=manifest["agenthard"],
        taxonomy=manifest["taxonomy"],
        source=manifest["source"],
        benchmark=manifest["benchmark"]["label"],
        content_hash=manifest["benchmark"]["content_hash"],
        audit_key=manifest["key"],
        policy=manifest["policy"]["version"],
        checks=manifest["checks"],
    )
