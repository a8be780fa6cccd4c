"""``agenthard decide``: verdicts of people become decisions."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agenthard.flows.commands.output import JsonOption, error_console, print_json, print_table

if TYPE_CHECKING:
    from agenthard.flows.review.decide import DecideOutcome

MOST_SHOWN = 20
"""Changed tasks that the command prints."""


def decide(
    run: Annotated[Path, typer.Argument(help="Run folder of an audit or of a judge.")],
    verdicts: Annotated[
        str | None,
        typer.Option(help="Events (JSON Lines), or URL of a review store; default: review.db in the run folder."),
    ] = None,
    reviewed: Annotated[
        str | None, typer.Option(help="Name of the audit that was reviewed; default: the name of the run folder.")
    ] = None,
    benchmark: Annotated[
        Path | None, typer.Option(help="Folder of the benchmark; default: where it was audited.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Decide an audit again with the verdicts of people; no task is checked again.

    Writes decisions, split, tables, findings.json, SARIF and the page again, and the report on cleaning where the run
    has one. The same verdicts give the same bytes; without verdicts they are those of the audit.

    Example: `agenthard decide demo-run/demo`
    """
    from agenthard.flows.review.decide import DecideSettings, decide_run

    settings = DecideSettings(
        run=str(run), verdicts=verdicts, reviewed=reviewed, benchmark=str(benchmark) if benchmark else None
    )
    with error_console().status("deciding"):
        outcome = decide_run(settings)
    if as_json:
        print_json(outcome)
    else:
        _show(outcome)


def _show(outcome: "DecideOutcome") -> None:
    from agenthard.taxonomy.printable import printable_line

    by = f" by {', '.join(map(printable_line, outcome.reviewers))}" if outcome.reviewers else ""
    typer.echo(
        f"verdicts on {outcome.verdicts_on_tasks:,} tasks and {outcome.verdicts_on_findings:,} findings{by}; "
        f"{len(outcome.disputed):,} disputed, {len(outcome.stale):,} stale (not used)"
    )
    for each in outcome.stale:
        typer.echo(f"  stale: {printable_line(each)}")
    for each in outcome.disputed:
        typer.echo(f"  disputed: {printable_line(each)}")
    if outcome.changed:
        rows = [(t.task_id, t.before, t.after, t.reasons[0]) for t in outcome.changed[:MOST_SHOWN]]
        print_table("changed decisions", ("task", "before", "after", "why"), rows)
    if len(outcome.changed) > MOST_SHOWN:
        typer.echo(f"and {len(outcome.changed) - MOST_SHOWN:,} more: tables/decisions.parquet has all")
    counts = ", ".join(f"{action} {count:,}" for action, count in outcome.decisions.items())
    typer.echo(f"decisions: {counts}; cleaned split {outcome.split_id} with {outcome.kept:,} tasks")
    if outcome.cleaning:
        typer.echo(f"cleaning: {printable_line(outcome.cleaning)}")
    typer.echo(f"report: {outcome.report}")
