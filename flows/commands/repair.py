"""``agenthard repair``: re-checked changes that mend findings, a repaired split, and issues for the maintainer."""

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
    as_json: JsonOption = False,
) -> None:
    """Repair findings that have exactly one minimal fix: each change is made in a copy of the benchmark and re-checked.

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
