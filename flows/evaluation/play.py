"""Play episodes: agents without a model in separate processes, models many at a time in one event loop.

Where workers play (`agenthard.flows.evaluation.remote`), the same loop hands all episodes to them.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from random import Random

from agenthard.flows.errors import FATAL
from agenthard.flows.evaluation.benchmark import PlayableTask
from agenthard.flows.evaluation.episodes import Episode, EpisodeAttempt, episodes_of
from agenthard.flows.evaluation.settings import EvaluationSettings
from agenthard.flows.evaluation.store import EpisodeStore, Worker
from agenthard.models.cache import ReplyCache
from agenthard.models.client import ModelClient
from agenthard.models.errors import StopError
from agenthard.models.ledger import Ledger
from agenthard.models.request import Model
from agenthard.taxonomy.printable import printable
from agenthard.taxonomy.trajectory import Trajectory


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
                    run = task.play(episode.agent, episode.condition, episode.failure_rate, episode.trial)
                    seconds = time.perf_counter() - start
                    store.add(episode, EpisodeAttempt(number=number, trajectory=run, seconds=seconds))
                    played += 1
    finally:
        store.release(worker.name)
        worker.close()
        store.close()
    return played


@asynccontextmanager
async def open_client(settings: EvaluationSettings) -> AsyncIterator[ModelClient]:
    """Open the client for all models: one cache, one ledger and one budget.

    Raises:
        ConfigurationError: Prices, budget or a file are wrong.
    """
    cache, ledger = ReplyCache(settings.cache_file), Ledger(settings.folder.ledger)
    client = ModelClient(
        settings.models,
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


Play = Callable[[PlayableTask, Episode], Awaitable[Trajectory]]
"""Plays one episode. A StopError says that its agent cannot play on, and the episode was not played."""


def converse_with(settings: EvaluationSettings, model: Model) -> Play:
    """Return what lets models play in this event loop."""
    files = {file.label: file for file in settings.models}

    async def play(task: PlayableTask, episode: Episode) -> Trajectory:
        label, rate, trial = episode.agent, episode.failure_rate, episode.trial
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

        def store(run: Trajectory) -> None:
            self._store.add(episode, EpisodeAttempt(number=number, trajectory=run, seconds=time.perf_counter() - start))

        try:
            store(await self._play_one(task, episode))
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
