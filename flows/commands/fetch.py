"""``agenthard fetch``: put a public benchmark into a managed folder."""

from typing import Annotated

import typer

from agenthard.flows.commands.env import UnpinnedOption, warn_unpinned
from agenthard.flows.commands.output import JsonOption, print_json


def fetch(
    benchmark: Annotated[str, typer.Argument(help="Benchmark to fetch: bfcl.")],
    version: Annotated[
        str | None, typer.Option(help="Release; default: the one the docs are about. `agenthard env list` shows all.")
    ] = None,
    unpinned: UnpinnedOption = False,
    as_json: JsonOption = False,
) -> None:
    """Fetch a public benchmark from the package index into a managed folder, in an environment of its own.

    Example: `agenthard fetch bfcl --version 2026.3.23`
    """
    from agenthard.audit.sources.fetch import FetchError
    from agenthard.audit.sources.fetch import fetch as bring
    from agenthard.flows.errors import CommandError

    try:
        found = bring(benchmark, version, unpinned=unpinned)
    except FetchError as error:
        raise CommandError(str(error)) from error
    warn_unpinned(benchmark, found.version)
    if as_json:
        print_json({"benchmark": benchmark, "version": found.version, "path": str(found.path), "data": str(found.data)})
    else:
        typer.echo(f"{benchmark} {found.version} is at {found.data}\nnext: agenthard audit {benchmark} {found.data}")
