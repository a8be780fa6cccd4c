"""``agenthard judge batch``: a judging through the providers' batches."""

from typing import Annotated

import typer

from agenthard.flows.commands.judge.options import (
    MAX_SHOWN,
    BenchmarkOption,
    JudgesOption,
    OutOption,
    RunArgument,
    RunsOption,
    SampleOption,
    TaskOption,
    WorkersOption,
    exit_incomplete,
    judging_settings,
)
from agenthard.flows.commands.judge.show import show
from agenthard.flows.commands.model_options import BudgetOption, PricesOption, TokenBudgetOption
from agenthard.flows.commands.output import JsonOption, console, error_console, print_json


def batch(
    run: RunArgument,
    judges: JudgesOption,
    out: OutOption = None,
    task: TaskOption = None,
    sample: SampleOption = None,
    runs: RunsOption = 0,
    wait: Annotated[
        float | None, typer.Option(min=1, help="Poll again after this many seconds, until nothing is left.")
    ] = None,
    cancel: Annotated[bool, typer.Option("--cancel", help="Ask the providers to cancel all running batches.")] = False,
    workers: WorkersOption = None,
    budget: BudgetOption = None,
    token_budget: TokenBudgetOption = None,
    prices: PricesOption = None,
    benchmark: BenchmarkOption = None,
    as_json: JsonOption = False,
) -> None:
    """Judge through batches of OpenAI or Gemini at a lower price: collect finished answers, submit open requests.

    Repeat the command until every question has an answer; no request is submitted twice.

    Exit codes: 0 every question has a verdict, 2 some are in progress, ended in an error or were not asked.

    Example: `agenthard judge batch demo-run/demo --judges docs/examples/judges.yaml --wait 600`
    """
    from agenthard.flows.judging.batches import cancel_batches, run_batches
    from agenthard.flows.progress import show_progress

    settings = judging_settings(
        run, judges, out, task, sample=sample, runs=runs, workers=workers, budget=budget, token_budget=token_budget,
        prices=prices, benchmark=benchmark,
    )  # fmt: skip
    if cancel:
        count = cancel_batches(settings)
        typer.echo(f"cancelling {count} batches; the same command without --cancel collects their answers")
        return
    with show_progress(error_console()):
        outcome = run_batches(settings, wait)
    if as_json:
        print_json(outcome)
    else:
        show(outcome.judging)
        collected, submitted, out_ = outcome.intake, outcome.submission, console()
        errors = ", ".join(f"{name} {count:,}" for name, count in collected.errors.items())
        out_.print(f"\ncollected {collected.answered:,}; errors: {errors or 'none'}; submitted {submitted.requests:,}")
        if submitted.left:
            out_.print(f"not submitted, since they exceed the budget: {submitted.left:,}")
        for line in collected.unreadable[:MAX_SHOWN]:
            out_.print(f"not valid JSON: {line}", markup=False)
        for tag, model, message in outcome.batches:
            out_.print(f"batch {tag} {model}: {message}", markup=False)
        for name in outcome.investigators:
            out_.print(f"not in batches: {name} looks things up; use `judge run`", markup=False)
    exit_incomplete(outcome.judging.complete and not outcome.intake.waiting)
