"""``agenthard gc``: remove what no finished run needs."""

from pathlib import Path
from typing import Annotated

import typer

from agenthard.flows.commands.output import JsonOption, print_json, print_table
from agenthard.flows.logs import log


def gc(
    root: Annotated[
        Path, typer.Argument(metavar="ROOT", help="Folder below which run folders are.", exists=True, file_okay=False)
    ] = Path(),
    delete: Annotated[
        bool, typer.Option("--delete", help="Remove what is listed; otherwise it is only listed.")
    ] = False,
    unfinished: Annotated[
        bool, typer.Option("--unfinished", help="Also audits that were interrupted and could be continued.")
    ] = False,
    replies: Annotated[
        bool, typer.Option("--replies", help="Also caches of models' replies: asking again then costs again.")
    ] = False,
    results: Annotated[
        bool, typer.Option("--results", help="Also files of `audit --reuse`: the next audit checks all tasks again.")
    ] = False,
    environments: Annotated[
        bool, typer.Option("--environments", help="Also environments of benchmarks that no run below ROOT is about.")
    ] = False,
    hours: Annotated[
        float, typer.Option("--older-than", min=0, metavar="HOURS", help="Age of temporary folders that are left over.")
    ] = 24.0,
    as_json: JsonOption = False,
) -> None:
    """List what no finished run needs, with sizes: unfinished files, dead audits, temporary folders.

    `--delete` removes it. A folder that a process works in is never touched, and no store of a review or of judges'
    answers.

    Example: `agenthard gc demo-run`
    """
    from agenthard.flows.errors import ExitCode
    from agenthard.flows.garbage import DEFAULT, ERRORS, Kind, find_garbage, remove

    asked: dict[Kind, bool] = {
        "unfinished audit": unfinished,
        "reply cache": replies,
        "kept results": results,
        "environment": environments,
    }
    found = find_garbage(root, frozenset([*DEFAULT, *(kind for kind, wanted in asked.items() if wanted)]), hours)
    removed, failed = list[str](), dict[str, str]()
    for item in found.garbage if delete else ():
        try:
            remove(item)
            removed.append(item.path)
        except FileNotFoundError:  # it was in something that is gone by now
            removed.append(item.path)
        except ERRORS as error:
            failed[item.path] = str(error)
            log.warning("%s stays: %s", item.path, error)
    if as_json:
        print_json({**found.model_dump(mode="json"), "removed": removed, "failed": failed})
    else:
        rows = [(item.kind, _size(item.bytes), item.path, item.reason) for item in found.garbage]
        if rows:
            print_table("", ("kind", "size", "path", "why"), rows, right=("size",))
        for each in found.kept:
            log.info("kept: %s (%s)", each.path, each.reason)
        total = _size(sum(item.bytes for item in found.garbage))
        did = f"removed {len(removed):,}" if delete else "nothing was removed (--delete removes it)"
        typer.echo(f"{found.runs:,} run folders, {len(found.garbage):,} things that nothing needs, {total}; {did}")
    if failed:
        raise typer.Exit(ExitCode.INFRASTRUCTURE)


def _size(count: int) -> str:
    from agenthard.taxonomy.files import size_text

    return size_text(count) if count >= 1024 else f"{count} B"
