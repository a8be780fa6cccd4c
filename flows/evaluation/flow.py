"""The flow ``evaluate``: store the tasks, play the episodes, publish. One stage runs one process."""

import asyncio
import gc
import json
import multiprocessing
import threading
import time
from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager

from agenthard.flows.checksums import write_checksums
from agenthard.flows.errors import CommandError
from agenthard.flows.evaluation.episodes import TaskFacts
from agenthard.flows.evaluation.play import EpisodeLoop, converse_with, open_client, play_all
from agenthard.flows.evaluation.progress import show_episodes
from agenthard.flows.evaluation.publish import EvaluationOutcome, publish_evaluation
from agenthard.flows.evaluation.settings import EvaluationFolder, EvaluationSettings
from agenthard.flows.evaluation.store import EpisodeStore
from agenthard.flows.evaluation.workers import exclusive, release_dead
from agenthard.flows.job_status import reported
from agenthard.flows.logs import bound
from agenthard.flows.progress import current
from agenthard.flows.run_folder import write_json
from agenthard.flows.scale_out.runner import Runner
from agenthard.flows.stages import run_flow, stage
from agenthard.taxonomy.system import follow_parent

_POLL_SECONDS = 0.5


@stage("prepare")
def prepare(settings: EvaluationSettings) -> int:
    """Create or resume the run folder, store its tasks, and return their number."""
    benchmark = settings.open()
    check_identity(settings)
    store = EpisodeStore(settings.folder.store)
    try:
        store.add_tasks(TaskFacts(id=t.id, group=t.group, facts=dict(t.facts)) for t in benchmark.tasks())
        release_dead(settings.folder.workers, store)
        return sum(1 for _ in store.tasks())
    finally:
        store.close()


@stage("play", "play in process {number}")
def play(pool: ProcessPoolExecutor, settings: EvaluationSettings, number: int) -> int:
    """Let agents without a model play in one process."""
    played: Future[int] = pool.submit(play_all, settings)
    return played.result()


@stage("converse")
def converse(settings: EvaluationSettings, over: threading.Event) -> dict[str, str]:
    """Let models play until the evaluation is over; returns why models stopped, by label."""
    return asyncio.run(play_models(settings, over))


@stage("publish")
def publish(settings: EvaluationSettings, stopped: dict[str, str]) -> EvaluationOutcome:
    """Write tables, trajectories and the report."""
    with exclusive(settings.folder.lock):
        outcome = publish_evaluation(settings, stopped)
        write_checksums(settings.folder.root)
        return outcome


def evaluate(settings: EvaluationSettings) -> EvaluationOutcome:
    """Evaluate agents on a benchmark into a run folder. Finished episodes of an interrupted run are not repeated."""
    current().start("reading the tasks")
    tasks = prepare(settings)
    with show_episodes(settings, tasks):
        if settings.scale_out.runner is Runner.LOCAL:
            stopped = _play_here(settings, tasks)
        else:
            stopped = _play_elsewhere(settings, tasks)
    current().start("writing the report")
    return publish(settings, stopped)


def _play_here(settings: EvaluationSettings, tasks: int) -> dict[str, str]:
    """Let agents without a model play in processes of this machine, and models in this process."""
    stopped: dict[str, str] = {}
    with _processes(settings) as pool, _ending() as over:
        unfinished = True
        while unfinished:
            talking = converse.submit(settings, over) if settings.models else None
            playing = [play.submit(pool, settings, number) for number in range(settings.workers) if settings.agents]
            for each in playing:
                each.result()
            if talking is not None:
                stopped = talking.result()
            unfinished = _more_to_play(settings, tasks, stopped)
    return stopped


def _play_elsewhere(settings: EvaluationSettings, tasks: int) -> dict[str, str]:
    """Let all agents play on the workers of a cluster."""
    from agenthard.flows.evaluation.remote import play_on_workers
    from agenthard.flows.scale_out.runners import workers_at_hand

    unfinished = True
    while unfinished:
        stopped = asyncio.run(play_on_workers(settings, workers_at_hand()))
        unfinished = _more_to_play(settings, tasks, stopped)
    return stopped


def run_evaluation(settings: EvaluationSettings) -> EvaluationOutcome:
    """Run the flow.

    Raises:
        CommandError: The folder holds another evaluation.
        StorageError: It cannot be written any more; all results are kept.
        ModelError: The models are not configured correctly.
    """
    settings.scale_out.check_address()
    try:
        with bound(run=settings.out), reported(settings.folder.root / "work", "evaluate"):
            names = ("evaluate", f"evaluate on {settings.benchmark}")
            if settings.scale_out.runner is Runner.LOCAL:
                return run_flow(evaluate, *names, settings.workers + 1, settings)
            from agenthard.flows.scale_out.runners import run_on_workers

            return run_on_workers(lambda: evaluate(settings), settings.scale_out, settings.workers, *names)
    except ExceptionGroup as group:
        first: BaseException = group
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        raise first from group


def check_identity(settings: EvaluationSettings) -> None:
    """Check that the folder belongs to this evaluation; a new folder is marked as such.

    Raises:
        CommandError: It belongs to another evaluation, or holds something else.
    """
    folder = settings.folder
    if not folder.lock.exists() and folder.root.exists() and any(folder.root.iterdir()):
        raise CommandError(f"{folder.root}: not empty, and not an evaluation; give another folder with --out")
    with exclusive(folder.lock):
        _update_identity(folder, settings.identities(settings.open()))


def _update_identity(folder: EvaluationFolder, wanted: Mapping[str, str]) -> None:
    if folder.identity.is_file():
        known = json.loads(folder.identity.read_text(encoding="utf-8"))
        changed = [name for name, digest in wanted.items() if known.get(name, digest) != digest]
        if changed:
            raise CommandError(
                f"{folder.root}: holds an evaluation with another {', '.join(changed)} (input, options, seed or "
                "version of AgentHard); give another folder with --out, or delete this one"
            )
        wanted = {**known, **wanted}
    write_json(folder.identity, wanted)


async def play_models(settings: EvaluationSettings, over: threading.Event) -> dict[str, str]:
    """Let models play until they have finished or the evaluation is over; episodes in flight are then discarded.

    Returns:
        Why models stopped, by label.
    """
    async with open_client(settings) as client:
        conversations = EpisodeLoop(settings, [file.label for file in settings.models], converse_with(settings, client))
        gc.freeze()  # What is loaded by now stays; scanning it again and again would block the event loop.
        playing = asyncio.create_task(conversations.run())
        while not (await asyncio.wait({playing}, timeout=_POLL_SECONDS))[0]:
            if over.is_set():
                playing.cancel()
        await playing
        return conversations.stopped


@contextmanager
def _ending() -> Iterator[threading.Event]:
    """Yield an event that is set when the block ends, also by Ctrl-C, which threads do not notice."""
    over = threading.Event()
    try:
        yield over
    finally:
        over.set()


@contextmanager
def _processes(settings: EvaluationSettings) -> Iterator[ProcessPoolExecutor]:
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(settings.workers, mp_context=context, initializer=follow_parent)
    try:
        yield pool
    finally:
        processes = list((pool._processes or {}).values())
        pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()


def _more_to_play(settings: EvaluationSettings, tasks: int, stopped: Collection[str]) -> bool:
    """Wait until no other process plays in this folder; return whether episodes are left for this process."""
    selection = settings.selection(without=stopped)
    planned = tasks * selection.per_task
    store = EpisodeStore(settings.folder.store)
    try:
        while store.claimants():
            if release_dead(settings.folder.workers, store):
                break
            time.sleep(_POLL_SECONDS)
        return store.settled(selection, settings.attempts) < planned
    finally:
        store.close()
