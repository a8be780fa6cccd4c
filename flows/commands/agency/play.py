"""``agenthard agency play``: one agent plays one scenario, attempt by attempt; a killed play continues."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agenthard.flows.commands.output import JsonOption, print_json, print_table

if TYPE_CHECKING:
    from agenthard.agency.evaluation import AgencyTask
    from agenthard.flows.evaluation.settings import EvaluationSettings
    from agenthard.play.chain import PlayedChain


def play(
    suite: Annotated[Path, typer.Argument(help="Suite of scenarios.")],
    scenario: Annotated[str, typer.Argument(help="Id of the scenario.")],
    agent: Annotated[str | None, typer.Option(help="Solution, script:FILE, replay:FILE or command:COMMAND.")] = None,
    model: Annotated[str | None, typer.Option(help="openai/NAME, google/NAME or a model file (.yaml).")] = None,
    setting: Annotated[list[str] | None, typer.Option("--set", help="Condition to play under, KEY=VALUE.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of all randomness.")] = 42,
    out: Annotated[Path, typer.Option(help="Run folder; the same command continues a play.")] = Path("agency-play"),
    as_json: JsonOption = False,
) -> None:
    """Play one scenario and show every attempt; runs and rollouts are written as `agenthard evaluate` writes them.

    Exit codes: 0 the scenario passed, 1 not, 2 the play has no verdict, 64 no such scenario, agent or condition.

    Example: `agenthard agency play agency-suite research --agent reference`
    """
    from agenthard.flows.errors import CommandError, ExitCode

    if (agent is None) == (model is None):
        raise CommandError("give one of --agent and --model")
    settings = _settings(suite, agent, model, setting or [], seed, out)
    task = _task(settings, scenario)
    played = asyncio.run(_played(settings, task))
    summary = played.summary
    _write(played, out)
    if as_json:
        print_json({"summary": summary, "attempts": [_row(part.trajectory.model_dump()) for part in played.parts]})
    else:
        rows = [tuple(map(str, _row(part.trajectory.model_dump()).values())) for part in played.parts]
        columns = ("task", "attempt", "score", "passed", "ended", "calls", "changed files")
        print_table("", columns, rows, right=("attempt", "score", "calls", "changed files"))
        typer.echo(f"\n{_verdict(played)}\nrollouts  {out / 'rollouts.jsonl.gz'}")
    if summary.status == "infrastructure_error":
        raise typer.Exit(ExitCode.INCOMPLETE)
    if not summary.passed:
        raise typer.Exit(ExitCode.DEFECTS)


def _settings(
    suite: Path, agent: str | None, model: str | None, texts: list[str], seed: int, out: Path
) -> "EvaluationSettings":
    from agenthard.flows.errors import CommandError
    from agenthard.flows.evaluation.settings import EvaluationSettings
    from agenthard.models.model_file import load_model

    pairs = [text.partition("=") for text in texts]
    if bad := [text for text, (_, equals, _) in zip(texts, pairs, strict=True) if not equals]:
        raise CommandError(f"--set {bad[0]}: write KEY=VALUE")
    return EvaluationSettings(
        benchmark="agency",
        path=str(suite),
        options={key.strip(): value.strip() for key, _, value in pairs},
        agents=(agent,) if agent else (),
        models=(load_model(model),) if model else (),
        seed=seed,
        out=str(out),
    )


def _task(settings: "EvaluationSettings", scenario: str) -> "AgencyTask":
    from agenthard.agency.evaluation import AgencyTask
    from agenthard.flows.errors import CommandError
    from agenthard.flows.evaluation.flow import check_identity

    found = {task.id: task for task in settings.open().tasks() if isinstance(task, AgencyTask)}
    if scenario not in found:
        raise CommandError(f"{settings.path}: no scenario {scenario!r}; there are: {', '.join(found)}")
    check_identity(settings)
    return found[scenario]


async def _played(settings: "EvaluationSettings", task: "AgencyTask") -> "PlayedChain":
    from agenthard.flows.evaluation.episodes import Episode
    from agenthard.flows.evaluation.play import open_client, room_of
    from agenthard.flows.evaluation.store import EpisodeStore
    from agenthard.flows.evaluation.workers import exclusive

    store = EpisodeStore(settings.folder.store)
    (name,), file = settings.contestants, next(iter(settings.models), None)
    episode = Episode(name, task.id, 0.0, 0)
    try:
        with exclusive(settings.folder.lock):
            async with open_client(settings) as client:
                room = room_of(settings, store, episode, client)
                return await task.play_chain(name, file, episode.condition, 0.0, 0, room)
    finally:
        store.close()


def _write(played: "PlayedChain", out: Path) -> None:
    import gzip
    import json

    for name, lines in (
        ("trajectories.jsonl.gz", [part.trajectory.model_dump_json() for part in played.parts]),
        ("rollouts.jsonl.gz", [json.dumps(part.record, ensure_ascii=False) for part in played.parts]),
    ):
        with (out / name).open("wb") as file, gzip.GzipFile("", "wb", 5, file, mtime=0) as packed:
            packed.write("".join(f"{line}\n" for line in lines).encode("utf-8"))


def _row(run: dict[str, object]) -> dict[str, object]:
    usage = run["usage"]
    counts = {name: int(usage.get(name, 0)) for name in ("calls", "changed_files")} if isinstance(usage, dict) else {}
    score = run["score"]
    return {
        "task": run["task_id"],
        "attempt": run["trial"],
        "score": f"{score:g}" if isinstance(score, float) else "-",
        "passed": run["passed"],
        "ended": run["ending"],
        **counts,
    }


def _verdict(played: "PlayedChain") -> str:
    summary = played.summary
    if summary.status == "infrastructure_error":
        return f"no verdict: {summary.status_reason}"
    verdict = "passed" if summary.passed else "not passed"
    return f"{summary.task_id}: {10 * (summary.score or 0):.2f} of 10, {verdict}"
