"""A scenario for training loops: ``reset`` begins the chain, ``step`` takes a reply of the agent.

A reply without a call ends an attempt. The attempt is graded, and the next message is the user's feedback or the next
task, as in an evaluation.
"""

import asyncio
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from agenthard.agency.chain import Chain
from agenthard.agency.judges.rule import TOP_SCORE
from agenthard.agency.scaffolds import Budget, Prompt, Rollout, Scaffold
from agenthard.agency.scaffolds.native import SYSTEM
from agenthard.agency.scaffolds.rollout import Event, Said, Told
from agenthard.agency.scaffolds.scaffold import carry_out
from agenthard.agency.tools import TOOLS, Toolset
from agenthard.models.request import Call, ChatMessage
from agenthard.play.training import Start, Step
from agenthard.taxonomy.task import Message

Move = tuple[str, tuple[Call, ...]]


class ScenarioTraining:
    """Plays one scenario. The reward of a reply that ends an attempt is its score, as a share of 10."""

    def __init__(self, make: Callable[[Scaffold, Path], Chain]) -> None:
        """Prepare.

        Args:
            make: makes the chain of a scaffold in an empty folder.
        """
        self._make = make
        self._folder: Path | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._outside: _Outside | None = None
        self._chain: Chain | None = None
        self._playing: asyncio.Task[object] | None = None

    def reset(self) -> Start:
        """Begin the chain; a running one ends."""
        self.close()
        self._folder = Path(tempfile.mkdtemp(prefix="agenthard-agency-"))
        self._loop, self._outside = asyncio.new_event_loop(), _Outside()
        self._chain = self._make(self._outside, self._folder)
        self._playing = self._loop.create_task(self._chain.play())
        messages, _ = self._listen()
        return Start((Message(role="system", content=SYSTEM), *messages), tuple(each.tool for each in TOOLS.values()))

    def step(self, text: str = "", calls: Sequence[Call] = ()) -> Step:
        """Take a reply of the agent."""
        if self._outside is None or self._chain is None:
            raise RuntimeError("no episode is running: call reset first")
        graded = len(self._chain.grades)
        self._outside.moves.put_nowait((text, tuple(calls)))
        messages, done = self._listen()
        reward = sum(grade.points for grade in self._chain.grades[graded:]) / TOP_SCORE
        if done:
            self.close()
        return Step(messages, reward, done)

    def close(self) -> None:
        """End the chain and remove its folder."""
        if self._loop is not None:
            if self._playing is not None and not self._playing.done():
                self._playing.cancel()
                self._loop.run_until_complete(asyncio.wait({self._playing}))
            self._loop.run_until_complete(self._loop.shutdown_default_executor())
            self._loop.close()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
        self._folder = self._loop = self._outside = self._chain = self._playing = None

    def _listen(self) -> tuple[tuple[Message, ...], bool]:
        """Let the chain run until it needs a reply; return what it says, and whether it is over."""
        loop, outside, playing = self._loop, self._outside, self._playing
        if loop is None or outside is None or playing is None:
            raise RuntimeError("no episode is running: call reset first")
        hearing = loop.create_task(outside.told.get())
        loop.run_until_complete(asyncio.wait({hearing, playing}, return_when=asyncio.FIRST_COMPLETED))
        if not hearing.done():
            hearing.cancel()
            playing.result()
            return (), True
        return hearing.result(), False


class _Outside:
    """A scaffold whose agent is outside: it says what it hears, and waits for replies."""

    def __init__(self) -> None:
        self.moves: asyncio.Queue[Move] = asyncio.Queue()
        self.told: asyncio.Queue[tuple[Message, ...]] = asyncio.Queue()

    async def run(self, prompt: Prompt, workspace: Toolset, history: list[ChatMessage], budget: Budget) -> Rollout:
        """Play one attempt."""
        events: list[Event] = [Told(text=prompt.text, by="task")]
        self.told.put_nowait((Message(role="user", content=prompt.text),))
        while (limit := budget.reached()) is None:
            text, calls = await self.moves.get()
            budget.take_turn()
            events.append(Said(text=text, calls=calls))
            called = [await carry_out(workspace, call, budget) for call in calls]
            events += called
            if not calls:
                return Rollout(events=tuple(events))
            answers = Rollout(events=tuple(called)).messages()
            if budget.reached() is None:
                self.told.put_nowait(answers)
        return Rollout(events=tuple(events), ended=limit)
