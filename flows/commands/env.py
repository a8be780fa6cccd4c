"""``agenthard env`` and ``agenthard fetch``: environments for benchmark code, and benchmarks from the package index."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agenthard.flows.commands.output import JsonOption, error_console, print_json, print_table
from agenthard.flows.logs import log

if TYPE_CHECKING:
    from agenthard.audit.execution.tau.fidelity import DomainFidelity, Tally

app = typer.Typer(
    name="env",
    help="Create, list, remove and verify what a benchmark's own code runs in.",
    no_args_is_help=True,
)

VersionOption = Annotated[str | None, typer.Option(help="Release of the benchmark's package.")]
UnpinnedOption = Annotated[
    bool, typer.Option("--unpinned", help="Install a release although no hash of its files is known.")
]


SHOWN, WIDTH = 20, 400
"""Differences that are printed, and characters of each side."""


def warn_unpinned(benchmark: str, version: str) -> None:
    """Warn that no hash of the files of the release is known."""
    from agenthard.audit.execution import managed_environments

    if (benchmark, version) not in managed_environments.pinned():
        log.warning("warning: %s %s was installed unpinned: no hash of its files is known", benchmark, version)


@app.command()
def create(
    benchmark: Annotated[str, typer.Argument(help="Benchmark: bfcl, tau2.")],
    version: VersionOption = None,
    unpinned: UnpinnedOption = False,
    as_json: JsonOption = False,
) -> None:
    """Create the environment of a benchmark from the package index; an existing one is kept.

    Several releases can be installed side by side; each task is executed by the code of its own release.

    Example: `agenthard env create bfcl --version 2026.3.23`
    """
    from agenthard.audit.execution import managed_environments
    from agenthard.flows.progress import current, show_progress

    with show_progress(error_console()):
        current().start(f"installing the environment of {benchmark}")
        made = managed_environments.create(benchmark, version, unpinned=unpinned)
    warn_unpinned(benchmark, made.version)
    if as_json:
        print_json(made)
    else:
        packages = ", ".join(f"{name} {release}" for name, release in made.packages.items())
        typer.echo(f"{benchmark} {made.version} is installed ({packages})")


@app.command("list")
def list_environments(as_json: JsonOption = False) -> None:
    """List the environments that exist and the releases that can be created; with --json only the existing ones.

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

    removed = managed_environments.remove(benchmark, version)
    if as_json:
        print_json([item.model_dump(mode="json") for item in removed])
    else:
        for item in removed:
            typer.echo(f"{item.benchmark} {item.version} was removed")


@app.command()
def verify(
    benchmark: Annotated[str, typer.Argument(help="Benchmark: tau2, tau-bench.")],
    checkout: Annotated[Path, typer.Option(help="Folder with the benchmark's own code (run contained).")],
    data: Annotated[Path | None, typer.Option(help="Folder with the tasks; the checkout itself when left out.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Execute every ground-truth call with our tools and with the benchmark's code, and compare.

    Exit code 1 when a tool is read differently, a call answers differently or an end state differs; 2 when tasks of a
    domain that we can execute could not be compared.

    Example: `agenthard env verify tau2 --checkout tau2-bench`
    """
    from agenthard.audit.execution.tau.fidelity import verify_checkout
    from agenthard.flows.errors import ExitCode

    found = verify_checkout(benchmark, checkout, data or checkout)
    if as_json:
        print_json(found)
    else:
        _show(found)
    if any(domain.differences for domain in found):
        raise typer.Exit(ExitCode.DEFECTS)
    if any(domain.failed for domain in found) or not any(domain.tasks for domain in found):
        raise typer.Exit(ExitCode.INCOMPLETE)


def _show(found: "list[DomainFidelity]") -> None:
    columns = ("domain", "tasks", "read alike", "calls run", "calls equal", "end states equal")
    rows = [
        (
            domain.domain,
            str(domain.tasks),
            _equal(domain.read),
            str(domain.run),
            _equal(domain.calls),
            _equal(domain.states),
        )
        for domain in found
    ]
    print_table("", columns, rows, right=columns[1:])
    typer.echo("read alike: tools as shown to a model, and the policy; calls run: by the benchmark's code")
    for domain in found:
        for what, reasons in (("has nothing of ours to compare", domain.without), ("failed", domain.failed)):
            for reason, count in reasons.items():
                typer.echo(f"{domain.domain}: {count} of {domain.tasks} tasks: {what}: {reason}")
        if domain.only_in_code:
            names = ", ".join(domain.only_in_code)
            typer.echo(f"{domain.domain}: tools of the code that these data, of another release, do not list: {names}")
    differences = [difference for domain in found for difference in domain.differences]
    for difference in differences[:SHOWN]:
        typer.echo(f"\n{difference.place} differs")
        typer.echo(f"    ours:   {_short(difference.ours)}\n    theirs: {_short(difference.theirs)}")
    if len(differences) > SHOWN:
        typer.echo(f"\nand {len(differences) - SHOWN} more differences; --json lists all")


def _equal(tally: "Tally") -> str:
    return f"{tally.equal} of {tally.total}" if tally.total else "-"


def _short(text: str) -> str:
    return text if len(text) <= WIDTH else f"{text[:WIDTH]} … ({len(text):,} characters)"


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
    from agenthard.audit.sources.fetch import fetch as bring
    from agenthard.flows.progress import current, show_progress

    with show_progress(error_console()):
        current().start(f"fetching {benchmark} and what its code needs")
        found = bring(benchmark, version, unpinned=unpinned)
    warn_unpinned(benchmark, found.version)
    if as_json:
        print_json({"benchmark": benchmark, "version": found.version, "path": str(found.path), "data": str(found.data)})
    else:
        typer.echo(f"{benchmark} {found.version} is at {found.data}\nnext: agenthard audit {benchmark} {found.data}")
