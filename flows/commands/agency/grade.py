"""``agenthard agency grade``: the rule judge on a folder."""

from pathlib import Path
from typing import Annotated

import typer

from agenthard.flows.commands.agency.reading import graded
from agenthard.flows.commands.output import JsonOption, print_json, print_table

WeakOption = Annotated[
    bool, typer.Option("--allow-weak-isolation", help="Run programs although this machine lacks a layer of isolation.")
]


def grade(
    suite: Annotated[Path, typer.Argument(help="Suite of scenarios.")],
    task: Annotated[str, typer.Argument(help="Id of the task.")],
    folder: Annotated[Path, typer.Argument(help="Folder that an agent left; it is copied and not changed.")],
    weak_isolation: WeakOption = False,
    as_json: JsonOption = False,
) -> None:
    """Grade a folder as the workspace that a task left, criterion by criterion; its programs run in jobs.

    Exit codes: 0 passed, 1 not passed, 64 no such task or folder, or it cannot be graded here.

    Example: `agenthard agency grade agency-suite research-task1 work`
    """
    from agenthard.flows.errors import ExitCode

    with graded(suite, task, folder, weak_isolation) as found:
        result = found.grade
    if as_json:
        print_json(result)
    else:
        rows = [(each.criterion, f"{each.share:.0%}", each.reason) for each in result.criteria]
        print_table("", ("criterion", "met", "reason"), rows, right=("met",))
        verdict = "passed" if result.passed else "not passed"
        typer.echo(f"\n{result.score:g} of 10, {verdict}; snapshot {result.snapshot[:16]}")
    if not result.passed:
        raise typer.Exit(ExitCode.DEFECTS)
