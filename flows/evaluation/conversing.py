"""Models, many episodes at a time in one event loop."""

import asyncio
import time
from collections.abc import Iterator

from agenthard.flows.errors import FATAL
from agenthard.flows.evaluation.benchmark import PlayableTask
from agenthard.flows.evaluation.episodes import Attempt, Episode, episodes_of
from agenthard.flows.evaluation.settings import EvaluationSettings
from agenthard.flows.evaluation.store import EpisodeStore
from agenthard.flows.evaluation.workers import Worker
from agenthard.models.errors import StopError
from agenthard.models.provider import Model
from agenthard.taxonomy.printable import printable
from agenthard.taxonomy.trajectory import Trajectory


class Conversations:
    """The episodes of all models. A model that nothing more can be asked of stops; the others go on."""

    def __init__(self, settings: EvaluationSettings, model: Model) -> None:
        self.stopped: dict[str, str] = {}
        """Why a model stopped, by its label."""
        self._settings = settings
        self._model = model
        self._files = {file.label: file for file in settings.models}
        self._store = EpisodeStore(settings.folder.store)
        self._worker = Worker(settings.folder.workers)

    async def run(self) -> None:
        """Play whatever nobody else has played or is playing; what ends in an infrastructure error is tried again."""
        try:
            while await self._pass():
                pass
        finally:
            self._store.release(self._worker.name)
            self._worker.close()
            self._store.close()

    async def _pass(self) -> int:
        """Go through all episodes once; returns how many were played."""
        free = asyncio.Semaphore(self._settings.in_flight)
        played = 0
        async with asyncio.TaskGroup() as group:
            for task, episode in self._episodes():
                await free.acquire()
                taken = [] if episode.agent in self.stopped else self._claim(episode)
                if not taken:
                    free.release()
                    await asyncio.sleep(0)
                    continue
                played += 1
                playing = group.create_task(self._play(task, episode, taken[0][1]))
                playing.add_done_callback(lambda _: free.release())
        return played

    def _episodes(self) -> Iterator[tuple[PlayableTask, Episode]]:
        settings = self._settings
        for task in settings.open().tasks():
            for episode in episodes_of(task.id, tuple(self._files), settings.failure_rates, settings.trials):
                yield task, episode

    def _claim(self, episode: Episode) -> list[tuple[Episode, int]]:
        return self._store.claim([episode], self._worker.name, self._settings.attempts)

    async def _play(self, task: PlayableTask, episode: Episode, number: int) -> None:
        start = time.perf_counter()
        label = episode.agent

        def keep(run: Trajectory) -> None:
            self._store.add(episode, Attempt(number=number, trajectory=run, seconds=time.perf_counter() - start))

        try:
            keep(
                await task.converse(
                    label,
                    self._model,
                    self._files[label],
                    episode.condition,
                    episode.failure_rate,
                    episode.trial,
                )
            )
        except StopError as error:
            self.stopped.setdefault(label, str(error))
            self._store.give_back(episode)
        except FATAL:
            raise
        except Exception as error:  # noqa: BLE001 - what one episode brings about must not end the others
            keep(_failed(task, episode, printable(f"unexpected {type(error).__name__}: {error}")))


def _failed(task: PlayableTask, episode: Episode, reason: str) -> Trajectory:
    """An episode in which our own code failed: no verdict, and no failure of the model."""
    return Trajectory(
        id=f"{episode.agent}/{task.id}/{episode.condition}/{episode.trial}",
        task_id=task.id,
        model=episode.agent,
        trial=episode.trial,
        status="infrastructure_error",
        status_reason=reason,
        ending="error",
    )
