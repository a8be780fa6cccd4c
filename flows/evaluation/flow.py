"""The Prefect flow ``evaluate``: note the tasks, play the episodes, publish. One Prefect task carries one process."""

import asyncio
import json
import multiprocessing
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from typing import Any

import flows.prefect_settings  # noqa: F401  isort:skip
from prefect import flow, task
from prefect.cache_policies import NO_CACHE
from prefect.task_runners import ThreadPoolTaskRunner

from flows.errors import CommandError
from flows.evaluation.clients import open_client
from flows.evaluation.conversing import Conversations
from flows.evaluation.episodes import TaskFacts
from flows.evaluation.playing import ignore_interrupts, play_all
from flows.evaluation.publish import EvaluationOutcome, publish_evaluation
from flows.evaluation.settings import EvaluationSettings
from flows.evaluation.store import EpisodeStore
from flows.evaluation.workers import release_dead
from flows.progress import current
from flows.run_folder import write_json

_POLL_SECONDS = 0.5


@task(name="prepare", cache_policy=NO_CACHE)
def prepare(settings: EvaluationSettings) -> int:
    """Take the run folder, note its tasks, and return how many there are."""
    benchmark = settings.open()
    _identify(settings)
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
def converse(settings: EvaluationSettings) -> dict[str, str]:
    """Let models play; returns why a model stopped, by its label."""
    return asyncio.run(_converse(settings))


@task(name="publish", cache_policy=NO_CACHE)
def publish(settings: EvaluationSettings, stopped: dict[str, str]) -> EvaluationOutcome:
    """Write tables, trajectories and the report."""
    return publish_evaluation(settings, stopped)


@flow(name="evaluate", flow_run_name="evaluate on {settings.benchmark}", validate_parameters=False)
def evaluate_flow(settings: EvaluationSettings) -> EvaluationOutcome:
    """Evaluate agents on a benchmark into a run folder. Finished episodes of an interrupted run are not repeated."""
    current().start("reading the tasks")
    tasks = prepare(settings)
    current().start("episodes", total=tasks * settings.planned_per_task)
    stopped: dict[str, str] = {}
    with _counting(settings), _processes(settings) as pool:
        unfinished = True
        while unfinished:
            talking = converse.submit(settings) if settings.models else None
            playing = [play.submit(pool, settings, number) for number in range(settings.workers) if settings.agents]
            for each in playing:
                each.result()
            if talking is not None:
                stopped = talking.result()
            unfinished = _others_left_something(settings)
    current().start("writing the report")
    return publish(settings, stopped)


def run_evaluation(settings: EvaluationSettings) -> EvaluationOutcome:
    """Run the flow.

    Raises:
        CommandError: The folder holds another evaluation.
        StorageFailed: It cannot be written any more; what is done is kept.
        ModelError: The models are set up wrongly.
    """
    runner: Any = ThreadPoolTaskRunner(max_workers=settings.workers + 1)
    try:
        outcome: EvaluationOutcome = evaluate_flow.with_options(task_runner=runner)(settings)
    except ExceptionGroup as group:
        first: BaseException = group
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        raise first from group
    return outcome


def _identify(settings: EvaluationSettings) -> None:
    """Write down what the folder is about, or refuse it if it is about something else."""
    folder = settings.folder
    wanted = settings.identities(settings.open())
    if folder.identity.is_file():
        known = json.loads(folder.identity.read_text(encoding="utf-8"))
        changed = [name for name, digest in wanted.items() if known.get(name, digest) != digest]
        if changed:
            raise CommandError(
                f"{folder.root}: holds an evaluation with another {', '.join(changed)} (input, options, seed or "
                "version of AgentHard); give another folder with --out, or delete this one"
            )
        wanted = {**known, **wanted}
    elif folder.root.exists() and any(folder.root.iterdir()):
        raise CommandError(f"{folder.root}: not empty and no evaluation; give another folder with --out")
    write_json(folder.identity, wanted)


async def _converse(settings: EvaluationSettings) -> dict[str, str]:
    async with open_client(settings) as client:
        conversations = Conversations(settings, client)
        await conversations.run()
        return conversations.stopped


@contextmanager
def _processes(settings: EvaluationSettings) -> Iterator[ProcessPoolExecutor]:
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(settings.workers, mp_context=context, initializer=ignore_interrupts)
    try:
        yield pool
    finally:
        processes = list((pool._processes or {}).values())
        pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()


@contextmanager
def _counting(settings: EvaluationSettings) -> Iterator[None]:
    """Show how many episodes are settled, whichever process settled them."""
    over = threading.Event()

    def count() -> None:
        store, shown = EpisodeStore(settings.folder.store), 0
        while not over.wait(_POLL_SECONDS):
            settled = store.settled(settings.contestants, settings.attempts)
            current().advance(settled - shown)
            shown = settled
        store.close()

    counter = threading.Thread(target=count, daemon=True)
    counter.start()
    try:
        yield
    finally:
        over.set()
        counter.join()


def _others_left_something(settings: EvaluationSettings) -> bool:
    """Wait until no other process plays episodes of this folder, or one has died and left some."""
    store = EpisodeStore(settings.folder.store)
    try:
        while store.claimants():
            if release_dead(settings.folder.workers, store):
                return True
            time.sleep(_POLL_SECONDS)
        return False
    finally:
        store.close()
