"""``agenthard ace probe``: ways of guessing the answer, each measured against chance."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from agenthard.flows.commands.ace.reading import PathsArgument, instances, one_message
from agenthard.flows.commands.output import JsonOption, print_json

if TYPE_CHECKING:
    from pathlib import Path

    from agenthard.audit.probes.candidates import Scene


def probe(
    paths: PathsArgument,
    every: Annotated[bool, typer.Option("--every", help="List every probe, not only the shortcuts.")] = False,
    seed: Annotated[int, typer.Option(help="Seed of the learned probes.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Look for shortcuts: ways of guessing the answer without the rules, each measured against chance.

    Exit codes: 0 none found, 1 a shortcut, 2 something could not be read and is left out.

    Example: `agenthard ace probe ace-suite`
    """
    from agenthard.audit.probes import render, run_battery
    from agenthard.flows.errors import ExitCode

    unreadable: list[str] = []
    with one_message():
        report = run_battery(list(_scenes(paths, unreadable)), seed)
    if as_json:
        print_json({**report.model_dump(mode="json"), "unreadable": unreadable})
    else:
        typer.echo(render(report, every=every))
        for reason in unreadable:
            typer.echo(f"unreadable: {reason}", err=True)
    if report.give_aways():
        raise typer.Exit(ExitCode.DEFECTS)
    if unreadable:
        raise typer.Exit(ExitCode.INCOMPLETE)


def _scenes(paths: "list[Path]", unreadable: list[str]) -> "Iterator[Scene]":
    """Yield what the probes need of each instance; an inconsistent instance is left out with the reason."""
    from agenthard.ace.probes import candidates_of
    from agenthard.ace.proof.structure import structure_problems
    from agenthard.audit.probes import read_scene

    for number, instance in enumerate(instances(paths, unreadable)):
        broken = next(structure_problems(instance), None)
        if broken:
            unreadable.append(f"{instance.id} is inconsistent: {broken[1]}")
        else:
            yield read_scene(candidates_of(instance, slack=True), f"{number}:{instance.id}")
