"""Play episodes: agents without a model in separate processes, models many at a time in one event loop.

Where workers play (`agenthard.flows.evaluation.remote`), the same loop hands all episodes to them.
"""

import asyncio
import hashlib
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from random import Random

from agenthard.flows.errors import FATAL
from agenthard.flows.evaluation.benchmark import PlayableChain, PlayableTask
from agenthard.flows.evaluation.episodes import Episode, EpisodeAttempt, episodes_of
from agenthard.flows.evaluation.settings import EvaluationSettings
from agenthard.flows.evaluation.store import EpisodeStore
from agenthard.flows.evaluation.workers import Worker
from agenthard.models.cache import ReplyCache
from agenthard.models.client import ModelClient
from agenthard.models.errors import StopError
from agenthard.models.ledger import Ledger
from agenthard.models.request import Model
from agenthard.play.chain import PlayedChain, PlayRoom
from agenthard.taxonomy.printable import printable
from agenthard.taxonomy.trajectory import Trajectory

Played = Trajectory | PlayedChain
"""What a play gives: one run, or several."""


def play_all(settings: EvaluationSettings) -> int:
    """Play the open episodes of agents without a model, task by task, except those that another process plays.

    Returns:
        Number of episodes that this process played.
    """
    folder = settings.folder
    store, worker = EpisodeStore(folder.store), Worker(folder.workers)
    played = 0
    try:
        for variant, benchmark in settings.open_variants():
            for task in benchmark.tasks():
                wanted = episodes_of(task.id, settings.agents, settings.failure_rates, settings.trials, variant)
                for episode, number in store.claim(wanted, worker.name, settings.attempts):
                    start = time.perf_counter()
                    run = _play_here(settings, store, task, episode)
                    store.add(episode, attempt_of(number, run, time.perf_counter() - start))
                    played += 1
    finally:
        store.release(worker.name)
        worker.close()
        store.close()
    return played


def _play_here(settings: EvaluationSettings, store: EpisodeStore, task: PlayableTask, episode: Episode) -> Played:
    """Let an agent without a model play one episode in this process."""
    agent, rate, trial = episode.agent, episode.failure_rate, episode.trial
    if not isinstance(task, PlayableChain):
        return task.play(agent, episode.condition, rate, trial)
    chain: PlayableChain = task

    async def play() -> PlayedChain:
        if not settings.helpers():
            return await chain.play_chain(
                agent, None, episode.condition, rate, trial, room_of(settings, store, episode)
            )
        async with open_client(settings) as client:
            room = room_of(settings, store, episode, client)
            return await chain.play_chain(agent, None, episode.condition, rate, trial, room)

    try:
        return asyncio.run(play())
    except FATAL:
        raise
    except Exception as error:  # noqa: BLE001 - an unexpected error in one episode must not end the others
        return failed_run(episode, f"{type(error).__name__}: {error}")


def room_of(
    settings: EvaluationSettings, store: EpisodeStore, episode: Episode, model: Model | None = None
) -> PlayRoom:
    """Return what a play of an episode has for itself; the same folder after a kill."""
    name = hashlib.sha256(json.dumps(episode).encode()).hexdigest()[:16]
    folder = settings.folder
    return PlayRoom(
        journal=store.journal(episode),
        folder=folder.plays.absolute() / name,
        hidden=(folder.root.absolute(),),
        model=model,
        watched=partial(store.be_at, episode),
    )


def attempt_of(number: int, played: Played, seconds: float) -> EpisodeAttempt:
    """Return an attempt at an episode as it is stored."""
    if isinstance(played, PlayedChain):
        return EpisodeAttempt(number=number, trajectory=played.summary, seconds=seconds, parts=played.parts)
    return EpisodeAttempt(number=number, trajectory=played, seconds=seconds)


@asynccontextmanager
async def open_client(settings: EvaluationSettings) -> AsyncIterator[ModelClient]:
    """Open the client for all models: one cache, one ledger and one budget.

    Raises:
        ConfigurationError: Prices, budget or a file are wrong.
    """
    cache, ledger = ReplyCache(settings.cache_file), Ledger(settings.folder.ledger)
    client = ModelClient(
        (*settings.models, *settings.helpers()),
        cache=cache,
        ledger=ledger,
        prices=settings.price_table(),
        rng=Random(settings.seed),
        budget=settings.limits,
    )
    try:
        yield client
    finally:
        await client.close()
        ledger.close()
        cache.close()


Play = Callable[[PlayableTask, Episode, EpisodeStore], Awaitable[Played]]
"""Plays one episode, whose journal the store may keep. A StopError says that its agent cannot play on, and that the
episode was not played to its end."""


def converse_with(settings: EvaluationSettings, model: Model) -> Play:
    """Return what lets models play in this event loop."""
    files = {file.label: file for file in settings.models}

    async def play(task: PlayableTask, episode: Episode, store: EpisodeStore) -> Played:
        label, rate, trial = episode.agent, episode.failure_rate, episode.trial
        if isinstance(task, PlayableChain):
            room = room_of(settings, store, episode, model)
            return await task.play_chain(label, files[label], episode.condition, rate, trial, room)
        return await task.converse(label, model, files[label], episode.condition, rate, trial)

    return play


class EpisodeLoop:
    """The episodes of several agents, many at a time. One that cannot play on stops; the others continue."""

    def __init__(self, settings: EvaluationSettings, agents: Sequence[str], play: Play) -> None:
        """Prepare; nothing is played yet.

        Args:
            settings: The evaluation.
            agents: Names of the agents.
            play: Plays an episode.
        """
        self.stopped: dict[str, str] = {}
        """Why agents stopped, by name."""
        self._settings, self._agents, self._play_one = settings, tuple(agents), play
        self._store = EpisodeStore(settings.folder.store)
        self._worker = Worker(settings.folder.workers)

    async def run(self) -> None:
        """Play the open episodes, except those that another process plays; retry after infrastructure errors."""
        try:
            while await self._pass():
                pass
        finally:
            self._store.release(self._worker.name)
            self._worker.close()
            self._store.close()

    async def _pass(self) -> int:
        """Go through all episodes once; returns the number of episodes played."""
        free = asyncio.Semaphore(self._settings.in_flight)
        played = 0
        async with asyncio.TaskGroup() as group:
            for task, episode in self._episodes():
                await free.acquire()
                claimed = [] if episode.agent in self.stopped else self._claim(episode)
                if not claimed:
                    free.release()
                    await asyncio.sleep(0)
                    continue
                played += 1
                playing = group.create_task(self._play(task, episode, claimed[0][1]))
                playing.add_done_callback(lambda _: free.release())
        return played

    def _episodes(self) -> Iterator[tuple[PlayableTask, Episode]]:
        settings = self._settings
        for variant, benchmark in settings.open_variants():
            for task in benchmark.tasks():
                for episode in episodes_of(task.id, self._agents, settings.failure_rates, settings.trials, variant):
                    yield task, episode

    def _claim(self, episode: Episode) -> list[tuple[Episode, int]]:
        return self._store.claim([episode], self._worker.name, self._settings.attempts)

    async def _play(self, task: PlayableTask, episode: Episode, number: int) -> None:
        start = time.perf_counter()

        def store(run: Played) -> None:
            self._store.add(episode, attempt_of(number, run, time.perf_counter() - start))

        try:
            store(await self._play_one(task, episode, self._store))
        except StopError as error:
            self.stopped.setdefault(episode.agent, str(error))
            self._store.release_episode(episode)
        except FATAL:
            raise
        except Exception as error:  # noqa: BLE001 - an unexpected error in one episode must not end the others
            store(failed_run(episode, f"unexpected {type(error).__name__}: {error}"))


def failed_run(episode: Episode, reason: str) -> Trajectory:
    """Return an episode in which our own code failed: no verdict, and not a failure of the model."""
    return Trajectory(
        id=f"{episode.agent}/{episode.task_id}/{episode.condition}/{episode.trial}",
        task_id=episode.task_id,
        model=episode.agent,
        trial=episode.trial,
        status="infrastructure_error",
        status_reason=printable(reason),
        ending="error",
    )
