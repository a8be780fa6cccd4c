"""``agenthard escape tables``: the tables of the paper from an evaluation."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agenthard.flows.commands.output import JsonOption, print_json, print_table

if TYPE_CHECKING:
    from agenthard.escape.diagnostics import Diagnosis


def tables(
    run: Annotated[Path, typer.Argument(help="Run folder of `agenthard evaluate escape`.")],
    out: Annotated[Path | None, typer.Option(help="Folder for the tables as CSV.")] = None,
    failure_rate: Annotated[float, typer.Option(min=0, max=1, help="Episodes of this rate of failing calls.")] = 0.0,
    as_json: JsonOption = False,
) -> None:
    """Show success, subgoals, discovery, three behaviours, errors and calls, by agent and size of the room.

    Exit codes: 0 shown, 64 the folder holds no evaluation of rooms.

    Example: `agenthard escape tables escape-evaluation --out escape-tables`
    """
    from agenthard.escape.diagnostics import diagnose, drops

    found = diagnose(_rows(run, failure_rate))
    lost = drops(found)
    laid_out = _tables(found)
    if out is not None:
        _write(laid_out, out)
    if as_json:
        print_json({"by_size": [asdict(each) for each in found], "drops": [asdict(each) for each in lost]})
        return
    for title, (columns, rows) in laid_out.items():
        print_table(title, columns, [tuple(map(_cell, row)) for row in rows], right=columns[1:])
    for each in lost:
        typer.echo(f"{each.agent}: ΔSR {100 * each.difference:+.1f} points from {each.easiest} to {each.hardest} parts")
    if found:
        episodes = max(each.episodes for each in found)
        typer.echo(f"At most {episodes} episodes per row; '-' is undefined: nothing of the kind occurred.")


def _rows(run: Path, failure_rate: float) -> list[dict[str, Any]]:
    """Read the final attempts of an evaluation.

    Raises:
        CommandError: it is none, or not of rooms.
    """
    from agenthard.escape.environment.tally import COUNTS
    from agenthard.flows.errors import CommandError

    path = run / "tables" / "episodes.parquet"
    if not path.is_file():
        raise CommandError(f"{run}: no evaluation here; run `agenthard evaluate escape SUITE --out {run}` first")
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    if missing := sorted({"nodes", "min_calls", *COUNTS} - set(table.column_names)):
        raise CommandError(f"{path}: not an evaluation of escape rooms: it has no column {missing[0]}")
    final: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in table.to_pylist():
        if row["failure_rate"] == failure_rate:
            final[row["agent"], row["task_id"], row["trial"]] = row
    return list(final.values())


def _tables(found: "list[Diagnosis]") -> dict[str, tuple[tuple[str, ...], list[tuple[Any, ...]]]]:
    from agenthard.escape.environment.tally import ERRORS

    success = [
        (d.agent, d.nodes, d.episodes, _percent(d.success), _percent(d.low), _percent(d.high), _percent(d.subgoals))
        + (_percent(d.discovery), d.discovery_rooms)
        for d in found
    ]
    behaviour = [
        (d.agent, d.nodes, d.convergence, d.censored, _percent(d.premature), _percent(d.adherence))
        + (_percent(d.param_adherence), d.dependent_uses)
        for d in found
    ]
    errors = [(d.agent, d.nodes, *(d.errors[name] for name in ERRORS)) for d in found]
    calls = [(d.agent, d.nodes, d.calls, d.turns, d.effort) for d in found]
    return {
        "Success": (("agent", "parts", "n", "SR %", "low", "high", "Sub %", "Disc %", "n Disc"), success),
        "Behaviour": (
            ("agent", "parts", "convergence", "censored", "premature %", "adherence %", "by param %", "uses"),
            behaviour,
        ),
        "Failed uses per episode": (("agent", "parts", *ERRORS), errors),
        "Calls": (("agent", "parts", "calls", "turns", "calls / fewest, solved"), calls),
    }


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.1f}" if isinstance(value, float) else str(value)


def _write(laid_out: dict[str, tuple[tuple[str, ...], list[tuple[Any, ...]]]], out: Path) -> None:
    import csv

    out.mkdir(parents=True, exist_ok=True)
    for title, (columns, rows) in laid_out.items():
        with (out / f"{title.lower().replace(' ', '_')}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(["" if value is None else value for value in row] for row in rows)
