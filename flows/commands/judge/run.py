"""``agenthard judge run``: ask a panel of models."""

from pathlib import Path
from typing import Annotated

import typer

from agenthard.flows.commands.judge.options import (
    BenchmarkOption,
    JudgesOption,
    OutOption,
    RunArgument,
    RunsOption,
    SampleOption,
    TaskOption,
    WorkersOption,
    judging_settings,
    leave,
)
from agenthard.flows.commands.judge.show import show, show_forecast
from agenthard.flows.commands.output import JsonOption, error_console, print_json


def run(
    run: RunArgument,
    judges: JudgesOption,
    out: OutOption = None,
    task: TaskOption = None,
    sample: SampleOption = None,
    runs: RunsOption = 0,
    retry: Annotated[bool, typer.Option("--retry", help="Ask again what ended in an error.")] = False,
    in_flight: Annotated[int, typer.Option(min=1, help="Questions that are asked at the same time.")] = 64,
    workers: WorkersOption = None,
    budget: Annotated[float | None, typer.Option(min=0, help="Most that models may cost.")] = None,
    token_budget: Annotated[int | None, typer.Option(min=1, help="Most tokens that models may use.")] = None,
    prices: Annotated[Path | None, typer.Option(help="Price table (YAML) that goes before ours.")] = None,
    cache: Annotated[Path | None, typer.Option(help="File of cached replies; default: in the folder.")] = None,
    benchmark: BenchmarkOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what it would take and cost.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Judge the tasks of an audit and conclude anew: every question once, resumable, within a budget, on the books.

    Exit codes: 0 every question has a verdict, 2 some ended in an error or were not asked, 3 infrastructure (nothing
    more could be asked; what is answered was kept).

    Example: `agenthard judge run demo-run/demo --judges docs/examples/judges.yaml --dry-run`
    """
    from agenthard.flows.errors import CommandError

    settings = judging_settings(
        run,
        judges,
        out,
        benchmark,
        workers,
        tasks=tuple(task or ()),
        sample=sample,
        runs=runs,
        retry=retry,
        in_flight=in_flight,
        budget=budget,
        token_budget=token_budget,
        prices=str(prices) if prices else None,
        cache=str(cache) if cache else None,
    )
    settings.price_table()
    if dry_run:
        show_forecast(settings, as_json)
        return
    from agenthard.flows.judging.run import run_judging
    from agenthard.flows.progress import show_progress
    from agenthard.models.providers.destination import Destination

    for file in settings.models:
        Destination.of(file)
    try:
        with show_progress(error_console()):
            outcome = run_judging(settings)
    except KeyboardInterrupt:
        raise CommandError("interrupted; what is answered is kept: the same command goes on from there") from None
    if as_json:
        print_json(outcome)
    else:
        show(outcome)
    if outcome.stopped:
        raise CommandError(outcome.stopped)
    leave(outcome.complete)
