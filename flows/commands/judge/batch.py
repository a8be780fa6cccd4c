"""``agenthard judge batch``: a judging through the providers' batches."""

from pathlib import Path
from typing import Annotated

import typer

from agenthard.flows.commands.judge.options import (
    SHOWN,
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
from agenthard.flows.commands.judge.show import show
from agenthard.flows.commands.output import JsonOption, console, error_console, print_json


def batch(
    run: RunArgument,
    judges: JudgesOption,
    out: OutOption = None,
    task: TaskOption = None,
    sample: SampleOption = None,
    runs: RunsOption = 0,
    wait: Annotated[
        float | None, typer.Option(min=1, help="Look again after so many seconds, until nothing is left.")
    ] = None,
    cancel: Annotated[bool, typer.Option("--cancel", help="Ask the providers to stop what is under way.")] = False,
    workers: WorkersOption = None,
    budget: Annotated[float | None, typer.Option(min=0, help="Most that models may cost.")] = None,
    token_budget: Annotated[int | None, typer.Option(min=1, help="Most tokens that models may use.")] = None,
    prices: Annotated[Path | None, typer.Option(help="Price table (YAML) that goes before ours.")] = None,
    benchmark: BenchmarkOption = None,
    as_json: JsonOption = False,
) -> None:
    """Judge through batches of OpenAI or Gemini, for less money: take in what has come back, hand over what is left.

    The same command goes on until every question has its answer; it never hands a request over twice.

    Exit codes: 0 every question has a verdict, 2 some are under way, ended in an error or were not asked.

    Example: `agenthard judge batch demo-run/demo --judges docs/examples/judges.yaml --wait 600`
    """
    from agenthard.flows.judging.batches import cancel_batches, run_batches
    from agenthard.flows.progress import show_progress

    settings = judging_settings(
        run,
        judges,
        out,
        benchmark,
        workers,
        tasks=tuple(task or ()),
        sample=sample,
        runs=runs,
        budget=budget,
        token_budget=token_budget,
        prices=str(prices) if prices else None,
    )
    if cancel:
        typer.echo(f"{cancel_batches(settings)} batches asked to stop; the same command without --cancel takes them in")
        return
    with show_progress(error_console()):
        outcome = run_batches(settings, wait)
    if as_json:
        print_json(outcome)
    else:
        show(outcome.judging)
        came, sent, out_ = outcome.intake, outcome.submission, console()
        errors = ", ".join(f"{name} {count:,}" for name, count in came.errors.items())
        out_.print(f"\ncame back {came.answered:,}; errors: {errors or 'none'}; handed over {sent.requests:,}")
        if sent.left:
            out_.print(f"left for want of budget: {sent.left:,}")
        for line in came.unreadable[:SHOWN]:
            out_.print(f"unreadable: {line}", markup=False)
        for tag, model, words in outcome.batches:
            out_.print(f"batch {tag} {model}: {words}", markup=False)
        for name in outcome.investigators:
            out_.print(f"not in batches: {name} looks things up as it goes: `judge run` asks it", markup=False)
    leave(outcome.judging.complete and not outcome.intake.waiting)
