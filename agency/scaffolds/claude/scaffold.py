"""The scaffold: a gateway and a program for each attempt; the conversation goes on through the scenario.

Every attempt begins with a fresh program, and the gateway puts what was said before in front of its conversation. So
nothing of a program has to be kept for a play that is continued: what it asked is in the journal and in the cache.
"""

from agenthard.agency.scaffolds.budget import Budget
from agenthard.agency.scaffolds.claude.attempt import Attempt, ClaudeProgramError
from agenthard.agency.scaffolds.claude.gateway import Gateway
from agenthard.agency.scaffolds.claude.program import converse
from agenthard.agency.scaffolds.rollout import Rollout
from agenthard.agency.scaffolds.scaffold import Player, Prompt
from agenthard.agency.tools import Toolset
from agenthard.models.request import ChatMessage


class ClaudeAgentSdk:
    """Plays with the program of the Claude Agent SDK and our tools."""

    def __init__(self, player: Player) -> None:
        """Play with a model."""
        self._player = player

    async def run(self, prompt: Prompt, workspace: Toolset, history: list[ChatMessage], budget: Budget) -> Rollout:
        """Play one attempt."""
        attempt = Attempt(self._player, workspace, budget, history, prompt)
        failed: ClaudeProgramError | None = None
        async with Gateway(attempt.answer, attempt.count) as gateway:
            try:
                end = await converse(prompt.text, workspace.tools(), attempt.call, gateway)
            except ClaudeProgramError as error:
                failed = error
        if attempt.failure is not None:
            raise attempt.failure
        if gateway.not_understood:
            raise ClaudeProgramError(f"the Claude Agent SDK: {gateway.not_understood[0]}")
        if attempt.ended is not None:
            return attempt.rollout(attempt.ended, attempt.reason)
        if failed is not None:
            raise failed
        return attempt.rollout("crashed", end.text) if end.failed else attempt.rollout("done")
