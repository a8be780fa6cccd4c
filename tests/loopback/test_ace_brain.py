"""The brain for ACE plays whole episodes through each interface, also when tools fail and replies are cut off."""

import pytest

from agenthard.ace.environment import Environment
from agenthard.ace.session import AceSession
from agenthard.models.request import Completion, Provider, Request
from agenthard.play.llm import LlmSettings, play
from tests.ace.made import one
from tests.loopback import Loopback
from tests.loopback.brains import ace
from tests.models.providers.talking import APIS, SECONDS, model_file, provider


class Direct:
    """A model with nothing between it and its provider."""

    def __init__(self, made: Provider) -> None:
        self._made = made

    async def complete(self, request: Request, *, purpose: str, owner: str) -> Completion:
        return Completion(reply=await self._made.complete(request, SECONDS))


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(("failure_rate", "cut"), [(0.0, 0.0), (0.3, 0.1)])
async def test_it_fills_the_grid_and_is_done(api: str, failure_rate: float, cut: float, loopback: Loopback) -> None:
    loopback.service.brain = ace
    loopback.service.faults.chances = {"truncated": cut}
    file = model_file(api, loopback)
    environment = Environment(one(hidden=5).puzzle, failure_rate=failure_rate, seed=3)
    async with provider(file) as made:
        run = await play(Direct(made), LlmSettings(model=file.name, max_truncations=20), AceSession(environment))
    assert (run.status, run.ending) == ("ok", "done"), run.status_reason
    assert not [id for row in environment.grid for id in row if id is None]
    counts = loopback.counts
    assert counts["refused"] == 0
    assert counts["answered"] == run.usage["requests"]
    billed = counts["billed"][file.parsed_name.name]
    assert (billed["prompt"], billed["completion"]) == (run.usage["prompt_tokens"], run.usage["completion_tokens"])
    # One look at the grid, a query and a choice for each of five slots, and done; more when something failed.
    assert counts["answered"] == 12 if not failure_rate else counts["answered"] > 12
    assert bool(counts["faults"]) == bool(cut)
