"""What a scaffold is: it turns a prompt into work on a workspace, and says everything that happened."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from agenthard.agency.scaffolds.budget import Budget
from agenthard.agency.scaffolds.rollout import Called, Rollout
from agenthard.agency.tools import Toolset
from agenthard.audit.plugins import plugins
from agenthard.models.request import Call, ChatMessage, Completion, Model, Request
from agenthard.play.journal import Steps
from agenthard.play.llm import LlmSettings
from agenthard.taxonomy.record import Record

GROUP = "agenthard.scaffolds"
BUILT_IN = {
    "claude_agent_sdk": "agenthard.agency.scaffolds.claude.scaffold:ClaudeAgentSdk",
    "json_plan": "agenthard.agency.scaffolds.json_plan:JsonPlan",
    "native": "agenthard.agency.scaffolds.native:Native",
    "openai_agents": "agenthard.agency.scaffolds.openai_agents:OpenAIAgents",
}
"""Scaffolds of models; others register theirs as entry points of the group."""


class Prompt(Record):
    """What an agent is asked in one attempt."""

    task_id: str
    """Task."""
    attempt: int
    """Number of the attempt, from 0."""
    text: str
    """The whole text: task, deliverables and, from the second attempt on, what the user says."""


class Scaffold(Protocol):
    """Plays the attempts of one scenario, one after the other."""

    async def run(self, prompt: Prompt, workspace: Toolset, history: list[ChatMessage], budget: Budget) -> Rollout:
        """Play one attempt.

        Args:
            prompt: what is asked.
            workspace: the tools, which act on the workspace.
            history: the conversation of the whole scenario so far, as a model sees it; it is continued in place.
            budget: what may be spent, and what is spent.

        Raises:
            agenthard.models.errors.ModelError: the model could not be asked; the attempt has not ended.
        """
        ...


class Asked(Record):
    """A reply with the time it took."""

    completion: Completion
    """The reply."""
    seconds: float
    """From the request to the reply, by the clock of the budget."""


@dataclass(frozen=True)
class Player:
    """A model that plays, and where its replies are recorded."""

    model: Model
    """What answers requests."""
    settings: LlmSettings
    """How it plays."""
    steps: Steps
    """Requests are steps of it."""
    owner: str
    """What requests are charged to."""
    sample: int
    """Number of the repetition."""
    context: int | None = None
    """Tokens that a conversation may have before it is compacted; None: only when the model refuses it."""

    async def ask(self, request: Request, budget: Budget) -> Completion | None:
        """Ask the model within the time that is left.

        Returns:
            The reply; None when the time ran out meanwhile.
        """

        async def work() -> Asked:
            start = budget.clock()
            async with asyncio.timeout(budget.seconds_left()):
                completion = await self.model.complete(request, purpose="agent", owner=self.owner)
            return Asked(completion=completion, seconds=max(budget.clock() - start, 0.0))

        try:
            asked = await self.steps.run("reply", request.digest, Asked, work)
        except TimeoutError:
            budget.spend(budget.seconds_left() or 0.0)
            return None
        budget.spend(asked.seconds)
        budget.charge(asked.completion)
        return asked.completion


async def carry_out(workspace: Toolset, call: Call, budget: Budget) -> Called:
    """Carry out a call within the time that is left, and count its time."""
    workspace.desk.seconds = budget.seconds_left()
    result = await workspace.call(call.name, call.arguments)
    budget.spend(result.seconds)
    return Called(call=call, result=result)


def scaffold_of(name: str) -> Callable[[Player], Scaffold]:
    """Return what makes the scaffold of a name, which may be written with dashes instead of underscores.

    Raises:
        ValueError: there is none of this name; the message lists all.
    """
    known = plugins(GROUP, BUILT_IN)
    found = known.get(name) or known.get(name.replace("-", "_"))
    if found is None:
        raise ValueError(f"no scaffold {name!r}; there are: {', '.join(known)}")
    made: Callable[[Player], Scaffold] = found.load()
    return made
