"""``agenthard judge prompt``: the prompt of a judge."""

from pathlib import Path
from typing import Annotated

import typer

from agenthard.flows.commands.judge.options import BenchmarkOption, RunArgument, RunsOption
from agenthard.flows.commands.output import JsonOption, error_console, print_json


def prompt(
    run: RunArgument,
    task: Annotated[str, typer.Argument(help="Id of the task.")],
    judges: Annotated[
        Path | None, typer.Option(help="Judge file (YAML); default: one judge with default settings.")
    ] = None,
    judge: Annotated[str | None, typer.Option(help="A judge of that file; default: the first.")] = None,
    runs: RunsOption = 0,
    benchmark: BenchmarkOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print the complete prompt of a judge for a task.

    Example: `agenthard judge prompt demo-run/demo library/27`
    """
    from agenthard.flows.judging.prompts import task_prompt

    found = task_prompt(run, task, judges, judge, runs, benchmark)
    if as_json:
        print_json(found)
        return
    for message in found.request.messages:
        typer.echo(f"[{message.role}]\n{message.text}\n")
    error_console().print(found.sentence, markup=False)
