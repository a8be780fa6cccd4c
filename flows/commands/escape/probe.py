"""``agenthard escape probe``: ways of guessing without the hints, each measured against chance."""

from typing import TYPE_CHECKING, Annotated

import typer

from agenthard.flows.commands.escape.reading import PathsArgument, instances, one_message
from agenthard.flows.commands.output import JsonOption, print_json

if TYPE_CHECKING:
    from agenthard.escape.room import Instance


def probe(
    paths: PathsArgument,
    every: Annotated[bool, typer.Option("--every", help="List every probe, not only the shortcuts.")] = False,
    seed: Annotated[int, typer.Option(help="Seed of the learned probes.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Look for give-aways: ways of telling a needed value or a source without the hints, each against chance.

    Exit codes: 0 none found, 1 a give-away, 2 something could not be read and is left out.

    Example: `agenthard escape probe escape-suite`
    """
    from agenthard.audit.probes import read_scene, render, run_battery
    from agenthard.escape.probes import part_choices, value_choices
    from agenthard.escape.proof.structure import structure_problems
    from agenthard.flows.errors import ExitCode

    unreadable: list[str] = []
    sound: list[Instance] = []
    with one_message():
        for each in instances(paths, unreadable):
            broken = next(structure_problems(each), None)
            if broken:
                unreadable.append(f"{each.id} is inconsistent: {broken[1]}")
            else:
                sound.append(each)
        reports = {
            title: run_battery([read_scene(choices(each), f"{n}:{each.id}") for n, each in enumerate(sound)], seed)
            for title, choices in (("needed value or decoy", value_choices), ("which part feeds it", part_choices))
        }
    if as_json:
        dumped = {title: report.model_dump(mode="json") for title, report in reports.items()}
        print_json({**dumped, "unreadable": unreadable})
    else:
        for title, report in reports.items():
            typer.echo(f"{title}\n{render(report, every=every)}\n")
        for reason in unreadable:
            typer.echo(f"unreadable: {reason}", err=True)
    if any(report.give_aways() for report in reports.values()):
        raise typer.Exit(ExitCode.DEFECTS)
    if unreadable:
        raise typer.Exit(ExitCode.INCOMPLETE)
