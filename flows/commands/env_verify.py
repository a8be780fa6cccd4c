"""``agenthard env verify``: whether our own tools still do what the benchmark's code does."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agenthard.flows.commands.output import JsonOption, print_json, print_table
from agenthard.flows.errors import ExitCode

if TYPE_CHECKING:
    from agenthard.audit.execution.tau.fidelity import DomainFidelity, Tally

SHOWN, WIDTH = 20, 400
"""Differences that are printed, and characters of each side."""


def verify(
    benchmark: Annotated[str, typer.Argument(help="Benchmark: tau2, tau-bench.")],
    checkout: Annotated[Path, typer.Option(help="Folder with the benchmark's own code (run contained).")],
    data: Annotated[Path | None, typer.Option(help="Folder with the tasks; the checkout itself when left out.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Carry out every call of every ground truth by ours and by the benchmark's code, and compare.

    Exit code 1 when a tool is read differently, a call answers differently or an end state differs; 2 when tasks of a
    domain that we execute could not be compared.

    Example: `agenthard env verify tau2 --checkout tau2-bench`
    """
    from agenthard.audit.execution.tau.fidelity import verify_checkout

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
