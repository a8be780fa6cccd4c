"""``agenthard repair``: re-checked fixes of findings, a repaired split, and issues for the maintainer."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agenthard.flows.commands.output import JsonOption, error_console, print_json, print_table

if TYPE_CHECKING:
    from agenthard.flows.repair import RepairOutcome


def repair(
    run: Annotated[Path, typer.Argument(help="Run folder of an audit.")],
    out: Annotated[Path | None, typer.Option(help="Folder to write; default: RUN/repair.")] = None,
    finding: Annotated[list[str] | None, typer.Option(help="Only this finding, by its id; repeatable.")] = None,
    check: Annotated[list[str] | None, typer.Option(help="Only findings of this check; repeatable.")] = None,
    benchmark: Annotated[
        Path | None, typer.Option(help="Folder of the benchmark; default: where it was audited.")
    ] = None,
    verdicts: Annotated[
        str | None,
        typer.Option(help="Events (JSON Lines), or URL of a review store; default: review.db in the run folder."),
    ] = None,
    reviewed: Annotated[
        str | None, typer.Option(help="Name of the audit that was reviewed; default: the name of the run folder.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Repair findings that have exactly one minimal fix: each change is made in a copy of the benchmark and re-checked.

    Patches that people accepted in a review take the place of what checks propose; rejected ones are left out.
    Writes repairs.json, the repaired split in the benchmark's own format, and one issue text per repaired finding.

    Example: `agenthard repair demo-run/demo`
    """
    from agenthard.flows.repair import RepairSettings, repair_run

    settings = RepairSettings(
        run=str(run),
        out=str(out or run / "repair"),
        findings=tuple(finding or ()),
        checks=tuple(check or ()),
        benchmark=str(benchmark) if benchmark else None,
        verdicts=verdicts,
        reviewed=reviewed,
    )
    with error_console().status("reading the audit") as status:
        done: dict[str, int] = {}

        def advance(what: str, steps: int) -> None:
            done[what] = done.get(what, 0) + steps
            status.update(f"{what}: {done[what]}" if done[what] else what)

        outcome = repair_run(settings, advance)
    if as_json:
        print_json(outcome)
    else:
        _show(outcome)


def _show(outcome: "RepairOutcome") -> None:
    from agenthard.taxonomy.printable import printable_line

    typer.echo(
        f"{outcome.benchmark}: {outcome.findings:,} findings, {outcome.with_patch:,} with exactly one minimal fix"
    )
    typer.echo(f"proposals: {outcome.accepted:,} of {outcome.proposals:,} accepted (one per finding and task)")
    if outcome.checks:
        columns = ("check", "findings", "with a fix", "proposals", "accepted")
        rows = [(c.check, *map(str, (c.findings, c.with_patch, c.proposals, c.accepted))) for c in outcome.checks]
        print_table("", columns, rows, right=columns[1:])
    for reason, count in outcome.rejected.items():
        typer.echo(f"  rejected {count:,}: {reason}")
    for each in outcome.people:
        why = f"; not in the split: {each.refused}" if each.refused else ""
        typer.echo(f"  patch of {printable_line(each.task_id)} {printable_line(each.sentence + why)}")
    if outcome.not_repeated:
        typer.echo(
            f"  not repeated, because the runs were made with the unchanged tasks: {', '.join(outcome.not_repeated)}"
        )
    counts = ", ".join(f"{action} {count:,}" for action, count in outcome.decisions.items())
    typer.echo(
        f"repaired split {outcome.split_id} with {outcome.kept:,} tasks: {counts}; "
        f"removed by the audit {outcome.removed_before:,}, still removed {outcome.decisions['drop']:,}"
    )
    folder = Path(outcome.folder)
    typer.echo(f"\nrepairs    {folder / 'repairs.json'}\nsplit      {folder / 'repaired'}")
    typer.echo(f"issues     {folder / 'issues'} ({outcome.issues:,})")
