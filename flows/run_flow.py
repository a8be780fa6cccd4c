"""The flow ``run``: generate, evaluate, audit and report, each stage resumes its own work."""

import shutil
from pathlib import Path
from typing import Any

from agenthard.flows.audit_flow import run_audit
from agenthard.flows.audit_outputs import AuditOutcome
from agenthard.flows.audit_plan import AuditInput, AuditSettings
from agenthard.flows.evaluation.flow import run_evaluation
from agenthard.flows.evaluation.publish import EvaluationOutcome
from agenthard.flows.evaluation.settings import EvaluationSettings, options_and_axes
from agenthard.flows.progress import current
from agenthard.flows.report import ReportOutcome, ReportSettings, make_report
from agenthard.flows.run_config import PipelineConfig
from agenthard.flows.run_folder import RunFolder
from agenthard.flows.stages import run_flow, stage
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.system import cpu_count


class PipelineOutcome(Record):
    """The outcome of each stage."""

    tasks: str
    """Where the tasks are."""
    evaluation: EvaluationOutcome
    """The evaluation."""
    audit: AuditOutcome
    """The audit of tasks and runs."""
    report: ReportOutcome
    """The leaderboard before and after cleaning."""


@stage("generate")
def generate(benchmark: str, parameters: dict[str, Any], out: str, workers: int) -> str:
    """Generate the suite, or the rest of it."""
    from agenthard.flows.generators import find_generator, write_lines

    generator = find_generator(benchmark)
    write_lines(generator, generator.parameters.model_validate(parameters), Path(out), workers)
    return out


@stage("report")
def report(settings: ReportSettings) -> ReportOutcome:
    """Report what cleaning does to the leaderboard."""
    return make_report(settings)


def run_stages(config: PipelineConfig, workers: int) -> PipelineOutcome:
    """Generate, evaluate, audit and report."""
    folder = Path(config.out)
    tasks = config.tasks
    if config.generate is not None:
        tasks = generate(config.benchmark, config.generate, str(folder / "tasks"), workers)
    assert tasks is not None
    evaluation = run_evaluation(evaluation_settings(config, tasks, workers))
    settings = AuditSettings(
        source=config.benchmark,
        path=tasks,
        runs=(evaluation.trajectories,),
        out=str(folder / "audit"),
        workers=workers,
        policy=config.audit.policy,
    )
    given = AuditInput(settings)
    _drop_outdated(given)
    audit = run_audit(given)
    current().start("reporting")
    return PipelineOutcome(
        tasks=tasks, evaluation=evaluation, audit=audit, report=report(report_settings(config, str(folder / "audit")))
    )


def _drop_outdated(given: AuditInput) -> None:
    """Remove the audit that an earlier, shorter evaluation led to; it is repeated with the present runs."""
    folder = RunFolder(Path(given.settings.out))
    if folder.holds_other_than(given.key):
        with folder.hold():
            shutil.rmtree(folder.root)


def evaluation_settings(config: PipelineConfig, tasks: str, workers: int) -> EvaluationSettings:
    """Return what to evaluate, with the benchmark's own leaderboard where no contestant is named.

    Raises:
        CommandError: The benchmark, an agent or an option does not exist.
        ConfigurationError: A model does not.
    """
    from agenthard.flows.evaluation.benchmark import open_benchmark
    from agenthard.models.model_file import load_model

    stage = config.evaluate
    given = {key: value if isinstance(value, tuple) else (value,) for key, value in stage.options.items()}
    options, axes = options_and_axes({key: [*map(str, values)] for key, values in given.items()})
    agents = stage.agents
    if not agents and not stage.models:
        agents = tuple(open_benchmark(config.benchmark, tasks, options, stage.seed).default_agents())
    return EvaluationSettings(
        benchmark=config.benchmark,
        path=tasks,
        options=options,
        axes=axes,
        agents=agents,
        models=tuple(map(load_model, stage.models)),
        out=str(Path(config.out) / "evaluation"),
        workers=workers,
        **stage.model_dump(exclude={"agents", "models", "options"}),
    )


def report_settings(config: PipelineConfig, audit: str) -> ReportSettings:
    """Return how to report on the audit."""
    from agenthard.reports.cleaning.inputs import AnalysisSettings

    return ReportSettings(run=audit, analysis=AnalysisSettings(**config.report.model_dump()))


def run_pipeline(config: PipelineConfig) -> PipelineOutcome:
    """Run the whole loop."""
    return run_flow(run_stages, "run", f"run {config.benchmark}", 1, config, cpu_count())
