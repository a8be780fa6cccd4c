"""``agenthard run``: the whole loop from one file."""

from pathlib import Path
from typing import Annotated

import typer

from agenthard.flows.commands.output import JsonOption, error_console, print_json


def run(
    config: Annotated[Path, typer.Argument(help="YAML file; docs/evaluation.md describes it.")],
    as_json: JsonOption = False,
) -> None:
    """Generate or read tasks, evaluate agents and models, audit tasks and runs, and report before and after cleaning.

    The same command resumes an interrupted run. Exit codes: 0 done, 2 some episode has no verdict or some task was not
    read or checked, 3 infrastructure (a model stopped; what was done is kept).

    Example: `agenthard run docs/examples/ace.yaml`
    """
    from agenthard.flows.commands.evaluate import show_outcome
    from agenthard.flows.errors import ExitCode, InfrastructureError
    from agenthard.flows.progress import show_progress
    from agenthard.flows.run_config import load_config

    loaded = load_config(config)
    try:
        with show_progress(error_console()):
            from agenthard.flows.run_flow import run_pipeline

            outcome = run_pipeline(loaded)
    except KeyboardInterrupt:
        raise InfrastructureError("interrupted; finished work is kept: the same command continues from there") from None
    audit = outcome.audit
    if as_json:
        print_json(outcome)
    else:
        show_outcome(outcome.evaluation)
        kinds = ", ".join(f"{count:,} {tier}" for tier, count in audit.findings.items())
        total = audit.tasks_there
        typer.echo(f"\naudit: {audit.checked:,} of {total:,} tasks checked; findings: {kinds}")
        typer.echo(f"audit report {audit.report}\n\n{outcome.report.sentence}")
        typer.echo(f"cleaning     {Path(outcome.report.folder) / 'report.html'}")
    if outcome.evaluation.stopped:
        raise InfrastructureError(
            "; ".join(f"{name} stopped: {why}" for name, why in outcome.evaluation.stopped.items())
        )
    if not outcome.evaluation.complete or audit.incomplete:
        raise typer.Exit(ExitCode.INCOMPLETE)
