"""The Prefect flow ``evaluate``: note the tasks, play the episodes, publish. One Prefect task carries one process."""

import asyncio
import gc
import json
import multiprocessing
import threading
import time
from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from typing import Any

import agenthard.flows.prefect_setup  # noqa: F401  isort:skip
from prefect import flow, task
from prefect.cache_policies import NO_CACHE
from prefect.task_runners import ThreadPoolTaskRunner

from agenthard.flows.errors import CommandError
from agenthard.flows.evaluation.clients import open_client
from agenthard.flows.evaluation.conversing import Conversations
from agenthard.flows.evaluation.episodes import TaskFacts
from agenthard.flows.evaluation.playing import follow_parent, play_all
from agenthard.flows.evaluation.publish import EvaluationOutcome, publish_evaluation
from agenthard.flows.evaluation.settings import EvaluationFolder, EvaluationSettings
from agenthard.flows.evaluation.store import EpisodeStore
from agenthard.flows.evaluation.watching import watching
from agenthard.flows.evaluation.workers import alone, release_dead
from agenthard.flows.prefect_setup import stop_server_with_us
from agenthard.flows.progress import current
from agenthard.flows.run_folder import write_json

_POLL_SECONDS = 0.5


@task(name="prepare", cache_policy=NO_CACHE)
def prepare(settings: EvaluationSettings) -> int:
    """Take the run folder, note its tasks, and return how many there are."""
    benchmark = settings.open()
    identify(settings)
    store = EpisodeStore(settings.folder.store)
    try:
        store.note_tasks(TaskFacts(id=t.id, group=t.group, facts=dict(t.facts)) for t in benchmark.tasks())
        release_dead(settings.folder.workers, store)
        return sum(1 for _ in store.tasks())
    finally:
        store.close()


@task(name="play", task_run_name="play in process {number}", cache_policy=NO_CACHE)
def play(pool: ProcessPoolExecutor, settings: EvaluationSettings, number: int) -> int:
    """Let agents without a model play in one process."""
    played: Future[int] = pool.submit(play_all, settings)
    return played.result()


@task(name="converse", cache_policy=NO_CACHE)
def converse(settings: EvaluationSettings, over: threading.Event) -> dict[str, str]:
    """Let models play until the evaluation is over; returns why a model stopped, by its label."""
    return asyncio.run(play_models(settings, over))


@task(name="publish", cache_policy=NO_CACHE)
def publish(settings: EvaluationSettings, stopped: dict[str, str]) -> EvaluationOutcome:
    """Write tables, trajectories and the report."""
    with alone(settings.folder.lock):
        return publish_evaluation(settings, stopped)


@flow(name="evaluate", flow_run_name="evaluate on {settings.benchmark}", validate_parameters=False)
def evaluate_flow(settings: EvaluationSettings) -> EvaluationOutcome:
    """Evaluate agents on a benchmark into a run folder. Finished episodes of an interrupted run are not repeated."""
    current().start("reading the tasks")
    tasks = prepare(settings)
    stopped: dict[str, str] = {}
    with watching(settings, tasks), _processes(settings) as pool, _ending() as over:
        unfinished = True
        while unfinished:
            talking = converse.submit(settings, over) if settings.models else None
            playing = [play.submit(pool, settings, number) for number in range(settings.workers) if settings.agents]
            for each in playing:
                each.result()
            if talking is not None:
                stopped = talking.result()
            unfinished = _more_to_play(settings, tasks, stopped)
    current().start("writing the report")
    return publish(settings, stopped)


def run_evaluation(settings: EvaluationSettings) -> EvaluationOutcome:
    """Run the flow.

    Raises:
        CommandError: The folder holds another evaluation.
        StorageError: It cannot be written any more; what is done is kept.
        ModelError: The models are set up wrongly.
    """
    runner: Any = ThreadPoolTaskRunner(max_workers=settings.workers + 1)
    stop_server_with_us()
    try:
        outcome: EvaluationOutcome = evaluate_flow.with_options(task_runner=runner)(settings)
    except ExceptionGroup as group:
        first: BaseException = group
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        raise first from group
    return outcome


def identify(settings: EvaluationSettings) -> None:
    """Write down what the folder is about, or refuse it if it is about something else.

    Raises:
        CommandError: It is.
    """
    folder = settings.folder
    if not folder.lock.exists() and folder.root.exists() and any(folder.root.iterdir()):
        raise CommandError(f"{folder.root}: not empty and no evaluation; give another folder with --out")
    with alone(folder.lock):
        _take(folder, settings.identities(settings.open()))


def _take(folder: EvaluationFolder, wanted: Mapping[str, str]) -> None:
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
    """Let models play, or break off when the evaluation is over; what was in flight then has not happened.

    Returns:
        Why a model stopped, by its label.
    """
    async with open_client(settings) as client:
        conversations = Conversations(settings, client)
        gc.freeze()  # What is loaded by now stays: going through it again and again would hold up the event loop.
        playing = asyncio.create_task(conversations.run())
        while not (await asyncio.wait({playing}, timeout=_POLL_SECONDS))[0]:
            if over.is_set():
                playing.cancel()
        await playing
        return conversations.stopped


@contextmanager
def _ending() -> Iterator[threading.Event]:
    """An event that is set when the block ends, be it by Ctrl-C: threads do not hear of that."""
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
    """Wait until no other process plays episodes of this folder; tell whether some are left for us after all."""
    selection = settings.selection(without=stopped)
    planned = tasks * len(selection.agents) * len(selection.failure_rates) * selection.trials
    store = EpisodeStore(settings.folder.store)
    try:
        while store.claimants():
            if release_dead(settings.folder.workers, store):
                break
            time.sleep(_POLL_SECONDS)
        return store.settled(selection, settings.attempts) < planned
    finally:
        store.close()
