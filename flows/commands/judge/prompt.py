"""``agenthard judge prompt``: what a judge is given."""

from pathlib import Path
from typing import Annotated

import typer

from agenthard.flows.commands.judge.options import (
    BenchmarkOption,
    RunArgument,
    RunsOption,
)
from agenthard.flows.commands.output import JsonOption, error_console, print_json


def prompt(
    run: RunArgument,
    task: Annotated[str, typer.Argument(help="Id of the task.")],
    judges: Annotated[
        Path | None, typer.Option(help="Judge file (YAML); default: one judge with its defaults.")
    ] = None,
    judge: Annotated[str | None, typer.Option(help="Judge of that file; default: the first.")] = None,
    runs: RunsOption = 0,
    benchmark: BenchmarkOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print the whole prompt that a judge gets for a task.

    Example: `agenthard judge prompt demo-run/demo library/27`
    """
    from agenthard.flows.judging.prompting import task_prompt

    found = task_prompt(run, task, judges, judge, runs, benchmark)
    if as_json:
        print_json(found)
        return
    for message in found.request.messages:
        typer.echo(f"[{message.role}]\n{message.text}\n")
    error_console().print(found.sentence, markup=False)
