"""``agenthard evaluate``: agents and models on a benchmark."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agenthard.flows.commands.output import JsonOption, console, error_console, print_json, print_table

if TYPE_CHECKING:
    from agenthard.flows.evaluation.publish import EvaluationOutcome
    from agenthard.flows.evaluation.settings import EvaluationSettings


_SHOWN = 5
"""Reasons of one kind that are printed; the manifest has all of them."""


def evaluate(
    benchmark: Annotated[str, typer.Argument(help="Name of the benchmark, such as ace.")],
    path: Annotated[Path, typer.Argument(help="File or folder with its tasks.")],
    agent: Annotated[
        list[str] | None, typer.Option(help="Agent without a model; repeatable. Default without models: a leaderboard.")
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(help="openai/NAME, google/NAME, compatible/NAME@BASE_URL or a model file (.yaml); repeatable."),
    ] = None,
    trials: Annotated[int, typer.Option(min=1, help="Episodes per agent, task and failure rate.")] = 1,
    failure_rate: Annotated[
        list[float] | None,
        typer.Option(min=0, max=1, help="Probability that a tool call fails on purpose; repeatable. Default: 0."),
    ] = None,
    setting: Annotated[
        list[str] | None, typer.Option("--set", help="Condition to play under, KEY=VALUE; repeatable.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of all chance.")] = 42,
    attempts: Annotated[int, typer.Option(min=1, help="Tries at an episode that infrastructure errors end.")] = 3,
    out: Annotated[Path, typer.Option(help="Run folder; the same command goes on where it was.")] = Path("evaluation"),
    workers: Annotated[int | None, typer.Option(min=1, help="Processes for agents; default: one per core.")] = None,
    in_flight: Annotated[int, typer.Option(min=1, help="Episodes that models play at the same time.")] = 64,
    budget: Annotated[float | None, typer.Option(min=0, help="Most that models may cost.")] = None,
    token_budget: Annotated[int | None, typer.Option(min=1, help="Most tokens that models may use.")] = None,
    prices: Annotated[Path | None, typer.Option(help="Price table (YAML) that goes before ours.")] = None,
    cache: Annotated[Path | None, typer.Option(help="File of cached replies; default: in the run folder.")] = None,
    compare: Annotated[
        list[Path] | None, typer.Option(help="Published results (CSV) to stand beside ours; repeatable.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what models would take and cost.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Evaluate agents and models: every episode once, resumable, with costs, tables, trajectories and a report.

    Exit codes: 0 every episode has a verdict, 2 some have none or some task cannot be read, 3 infrastructure (a model
    stopped; what was done is kept).

    Example: `agenthard evaluate ace ace-suite --agent solver --agent random --out evaluation`
    """
    from agenthard.flows.errors import CommandError, ExitCode
    from agenthard.flows.evaluation.benchmark import open_benchmark
    from agenthard.flows.evaluation.settings import EvaluationSettings
    from agenthard.flows.progress import show_progress
    from agenthard.models.model_file import load_model
    from agenthard.taxonomy.system import cpu_count

    options = _options(setting or ())
    agents = tuple(dict.fromkeys(agent or ()))
    if not agents and not model:
        agents = tuple(open_benchmark(benchmark, str(path), options, seed).default_agents())
    settings = EvaluationSettings(
        benchmark=benchmark,
        path=str(path),
        options=options,
        agents=agents,
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
        prices=str(prices) if prices else None,
        cache=str(cache) if cache else None,
        compare=tuple(map(str, compare or ())),
    )
    _check_inputs(settings)
    if dry_run:
        from agenthard.flows.evaluation.forecast import show_forecast

        show_forecast(settings, as_json=as_json)
        return
    try:
        with show_progress(error_console()):
            from agenthard.flows.evaluation.flow import run_evaluation

            outcome = run_evaluation(settings)
    except KeyboardInterrupt:
        raise CommandError("interrupted; finished episodes are kept: the same command goes on from there") from None
    if as_json:
        print_json(outcome)
    else:
        show_outcome(outcome)
    if outcome.stopped:
        raise CommandError("; ".join(f"{label} stopped: {reason}" for label, reason in outcome.stopped.items()))
    if not outcome.complete:
        raise typer.Exit(ExitCode.INCOMPLETE)


def _options(settings: "list[str] | tuple[()]") -> dict[str, str]:
    from agenthard.flows.errors import CommandError

    options = {}
    for text in settings:
        key, equals, value = text.partition("=")
        if not equals:
            raise CommandError(f"--set {text}: write KEY=VALUE")
        options[key.strip()] = value.strip()
    return options


def _check_inputs(settings: "EvaluationSettings") -> None:
    """Open everything before Prefect starts, so that a wrong name, key or path is refused at once."""
    from agenthard.flows.errors import CommandError
    from agenthard.flows.evaluation.clients import price_table
    from agenthard.models.providers.destination import Destination

    settings.open()
    labels = settings.contestants
    if twice := sorted({label for label in labels if labels.count(label) > 1}):
        raise CommandError(f"{', '.join(twice)} takes part twice; give each model file a label of its own")
    for file in settings.models:
        Destination.of(file)
    price_table(settings)
    for path in settings.compare:
        if not Path(path).is_file():
            raise CommandError(f"{path}: there is no file with published results here")


def show_outcome(outcome: "EvaluationOutcome") -> None:
    """Print what a reader needs in thirty seconds."""
    from agenthard.audit.statistics import Estimate

    out = console()
    out.print(
        f"{outcome.tasks:,} tasks, {outcome.settled:,} of {outcome.planned:,} episodes played, "
        f"{outcome.without_verdict:,} of them without a verdict; {len(outcome.unreadable):,} tasks cannot be read"
    )
    for reason in outcome.unreadable[:_SHOWN]:
        out.print(f"  cannot be read: {reason}", markup=False)
    for reason, count in list(outcome.infrastructure_errors.items())[:_SHOWN]:
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
        cost = "no price" if total.cost is None else f"{total.cost:.4f}"
        if total.not_stated:
            cost += f" at most ({total.not_stated:,} replies came without token counts)"
        out.print(
            f"{total.model} ({total.purpose}): {total.answered:,} replies, {total.prompt_tokens:,} + "
            f"{total.completion_tokens:,} tokens, cost {cost}; {total.cached:,} from the cache, "
            f"{total.failed:,} failed, {total.maybe_billed + total.unknown:,} unknown",
            markup=False,
        )
    out.print(f"\n{outcome.sentence}\n", markup=False)
    out.print(f"report       {outcome.report}\ntrajectories {outcome.trajectories}", markup=False)
    out.print(f"tables       {Path(outcome.folder) / 'tables'}", markup=False)
