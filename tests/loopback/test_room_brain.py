"""The brain for escape rooms gets out of every room through a real server, also when calls fail."""

import pytest

from agenthard.escape.environment import Conditions, Environment
from agenthard.escape.session import EscapeSession
from agenthard.play.llm import LlmSettings, play
from tests.escape.made import rooms
from tests.loopback import Loopback
from tests.loopback.room_brain import escape
from tests.loopback.test_ace_brain import Direct
from tests.models.providers.talking import model_file, provider


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize("failure_rate", [0.0, 0.3])
async def test_it_gets_out(failure_rate: float, loopback: Loopback) -> None:
    loopback.service.brain = escape
    file = model_file("chat", loopback)
    for room in rooms()[::5]:
        environment = Environment(room, Conditions(turns=-1), failure_rate=failure_rate, seed=3)
        async with provider(file) as made:
            session = EscapeSession(environment, room.id, room.room.theme)
            run = await play(Direct(made), LlmSettings(model=file.name), session)
        assert run.passed, run.status_reason
        assert bool(run.usage["failed_calls"]) == bool(failure_rate)
    assert loopback.counts["refused"] == 0
