"""``agenthard judge run``: ask a panel of models."""

from typing import Annotated

import typer

from agenthard.flows.commands.judge.options import (
    BenchmarkOption,
    JudgesOption,
    OutOption,
    RetryOption,
    RunArgument,
    RunsOption,
    SampleOption,
    TaskOption,
    WorkersOption,
    exit_incomplete,
    judging_settings,
)
from agenthard.flows.commands.judge.show import show, show_forecast
from agenthard.flows.commands.model_options import (
    BudgetOption,
    CacheOption,
    DryRunOption,
    PricesOption,
    TokenBudgetOption,
)
from agenthard.flows.commands.options import AddressOption, RunnerOption
from agenthard.flows.commands.output import JsonOption, error_console, print_json
from agenthard.flows.scale_out.runner import Runner


def run(
    run: RunArgument,
    judges: JudgesOption,
    out: OutOption = None,
    task: TaskOption = None,
    sample: SampleOption = None,
    runs: RunsOption = 0,
    retry: RetryOption = False,
    in_flight: Annotated[int, typer.Option(min=1, help="Questions that are asked at the same time.")] = 64,
    workers: WorkersOption = None,
    runner: RunnerOption = Runner.LOCAL,
    address: AddressOption = None,
    budget: BudgetOption = None,
    token_budget: TokenBudgetOption = None,
    prices: PricesOption = None,
    cache: CacheOption = None,
    benchmark: BenchmarkOption = None,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Judge the tasks of an audit and write a new report: resumable, within a budget, every request in the ledger.

    Exit codes: 0 every question has a verdict, 2 some questions ended in an error or were not asked, 3 infrastructure
    (a model cannot be asked anything more; all answers are kept).

    Example: `agenthard judge run demo-run/demo --judges docs/examples/judges.yaml --dry-run`
    """
    from agenthard.flows.errors import InfrastructureError
    from agenthard.flows.scale_out.settings import ScaleOut

    settings = judging_settings(
        run, judges, out, task, sample=sample, runs=runs, retry=retry, in_flight=in_flight, workers=workers,
        budget=budget, token_budget=token_budget, prices=prices, cache=cache, benchmark=benchmark,
        scale_out=ScaleOut(runner=runner, address=address),
    )  # fmt: skip
    settings.scale_out.check_address()
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
        raise InfrastructureError("interrupted; all answers are kept: run the same command to resume") from None
    if as_json:
        print_json(outcome)
    else:
        show(outcome)
    if outcome.stopped:
        raise InfrastructureError(outcome.stopped)
    exit_incomplete(outcome.complete)
