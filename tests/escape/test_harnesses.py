"""A real MCP client and Inspect with a mock model solve a room; a model's loop does too."""

import asyncio
import json
import subprocess
import sys
from inspect import signature as inspect_signature
from pathlib import Path
from typing import Any

import pytest

from agenthard.escape.environment import Conditions, Environment
from agenthard.escape.session import EscapeSession
from agenthard.escape.storage import SUITES
from agenthard.models.request import Call, ChatMessage, Completion, Reply, Request
from agenthard.play.llm import LlmSettings, play
from tests.escape.made import rooms

ROOM = rooms()[0]


def calls() -> list[tuple[str, dict[str, Any]]]:
    """The oracle's calls with the submission."""
    from agenthard.escape.audit_task import gold_calls

    return [(call.name, call.arguments) for call in gold_calls(ROOM)]


class Script:
    """A model that makes the oracle's calls, two in a reply."""

    async def complete(self, request: Request, *, purpose: str, owner: str) -> Completion:
        done = sum(len(message.calls) for message in request.messages)
        some = calls()[done : done + 2]
        written = tuple(Call(id=f"c{done + n}", name=name, arguments=json.dumps(a)) for n, (name, a) in enumerate(some))
        message = ChatMessage(role="assistant", text="", calls=written)
        return Completion(reply=Reply(message=message, finish="tool_calls"), attempts=1, cost=0.0)


async def test_a_model_gets_out_through_the_shared_loop() -> None:
    session = EscapeSession(Environment(ROOM), ROOM.id, ROOM.room.theme)
    run = await play(Script(), LlmSettings(model="openai/some-model"), session)
    assert run.passed and run.ending == "done" and ROOM.certificate
    assert run.usage["calls"] == ROOM.certificate.min_calls + 1
    assert run.usage["turns"] == -(-len(calls()) // 2)


def test_a_client_over_mcp_gets_out(tmp_path: Path) -> None:
    mcp = pytest.importorskip("mcp")
    SUITES.write(tmp_path / "suite", rooms()[:2], {}, count=2)
    outcome = tmp_path / "outcome.json"
    words = ["escape", "serve-mcp", str(tmp_path / "suite"), ROOM.id, "--result", str(outcome)]

    async def converse() -> None:
        server = mcp.StdioServerParameters(command=sys.executable, args=["-m", "agenthard", *words])
        async with mcp.Client(server) as client:
            assert ROOM.room.story in (client.instructions or "")
            assert ROOM.secret.answer not in (client.instructions or "")
            assert {tool.name for tool in (await client.list_tools()).tools} >= {"investigate", "use_tool"}
            for name, arguments in calls():
                result = await client.call_tool(name, arguments)
                assert not result.is_error, result.content[0].text

    asyncio.run(asyncio.wait_for(converse(), timeout=120))
    assert json.loads(outcome.read_text())["solved"] is True


@pytest.mark.parametrize("way", ["inspect", "mcp", "play"])
def test_every_condition_is_an_option_of_every_harness_with_the_same_default(way: str) -> None:
    pytest.importorskip("inspect_ai")
    from agenthard.flows.commands.escape.play import play as terminal
    from agenthard.flows.commands.escape.serve_mcp import serve_mcp
    from agenthard.inspect_tasks import escape_rooms

    harness: Any = {"inspect": escape_rooms, "mcp": serve_mcp, "play": terminal}[way]
    options = {name: each.default for name, each in inspect_signature(harness).parameters.items()}
    conditions = Conditions().model_dump(mode="json")
    if way != "inspect":
        del conditions["calls_per_turn"]  # each call is a turn
    assert {name: options.get(name) for name in conditions} == conditions


def test_inspect_gets_out_with_a_mock_model(tmp_path: Path) -> None:
    inspect = pytest.importorskip("inspect_ai")
    from inspect_ai.model import ChatCompletionChoice, ChatMessageAssistant, ModelOutput, ModelUsage, get_model
    from inspect_ai.tool import ToolCall

    from agenthard.inspect_tasks import escape_rooms

    SUITES.write(tmp_path / "suite", rooms()[:1], {}, count=1)

    def respond(messages: list[Any], tools: Any, choice: Any, config: Any) -> Any:
        done = sum(len(m.tool_calls or ()) for m in messages if m.role == "assistant")
        some = calls()[done : done + 2]
        made = [ToolCall(id=f"c{done + n}", function=name, arguments=a) for n, (name, a) in enumerate(some)]
        message = ChatMessageAssistant(content="", tool_calls=made)
        choices = [ChatCompletionChoice(message=message, stop_reason="tool_calls")]
        return ModelOutput(model="mock", choices=choices, usage=ModelUsage())

    model = get_model("mockllm/model", custom_outputs=respond, memoize=False)
    task = escape_rooms(str(tmp_path / "suite"))
    (log,) = inspect.eval(task, model=model, log_dir=str(tmp_path / "logs"), display="none")
    assert log.status == "success" and log.samples
    (score,) = (log.samples[0].scores or {}).values()
    assert (score.value, (score.metadata or {})["ending"]) == ("C", "done")


SCRIPTED = """
import json, sys
calls = json.loads(sys.argv.pop(1))
from inspect_ai.model import ChatCompletionChoice, ChatMessageAssistant, ModelOutput, ModelUsage, modelapi
from inspect_ai.model._providers.mockllm import MockLLM
from inspect_ai.tool import ToolCall

def respond(messages, tools, choice, config):
    done = sum(len(m.tool_calls or ()) for m in messages if m.role == "assistant")
    some = enumerate(calls[done : done + 2], done)
    made = [ToolCall(id=f"c{at}", function=name, arguments=given) for at, (name, given) in some]
    message = ChatMessageAssistant(content="", tool_calls=made)
    choices = [ChatCompletionChoice(message=message, stop_reason="tool_calls")]
    return ModelOutput(model="scripted", choices=choices, usage=ModelUsage())

@modelapi("scripted")
class Scripted(MockLLM):
    def __init__(self, model_name, base_url=None, api_key=None, config=None, **more):
        super().__init__(model_name, base_url, api_key, config, custom_outputs=respond)
"""
"""Registers a mock model that makes the calls of the first argument, two in a reply."""


@pytest.mark.long
@pytest.mark.parametrize(
    "task", ["agenthard/escape_rooms", "escape/inspect_task.py", "escape/inspect_task.py@escape_rooms"]
)
def test_inspect_eval_gets_out_by_registered_name_and_by_file(tmp_path: Path, task: str) -> None:
    pytest.importorskip("inspect_ai")
    from inspect_ai.log import read_eval_log

    from tests.ace.environment.test_inspect_task import COMMAND, ROOT

    SUITES.write(tmp_path / "suite", rooms()[:1], {}, count=1)
    words = ["eval", task, "--model", "scripted/oracle", "-T", f"path={tmp_path / 'suite'}"]
    words += ["-T", "feedback=none", "--log-dir", str(tmp_path / "logs"), "--display", "plain"]
    command = [sys.executable, "-c", SCRIPTED + COMMAND, json.dumps(calls()), *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    (log,) = (tmp_path / "logs").glob("*.eval")
    read = read_eval_log(str(log))
    assert read.status == "success" and read.samples and len(read.samples) == 1
    (score,) = (read.samples[0].scores or {}).values()
    assert (score.value, (score.metadata or {})["ending"]) == ("C", "done")
