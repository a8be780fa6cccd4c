"""``agenthard escape view``: a recorded run of a room as a page, the graph by state with a slider over the calls."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agenthard.flows.commands.escape.reading import find_room, one_message
from agenthard.flows.commands.output import JsonOption, print_json

if TYPE_CHECKING:
    from agenthard.taxonomy.trajectory import Trajectory


def view(
    path: Annotated[Path, typer.Argument(help="Suite of rooms.")],
    runs: Annotated[Path, typer.Argument(help="Runs: trajectories.jsonl.gz of an evaluation, or JSON Lines.")],
    run: Annotated[str | None, typer.Option(help="Id of the run; default: the first that got out.")] = None,
    out: Annotated[Path, typer.Option(help="File of the page.")] = Path("room.html"),
    as_json: JsonOption = False,
) -> None:
    """Write a page of one recorded run: the graph of its room by state, with a slider over the calls.

    The page is one file that opens offline. It shows the private part of the room: keep it from agents.

    Exit codes: 0 written, 64 the run or its room does not exist.

    Example: `agenthard escape view escape-suite escape-evaluation/trajectories.jsonl.gz --out room.html`
    """
    from agenthard.escape.recorded import run_page
    from agenthard.reports.run_pages import write_run_page

    chosen = _chosen(runs, run)
    with one_message():
        instance = find_room(path, chosen.task_id.rpartition("/")[2])
    page = run_page(instance, chosen)
    calls = page.calls
    write_run_page(out, page)
    if as_json:
        print_json({"page": str(out), "run": chosen.id, "room": instance.id, "calls": calls})
    else:
        typer.echo(f"{out}: {chosen.id}, {calls} calls")


def _chosen(path: Path, id: str | None) -> "Trajectory":
    """Return a run by id, or the first that got out, or else the first.

    Raises:
        CommandError: no such run, or the file cannot be read.
    """
    from agenthard.flows.errors import CommandError

    first: Trajectory | None = None
    for each in _runs(path):
        if each.id == id or (id is None and each.passed):
            return each
        first = first or each
    if first is None or id is not None:
        raise CommandError(f"{path}: no run {id!r} here" if id else f"{path}: no run is in this file")
    return first


def _runs(path: Path) -> "Iterator[Trajectory]":
    import gzip

    from agenthard.flows.errors import CommandError
    from agenthard.taxonomy.trajectory import Trajectory

    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                try:
                    yield Trajectory.model_validate_json(line)
                except ValueError as error:
                    raise CommandError(f"{path}, line {number}: not a run of `agenthard evaluate`") from error
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise CommandError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
