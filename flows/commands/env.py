"""``agenthard env``: the virtual environments in which benchmark code runs."""

from typing import Annotated

import typer

from agenthard.flows.commands.env_verify import verify
from agenthard.flows.commands.output import JsonOption, print_json, print_table

app = typer.Typer(
    name="env",
    help="Create, list, remove and verify what a benchmark's own code runs in.",
    no_args_is_help=True,
)
app.command()(verify)

VersionOption = Annotated[str | None, typer.Option(help="Release of the benchmark's package.")]
UnpinnedOption = Annotated[
    bool, typer.Option("--unpinned", help="Install a release whose hash is not known here, whatever the index sends.")
]


def warn_unpinned(benchmark: str, version: str) -> None:
    """Say on standard error that nothing vouches for a release."""
    from agenthard.audit.execution import managed_environments

    if (benchmark, version) not in managed_environments.pinned():
        typer.echo(f"warning: {benchmark} {version} was installed unpinned: no hash of its files is known", err=True)


@app.command()
def create(
    benchmark: Annotated[str, typer.Argument(help="Benchmark: bfcl, tau2.")],
    version: VersionOption = None,
    unpinned: UnpinnedOption = False,
    as_json: JsonOption = False,
) -> None:
    """Create the environment of a benchmark; needs the package index. One that is there already is kept.

    Several releases stand next to each other; each task is executed by the code of its own.

    Example: `agenthard env create bfcl --version 2026.3.23`
    """
    from agenthard.audit.execution import managed_environments
    from agenthard.audit.execution.environment import UnavailableError
    from agenthard.flows.errors import CommandError

    try:
        made = managed_environments.create(benchmark, version, unpinned=unpinned)
    except UnavailableError as error:
        raise CommandError(str(error)) from error
    warn_unpinned(benchmark, made.version)
    if as_json:
        print_json(made)
    else:
        packages = ", ".join(f"{name} {release}" for name, release in made.packages.items())
        typer.echo(f"{benchmark} {made.version} is installed ({packages})")


@app.command("list")
def list_environments(as_json: JsonOption = False) -> None:
    """List the environments that are there, and the releases that can be created; with --json those that are there.

    Example: `agenthard env list`
    """
    from agenthard.audit.execution import managed_environments

    there = managed_environments.existing()
    if as_json:
        print_json([item.model_dump(mode="json") for item in there])
        return
    folders = {(item.benchmark, item.version): str(item.folder) for item in there}
    holds = managed_environments.pinned()
    rows = [
        (name, version, holds.get((name, version), "unpinned"), folders.get((name, version), "not installed"))
        for name, version in dict.fromkeys([*holds, *folders])
    ]
    print_table("", ("benchmark", "version", "data", "folder"), rows)
    missing = [key for key in holds if key not in folders]
    if missing:
        typer.echo(f"next: {managed_environments.create_command(*missing[0])}")


@app.command()
def remove(
    benchmark: Annotated[str, typer.Argument(help="Benchmark: bfcl, tau2.")],
    version: VersionOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remove the environments of a benchmark, fetched data included; without --version all of them.

    Example: `agenthard env remove bfcl --version 2025.7.17`
    """
    from agenthard.audit.execution import managed_environments
    from agenthard.audit.execution.environment import UnavailableError
    from agenthard.flows.errors import CommandError

    try:
        removed = managed_environments.remove(benchmark, version)
    except UnavailableError as error:
        raise CommandError(str(error)) from error
    if as_json:
        print_json([item.model_dump(mode="json") for item in removed])
    else:
        for item in removed:
            typer.echo(f"{item.benchmark} {item.version} was removed")
