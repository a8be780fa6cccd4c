"""What all questions of a run share: who answers, where answers go, how many are under way, and why it ended."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from agenthard.flows.judging.asking import Unanswered
from agenthard.flows.judging.settings import JudgingSettings
from agenthard.flows.judging.store import AnswerStore
from agenthard.flows.judging.workers import Hands
from agenthard.models.errors import StopError
from agenthard.models.provider import Model
from agenthard.taxonomy.task import AgentTask

_AHEAD = 4
"""Items under way for each question in flight: while some are asked, the prompts of others are written."""
T = TypeVar("T")
Item = TypeVar("Item")


class Session:
    """A run at work. When nothing more can be asked, what is in flight is still taken in."""

    def __init__(
        self,
        settings: JudgingSettings,
        model: Model,
        store: AnswerStore,
        hands: Hands,
        task: Callable[[str], AgentTask],
        unanswered: Callable[[Unanswered], None] = lambda question: None,
    ) -> None:
        """Get ready; nothing is asked yet.

        Args:
            settings: The run.
            model: What answers the questions of all judges.
            store: Where answers go.
            hands: Who writes prompts and checks verdicts.
            task: Finds a task, for judges that look things up.
            unanswered: Told of each question that was not put to anybody.
        """
        self.stopped = ""
        """Why nothing more could be asked; empty when everything was."""
        self.settings, self.model, self.store, self.hands, self.task = settings, model, store, hands, task
        self._unanswered = unanswered
        self._free = asyncio.Semaphore(settings.in_flight)

    async def put(self, question: Callable[[], Awaitable[T | Unanswered]]) -> T | None:
        """Put a question as soon as there is room; None when nobody was asked."""
        async with self._free:
            if self.stopped:
                return None
            try:
                found = await question()
            except StopError as error:
                self.stopped = self.stopped or str(error)
                return None
        if isinstance(found, Unanswered):
            self._unanswered(found)
            return None
        return found

    async def each(self, items: Iterable[Item], work: Callable[[Item], Awaitable[None]]) -> None:
        """Work on all items, many at a time; no new one is begun once nothing more can be asked."""
        room = asyncio.Semaphore(self.settings.in_flight * _AHEAD)

        async def one(item: Item) -> None:
            try:
                await work(item)
            finally:
                room.release()

        async with asyncio.TaskGroup() as group:
            for item in items:
                await room.acquire()
                if self.stopped:
                    break
                group.create_task(one(item))
