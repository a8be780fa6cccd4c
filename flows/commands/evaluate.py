"""``agenthard evaluate``: evaluate agents and models on a benchmark."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agenthard.flows.commands.model_options import (
    BudgetOption,
    CacheOption,
    DryRunOption,
    PricesOption,
    TokenBudgetOption,
    describe_total,
    optional_path,
    print_estimates,
)
from agenthard.flows.commands.options import AddressOption, RunnerOption
from agenthard.flows.commands.output import JsonOption, console, error_console, print_json, print_table
from agenthard.flows.scale_out.runner import Runner

if TYPE_CHECKING:
    from agenthard.flows.evaluation.publish import EvaluationOutcome
    from agenthard.flows.evaluation.settings import EvaluationSettings

_MAX_SHOWN = 5
"""Reasons of one kind that are printed; the manifest has all of them."""


AgentOption = Annotated[
    list[str] | None,
    typer.Option(help="Agent without a model; repeatable. Default without models: a leaderboard."),
]
ModelOption = Annotated[
    list[str] | None,
    typer.Option(help="openai/NAME, google/NAME, compatible/NAME@BASE_URL or a model file (.yaml); repeatable."),
]
FailureRateOption = Annotated[
    list[float] | None,
    typer.Option(min=0, max=1, help="Probability that a tool call fails on purpose; repeatable. Default: 0."),
]
SettingOption = Annotated[
    list[str] | None,
    typer.Option("--set", help="Condition to play under, KEY=VALUE; a key given twice is played under both values."),
]
CompareOption = Annotated[
    list[Path] | None, typer.Option(help="Published results (CSV) to compare with, or `paper`; repeatable.")
]
AttemptsOption = Annotated[
    int, typer.Option(min=1, help="Maximum attempts at an episode that ends in an infrastructure error.")
]


def evaluate(
    benchmark: Annotated[str, typer.Argument(help="Name of the benchmark, such as ace.")],
    path: Annotated[Path, typer.Argument(help="File or folder with its tasks.")],
    agent: AgentOption = None,
    model: ModelOption = None,
    trials: Annotated[int, typer.Option(min=1, help="Episodes per agent, task and failure rate.")] = 1,
    failure_rate: FailureRateOption = None,
    setting: SettingOption = None,
    seed: Annotated[int, typer.Option(help="Seed of all randomness.")] = 42,
    attempts: AttemptsOption = 3,
    out: Annotated[Path, typer.Option(help="Run folder; the same command resumes it.")] = Path("evaluation"),
    workers: Annotated[int | None, typer.Option(min=1, help="Processes for agents; default: one per core.")] = None,
    runner: RunnerOption = Runner.LOCAL,
    address: AddressOption = None,
    in_flight: Annotated[int, typer.Option(min=1, help="Episodes that models play at the same time.")] = 64,
    budget: BudgetOption = None,
    token_budget: TokenBudgetOption = None,
    prices: PricesOption = None,
    cache: CacheOption = None,
    compare: CompareOption = None,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Evaluate agents and models: resumable episode by episode, with costs, tables, trajectories and a report.

    Exit codes: 0 every episode has a verdict, 2 some episodes have none or some tasks cannot be read, 3 infrastructure
    (a model stopped; all results are kept).

    Example: `agenthard evaluate ace ace-suite --agent solver --agent random --out evaluation`
    """
    from agenthard.flows.evaluation.settings import EvaluationSettings
    from agenthard.flows.scale_out.settings import ScaleOut
    from agenthard.models.model_file import load_model
    from agenthard.taxonomy.system import cpu_count

    options, axes = _parse_conditions(setting or [])
    settings = EvaluationSettings(
        benchmark=benchmark,
        path=str(path),
        options=options,
        axes=axes,
        agents=_select_agents(benchmark, path, options, seed, agent or [], bool(model)),
        models=tuple(map(load_model, dict.fromkeys(model or ()))),
        trials=trials,
        failure_rates=tuple(sorted(set(failure_rate or (0.0,)))),
        seed=seed,
        attempts=attempts,
        out=str(out),
        workers=workers or cpu_count(),
        in_flight=in_flight,
        budget=budget,
        token_budget=token_budget,
        prices=optional_path(prices),
        cache=optional_path(cache),
        compare=tuple(map(str, compare or ())),
        scale_out=ScaleOut(runner=runner, address=address),
    )
    _check_inputs(settings)
    if dry_run:
        _show_forecast(settings, as_json)
    else:
        _evaluate(settings, as_json)


def _evaluate(settings: "EvaluationSettings", as_json: bool) -> None:
    from agenthard.flows.errors import ExitCode, InfrastructureError
    from agenthard.flows.progress import show_progress

    try:
        with show_progress(error_console()):
            from agenthard.flows.evaluation.flow import run_evaluation

            outcome = run_evaluation(settings)
    except KeyboardInterrupt:
        raise InfrastructureError("interrupted; finished episodes are kept: run the same command to resume") from None
    if as_json:
        print_json(outcome)
    else:
        show_outcome(outcome)
    if outcome.stopped:
        raise InfrastructureError("; ".join(f"{label} stopped: {reason}" for label, reason in outcome.stopped.items()))
    if not outcome.complete:
        raise typer.Exit(ExitCode.INCOMPLETE)


def _select_agents(
    benchmark: str, path: Path, options: dict[str, str], seed: int, agents: list[str], has_models: bool
) -> tuple[str, ...]:
    """Return the agents without a model; without any agent or model, those of the benchmark's default leaderboard."""
    from agenthard.flows.evaluation.benchmark import open_benchmark

    if agents or has_models:
        return tuple(dict.fromkeys(agents))
    return tuple(open_benchmark(benchmark, str(path), options, seed).default_agents())


def _parse_conditions(texts: list[str]) -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
    """Return the conditions with one value, and those with several."""
    from agenthard.flows.errors import CommandError
    from agenthard.flows.evaluation.settings import options_and_axes

    given: dict[str, list[str]] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals:
            raise CommandError(f"--set {text}: write KEY=VALUE")
        given.setdefault(key.strip(), []).append(value.strip())
    return options_and_axes(given)


def _check_inputs(settings: "EvaluationSettings") -> None:
    """Open everything before Prefect starts, so that a wrong name, key or path is reported at once."""
    from agenthard.flows.errors import CommandError
    from agenthard.flows.evaluation.publish import read_compared
    from agenthard.flows.evaluation.settings import PAPER
    from agenthard.models.providers.destination import Destination

    settings.scale_out.check_address()
    settings.open()
    labels = settings.contestants
    if twice := sorted({label for label in labels if labels.count(label) > 1}):
        raise CommandError(f"{', '.join(twice)} takes part twice; give each model file its own label")
    for file in settings.models:
        Destination.of(file)
    settings.price_table()
    for path in settings.compare:
        if path != PAPER and not Path(path).is_file():
            raise CommandError(f"{path}: no such file with published results")
    if settings.compare:
        for _, benchmark in settings.open_variants():
            read_compared(settings.compare, benchmark.declared)


def _show_forecast(settings: "EvaluationSettings", as_json: bool) -> None:
    """Print the estimated cost; nothing is sent."""
    from agenthard.flows.evaluation.forecast import PLAYS, forecast

    found = forecast(settings)
    known = {each.label for each in found if each.purpose != PLAYS}
    if unknown := [file.label for file in settings.helpers() if file.label not in known]:
        error_console().print(f"not estimated: {', '.join(unknown)}, asked besides the agents", markup=False)
    if as_json:
        print_json([each.model_dump(mode="json") for each in found])
        return
    rows = [
        (each.label, f"{each.episodes:,} ({each.begun:,} begun)", each.takes)
        if each.purpose == PLAYS
        else (f"{each.label} ({each.purpose})", f"{each.episodes:,}", each.takes)
        for each in found
    ]
    print_estimates("model", "episodes", rows, settings.price_table().currency)


def show_outcome(outcome: "EvaluationOutcome") -> None:
    """Print the result in a few lines."""
    from agenthard.audit.statistics import Estimate

    out = console()
    out.print(
        f"{outcome.tasks:,} tasks, {outcome.settled:,} of {outcome.planned:,} episodes played, "
        f"{outcome.without_verdict:,} of them without a verdict; {len(outcome.unreadable):,} tasks cannot be read"
    )
    for reason in outcome.unreadable[:_MAX_SHOWN]:
        out.print(f"  cannot be read: {reason}", markup=False)
    for reason, count in list(outcome.infrastructure_errors.items())[:_MAX_SHOWN]:
        out.print(f"  infrastructure errors: {count:,} attempts: {reason}", markup=False)
    rows = []
    for row in outcome.board:
        score = row.final.score
        accuracy = "undefined"
        if isinstance(score, Estimate):
            accuracy = f"{score.value:.3f} [{score.low:.3f}, {score.high:.3f}]"
        rows.append((row.agent, f"{row.final.passed}/{row.final.scored}", accuracy, f"{row.run}/{row.planned}"))
    print_table("", ("agent", "passed", "score [95 %]", "played"), rows, right=("passed", "played"))
    for total in outcome.costs:
        out.print(describe_total(total, f"{total.model} ({total.purpose})"), markup=False)
    out.print(f"\n{outcome.sentence}\n", markup=False)
    out.print(f"report       {outcome.report}\ntrajectories {outcome.trajectories}", markup=False)
    out.print(f"tables       {Path(outcome.folder) / 'tables'}", markup=False)
