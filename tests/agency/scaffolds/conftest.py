"""A toolset on an empty workspace, a clock that a test moves, and a model that gives the replies of a list."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agenthard.agency.scaffolds import Budget, Limits, Player
from agenthard.agency.tools import Desk, Toolset
from agenthard.agency.workspace import SnapshotStore, Workspace
from agenthard.models.errors import ContextOverflowError
from agenthard.models.request import Call, ChatMessage, Completion, Reply, Request, Usage
from agenthard.play.journal import Journal, MemoryJournal, Steps
from agenthard.play.llm import LlmSettings


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass
class ListedModel:
    """Gives the replies of a list, each after some seconds of the clock; refuses conversations that are too long."""

    replies: Sequence[Reply]
    clock: Clock
    seconds: float = 0.0
    most_messages: int = 10**6
    asked: list[Request] = field(default_factory=list)

    async def complete(self, request: Request, *, purpose: str, owner: str) -> Completion:
        self.clock.now += self.seconds
        if len(request.messages) > self.most_messages:
            raise ContextOverflowError("too long")
        self.asked.append(request)
        reply = self.replies[min(len(self.asked) - 1, len(self.replies) - 1)]
        return Completion(reply=reply, cost=0.5)


def says(text: str = "", *calls: tuple[str, str], finish: str = "") -> Reply:
    made = tuple(Call(id=f"c{n}", name=name, arguments=arguments) for n, (name, arguments) in enumerate(calls))
    message = ChatMessage(role="assistant", text=text, calls=made)
    usage = Usage(prompt_tokens=100, completion_tokens=10)
    return Reply(message=message, finish=finish or ("tool_calls" if made else "stop"), usage=usage)  # type: ignore[arg-type]


@dataclass
class Bench:
    """What a scaffold needs, with everything at hand."""

    toolset: Toolset
    clock: Clock
    steps: Steps
    history: list[ChatMessage] = field(default_factory=list)

    def budget(self, **limits: float | None) -> Budget:
        return Budget(Limits.model_validate(limits), self.clock)

    def player(self, model: ListedModel, context: int | None = None, text_calls: bool = False) -> Player:
        settings = LlmSettings(model="compatible/m@http://x/v1", text_calls=text_calls, max_truncations=1)
        return Player(model, settings, self.steps, "owner", 0, context)

    def files(self) -> list[str]:
        return list(self.toolset.desk.workspace.snapshot.entries)


@pytest.fixture
def bench(tmp_path: Path) -> Callable[..., Bench]:
    """Makes benches; each has a folder of its own, and the journal that a test gives."""

    def make(journal: Journal | None = None, name: str = "place") -> Bench:
        clock, steps = Clock(), Steps(journal or MemoryJournal())
        place = tmp_path / name
        workspace = Workspace(place / "work", SnapshotStore(place / "store"))
        workspace.go_to(workspace.snapshot)
        return Bench(Toolset(Desk(workspace), steps, clock), clock, steps)

    return make
