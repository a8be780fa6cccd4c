"""``agenthard env``: the virtual environments in which benchmark code runs."""

from typing import Annotated

import typer

from flows.commands.env_verify import verify
from flows.commands.output import JsonOption, print_json, print_table

app = typer.Typer(
    name="env",
    help="Create, list, remove and verify what a benchmark's own code runs in.",
    no_args_is_help=True,
)
app.command()(verify)

VersionOption = Annotated[str | None, typer.Option(help="Release of the benchmark's package.")]


@app.command()
def create(
    benchmark: Annotated[str, typer.Argument(help="Benchmark: bfcl, tau2.")],
    version: VersionOption = None,
    as_json: JsonOption = False,
) -> None:
    """Create the environment of a benchmark; needs the package index. One that is there already is kept.

    Example: `agenthard env create bfcl`
    """
    from audit.execution import venvs
    from audit.execution.environment import Unavailable
    from flows.errors import CommandError

    try:
        made = venvs.create(benchmark, version)
    except Unavailable as error:
        raise CommandError(str(error)) from error
    if as_json:
        print_json(made)
    else:
        packages = ", ".join(f"{name} {release}" for name, release in made.packages.items())
        typer.echo(f"{benchmark} {made.version} is installed ({packages})")


@app.command("list")
def list_environments(as_json: JsonOption = False) -> None:
    """List the environments that are there, with the packages in them.

    Example: `agenthard env list`
    """
    from audit.execution import venvs

    there = venvs.existing()
    if as_json:
        print_json([item.model_dump(mode="json") for item in there])
    elif not there:
        typer.echo("no environments; `agenthard env create bfcl` creates one")
    else:
        rows = [(item.benchmark, item.version, str(item.folder)) for item in there]
        print_table("", ("benchmark", "version", "folder"), rows)


@app.command()
def remove(
    benchmark: Annotated[str, typer.Argument(help="Benchmark: bfcl, tau2.")],
    version: VersionOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remove the environments of a benchmark, fetched data included; without --version all of them.

    Example: `agenthard env remove bfcl --version 2025.7.17`
    """
    from audit.execution import venvs
    from audit.execution.environment import Unavailable
    from flows.errors import CommandError

    try:
        removed = venvs.remove(benchmark, version)
    except Unavailable as error:
        raise CommandError(str(error)) from error
    if as_json:
        print_json([item.model_dump(mode="json") for item in removed])
    else:
        for item in removed:
            typer.echo(f"{item.benchmark} {item.version} was removed")
