"""Flows that Prefect runs from JSON parameters: in deployments, on schedules, from its UI, and from Python.

Each takes one record of settings, which pydantic validates, and returns its outcome as JSON. What it does is what the
command of the same name does, and its stages are tasks of the flow run. A step whose settings and input are those of an
earlier run, and whose output is still there, is not repeated: its result is kept by content.
"""

import agenthard.flows.prefect_setup  # noqa: F401  isort:skip
import hashlib
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib.metadata import version as package_version
from pathlib import Path
from typing import Any

from prefect import Task, flow, task
from prefect.client.schemas.objects import State
from prefect.context import FlowRunContext
from prefect.flow_runs import pause_flow_run
from prefect.input import RunInput

from agenthard.audit.sources.base import hash_files
from agenthard.flows.alignment_score import AlignSettings, score_alignment
from agenthard.flows.artifacts import announce, artifact_key, leave_summary
from agenthard.flows.audit_flow import run_audit
from agenthard.flows.audit_plan import AuditInput, AuditSettings
from agenthard.flows.comparison import CompareSettings
from agenthard.flows.errors import ExitCode, exit_code
from agenthard.flows.evaluation.flow import run_evaluation
from agenthard.flows.evaluation.settings import EvaluationSettings
from agenthard.flows.fault_planting import audit_planted, plant_faults
from agenthard.flows.generators import find_generator, write_lines
from agenthard.flows.judging.run import run_judging
from agenthard.flows.judging.settings import JudgingSettings
from agenthard.flows.publishing.publish import publish as publish_split
from agenthard.flows.publishing.records import PublishSettings
from agenthard.flows.repair import RepairSettings, repair_run
from agenthard.flows.report import ReportSettings
from agenthard.flows.report_flow import run_comparison, run_report
from agenthard.flows.review.decide import DecideSettings, decide_run
from agenthard.flows.run_config import PipelineConfig
from agenthard.flows.run_flow import run_pipeline
from agenthard.flows.scheduling.difference import difference_markdown
from agenthard.flows.scheduling.run import ScheduleOutcome, approve, reject, run_schedule
from agenthard.flows.scheduling.settings import Schedule
from agenthard.reports.alignment.score import Alignment
from agenthard.reports.alignment.summary import alignment_sections
from agenthard.reports.kit.markdown import sections_markdown
from agenthard.taxonomy.record import Record

RETRIES, RETRY_SECONDS = 2, (10.0, 60.0)
"""A step that the disk, the network or a model ended is repeated; finished work is kept, so it continues."""


class GenerateSettings(Record):
    """A suite of a benchmark that can be generated."""

    out: str
    """Folder to write."""
    benchmark: str = "ace"
    """Name of the benchmark."""
    parameters: dict[str, Any] = {}
    """Parameters of the suite that differ from those of the paper."""
    workers: int = 1
    """Processes."""


class FaultSettings(Record):
    """A benchmark with planted flaws."""

    out: str
    """Folder to write."""
    seed: int = 0
    """Seed of all chance."""
    per_category: int = 20
    """Flaws per category."""
    sound: int = 100
    """Tasks that stay untouched."""
    audit: bool = True
    """Whether the benchmark is audited too."""


class SplitApproval(RunInput):
    """The answer of a person to a split that waits."""

    approve: bool
    """Whether the split is published."""
    by: str
    """Who answers."""
    reason: str = ""
    """Why."""


def _is_infrastructure(_: Task[..., Any], __: Any, state: State[Any]) -> bool:
    """Tell whether a step is worth repeating: not when its settings or its input are wrong."""
    error = state.result(raise_on_failure=False)
    return isinstance(error, BaseException) and exit_code(type(error)) is ExitCode.INFRASTRUCTURE


def _content(paths: Sequence[str]) -> str:
    """Hash files and folders that a step reads."""
    total = hashlib.sha256()
    for path in map(Path, paths):
        files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
        root = path if path.is_dir() else path.parent
        there = hash_files(root, files, "input").content_hash if path.exists() else "absent"
        total.update(f"{there}\n".encode())
    return total.hexdigest()


def _key(name: str, reads: Callable[[Any], Sequence[str]]) -> Callable[[Any, dict[str, Any]], str]:
    """Make the key of a step's result: its name, its settings, what it reads, and the version of AgentHard."""

    def key(_: Any, arguments: dict[str, Any]) -> str:
        settings = arguments["settings"]
        words = (name, settings.model_dump_json(), _content(reads(settings)), package_version("agenthard"))
        return f"agenthard-{name}-{hashlib.sha256('|'.join(words).encode()).hexdigest()[:32]}"

    return key


def _step(
    name: str, reads: Callable[[Any], Sequence[str]]
) -> Callable[[Callable[[Any], Record | dict[str, Any]]], Task[..., dict[str, Any]]]:
    """Make a task that keeps its result by content.

    Args:
        name: name of the task.
        reads: files and folders that it reads, by its settings.
    """

    def make(function: Callable[[Any], Record | dict[str, Any]]) -> Task[..., dict[str, Any]]:
        def run(settings: Any) -> dict[str, Any]:
            outcome = function(settings)
            return outcome.model_dump(mode="json") if isinstance(outcome, Record) else outcome

        return task(
            name=name,
            tags={"agenthard", f"agenthard-{name}"},
            retries=RETRIES,
            retry_delay_seconds=list(RETRY_SECONDS),
            retry_condition_fn=_is_infrastructure,
            cache_key_fn=_key(name, reads),
            persist_result=True,
            result_serializer="json",
        )(run)

    return make


def _run(step: Task[..., dict[str, Any]], settings: Any, output: Path) -> dict[str, Any]:
    """Run a step, or take its earlier result if that is of the same content and its output is there."""
    outcome: dict[str, Any] = step.with_options(refresh_cache=not output.exists())(settings)
    return outcome


_generate = _step("generate", lambda settings: ())(lambda settings: _generated(settings))
_evaluate = _step("evaluate", lambda settings: (settings.path,))(run_evaluation)
_audit = _step("audit", lambda s: (s.path, *s.runs, *filter(None, (s.policy, s.checkout))))(
    lambda settings: run_audit(AuditInput(settings))
)
_judge = _step("judge", lambda settings: (f"{settings.run}/manifest.json",))(run_judging)
_decide = _step("decide", lambda settings: (f"{settings.run}/findings.json", f"{settings.run}/review.db"))(decide_run)
_repair = _step("repair", lambda settings: (f"{settings.run}/findings.json", f"{settings.run}/review.db"))(
    lambda settings: repair_run(settings, lambda what, steps: None)
)
_publish = _step("publish", lambda settings: (f"{settings.run}/findings.json", f"{settings.run}/split"))(publish_split)
_report = _step("report", lambda settings: (f"{settings.run}/findings.json", f"{settings.run}/tables"))(run_report)
_align = _step("align", lambda settings: settings.reads)(score_alignment)


def _generated(settings: GenerateSettings) -> dict[str, Any]:
    generator = find_generator(settings.benchmark)
    parameters = generator.parameters.model_validate(settings.parameters)
    write_lines(generator, parameters, Path(settings.out), settings.workers)
    return {"out": settings.out, "instances": generator.count(parameters)}


@flow(name="agenthard-generate", persist_result=True)
def generate(settings: GenerateSettings) -> dict[str, Any]:
    """Generate a suite of a benchmark."""
    outcome = _run(_generate, settings, Path(settings.out))
    announce("generated", settings.benchmark, outcome)
    return outcome


@flow(name="agenthard-evaluate", persist_result=True)
def evaluate(settings: EvaluationSettings) -> dict[str, Any]:
    """Evaluate agents and models on a benchmark."""
    outcome = _run(_evaluate, settings, Path(settings.out) / "manifest.json")
    leave_summary("evaluation", settings.benchmark, Path(settings.out))
    announce("evaluated", settings.benchmark, outcome)
    return outcome


@flow(name="agenthard-audit", persist_result=True)
def audit(settings: AuditSettings) -> dict[str, Any]:
    """Audit a benchmark into a run folder."""
    outcome = _run(_audit, settings, Path(settings.out) / "manifest.json")
    leave_summary("audit", settings.source, Path(settings.out))
    announce("audited", settings.source, outcome)
    return outcome


@flow(name="agenthard-judge", persist_result=True)
def judge(settings: JudgingSettings) -> dict[str, Any]:
    """Ask a panel of models about the tasks of an audit."""
    outcome = _run(_judge, settings, Path(settings.out) / "manifest.json")
    leave_summary("judging", Path(settings.run).name, Path(settings.out))
    announce("judged", Path(settings.run).name, outcome)
    return outcome


@flow(name="agenthard-decide", persist_result=True)
def decide(settings: DecideSettings) -> dict[str, Any]:
    """Decide an audit again with the verdicts of people."""
    outcome = _run(_decide, settings, Path(settings.run) / "manifest.json")
    leave_summary("decisions", Path(settings.run).name, Path(settings.run))
    announce("decided", Path(settings.run).name, outcome)
    return outcome


@flow(name="agenthard-repair", persist_result=True)
def repair(settings: RepairSettings) -> dict[str, Any]:
    """Repair findings that have exactly one minimal fix."""
    outcome = _run(_repair, settings, Path(settings.out) / "repairs.json")
    announce("repaired", Path(settings.run).name, outcome)
    return outcome


@flow(name="agenthard-report", persist_result=True)
def report(settings: ReportSettings) -> dict[str, Any]:
    """Report what cleaning does to a leaderboard."""
    outcome = _run(_report, settings, Path(settings.run) / "manifest.json")
    announce("reported", Path(settings.run).name, outcome)
    return outcome


@flow(name="agenthard-publish", persist_result=True)
def publish(settings: PublishSettings) -> dict[str, Any]:
    """Publish a split: native files, data set, removals, version, manifest."""
    outcome = _run(_publish, settings, Path(settings.out or Path(settings.run) / "publication" / settings.split))
    announce("published", outcome["name"], outcome)
    return outcome


@flow(name="agenthard-compare", persist_result=True)
def compare(settings: CompareSettings) -> dict[str, Any]:
    """Compare two audits, or two tables of scores."""
    return run_comparison(settings).model_dump(mode="json")


@flow(name="agenthard-align", persist_result=True)
def align(settings: AlignSettings) -> dict[str, Any]:
    """Compare an audit or a judge with labels of people."""
    from prefect.artifacts import create_markdown_artifact

    outcome = _run(_align, settings, Path(settings.out or settings.run))
    name = Path(settings.run).name
    text = sections_markdown(alignment_sections(Alignment.model_validate(outcome)))
    create_markdown_artifact(text, key=artifact_key("alignment", name))
    announce("aligned", name, outcome)
    return outcome


@flow(name="agenthard-faults", persist_result=True)
def faults(settings: FaultSettings) -> dict[str, Any]:
    """Plant flaws into sound tasks, and audit them."""
    out = Path(settings.out)
    manifest = plant_faults(None, None, out, settings.seed, settings.per_category, settings.sound)
    return {**manifest, "run": str(audit_planted(out)) if settings.audit else None}


@flow(name="agenthard-run", persist_result=True)
def pipeline(config: PipelineConfig) -> dict[str, Any]:
    """Generate, evaluate, audit and report, as `agenthard run` does."""
    outcome = run_pipeline(config)
    leave_summary("audit", config.benchmark, Path(outcome.audit.folder))
    return outcome.model_dump(mode="json")


_scheduled = task(
    name="scheduled-audit",
    tags={"agenthard", "agenthard-audit"},
    retries=RETRIES,
    retry_delay_seconds=list(RETRY_SECONDS),
    retry_condition_fn=_is_infrastructure,
)(run_schedule)


@flow(name="agenthard-scheduled-audit", persist_result=True)
def scheduled_audit(schedule: Schedule) -> dict[str, Any]:
    """Audit a benchmark as it is now; when the published split would change, wait for a person."""
    outcome = _scheduled(schedule, datetime.now(UTC))
    if outcome.difference is not None:
        _leave_difference(schedule, outcome)
    announce("scheduled-audit", schedule.name, outcome.model_dump(mode="json", exclude={"difference"}))
    if outcome.waits is not None and schedule.publish is not None and outcome.difference is not None:
        outcome = _ask(schedule, outcome, schedule.publish.wait_seconds)
    return outcome.model_dump(mode="json")


def _leave_difference(schedule: Schedule, outcome: ScheduleOutcome) -> None:
    from prefect.artifacts import create_markdown_artifact

    assert outcome.difference is not None
    text = difference_markdown(schedule.name, outcome.difference, {})
    create_markdown_artifact(text, key=f"agenthard-difference-{schedule.name}", description=outcome.sentence)
    if outcome.run is not None:
        leave_summary("audit", schedule.name, Path(outcome.run))


def _ask(schedule: Schedule, outcome: ScheduleOutcome, seconds: int) -> ScheduleOutcome:
    """Pause the flow run until a person has answered; the audit itself is finished."""
    assert outcome.waits is not None and FlowRunContext.get() is not None
    waits = outcome.waits
    description = (
        f"The cleaned split of {schedule.name} would change to {waits.split_id}: {len(waits.removed):,} tasks fewer, "
        f"{len(waits.added):,} more than the published one. Audit: {waits.run}. Publish it?"
    )
    asked = SplitApproval.with_initial_data(description=description, approve=False, by="", reason="")
    answer = pause_flow_run(wait_for_input=asked, timeout=seconds, poll_interval=1)
    if not answer.approve:
        reject(schedule, waits.split_id)
        return outcome.model_copy(update={"waits": None})
    done = approve(schedule, waits.split_id, answer.by or "not named", answer.reason, datetime.now(UTC))
    return outcome.model_copy(update={"waits": None, "published": done})


__all__ = [
    "align",
    "audit",
    "compare",
    "decide",
    "evaluate",
    "faults",
    "generate",
    "judge",
    "pipeline",
    "publish",
    "repair",
    "report",
    "scheduled_audit",
]
