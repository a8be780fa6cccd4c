"""A real client of the official package plays an instance over standard input and output."""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from agenthard.ace.environment import Environment
from agenthard.ace.session import AceSession
from agenthard.taxonomy.errors import MissingExtraError
from tests.ace.environment.small import LOWER, UPPER, puzzle, write_file

SERVER = """
import sys
from pathlib import Path
from agenthard.ace.environment import Environment
from agenthard.ace.reference_format import read
from agenthard.ace.session import AceSession
from agenthard.play.mcp_server import serve

file = read(Path(sys.argv[1]))
serve(AceSession(Environment(file.instances[0].puzzle)), "agenthard-ace", shuffle=5, result=Path(sys.argv[2]))
"""
Talk = Callable[[Any, Callable[..., Awaitable[Any]]], Awaitable[None]]


def converse(folder: Path, talk: Talk) -> tuple[dict[str, Any], str]:
    """Runs a server, lets a client talk to it, and returns the outcome and everything the server said."""
    mcp = pytest.importorskip("mcp", reason="the extra 'mcp' is not installed")
    outcome = folder / "outcome.json"
    arguments = ["-c", SERVER, str(write_file(folder)), str(outcome)]
    said: list[str] = []

    async def run() -> None:
        async with mcp.Client(mcp.StdioServerParameters(command=sys.executable, args=arguments)) as client:
            said.append(client.instructions or "")
            said.append((await client.list_tools()).model_dump_json())

            async def call(name: str, **arguments: object) -> Any:
                result = await client.call_tool(name, arguments)
                said.append(result.model_dump_json())
                answer = json.loads(result.content[0].text)
                assert result.is_error == (answer["status"] == "failed")
                return answer

            await talk(client, call)

    asyncio.run(asyncio.wait_for(run(), timeout=60))
    return json.loads(outcome.read_text()), "\n".join(said)


def test_a_client_solves_an_instance(tmp_path: Path) -> None:
    async def talk(client: Any, call: Callable[..., Awaitable[Any]]) -> None:
        query = "query_course_candidate_from_attribute"
        cheap = await call(query, **UPPER, field="price", operator="<=", value=300)
        assert cheap["data"]["matches"] == ["C11", "C12"]
        await call("set_slot", **UPPER, id="C11")
        await call("set_slot", **LOWER, id="C21")
        assert (await call("check_course_global_constraints"))["data"] == {"is_valid": True}
        assert (await call("done"))["messages"] == "###STOP###"
        assert (await call("set_slot", **UPPER))["messages"] == "The episode is over"

    outcome, _ = converse(tmp_path, talk)
    assert (outcome["solved"], outcome["ending"], outcome["calls"]) == (True, "done", 5)
    assert outcome["grid"] == [["C1", "C11"], ["C21", "C2"]]


def test_tools_prompt_and_refusals(tmp_path: Path) -> None:
    async def talk(client: Any, call: Callable[..., Awaitable[Any]]) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(tools) == [tool.name for tool in Environment(puzzle()).tools(shuffle=5)]
        assert tools["set_slot"].input_schema["required"] == ["row", "col"]
        assert [prompt.name for prompt in (await client.list_prompts()).prompts] == ["task"]
        task = (await client.get_prompt("task")).messages[0].content.text
        assert task == client.instructions and "<task_policy>" in task
        assert (await call("no_such_tool"))["messages"] == "Unknown tool"
        assert "missing 1 required" in (await call("get_slot_id", row=0))["messages"]
        assert (await call("get_course_item_info", id="C11"))["status"] == "failed"

    outcome, said = converse(tmp_path, talk)
    assert (outcome["solved"], outcome["ending"]) == (False, "open")
    # Nothing but what the tools gave: no candidate was asked for, so none is named (C11 only where it is refused).
    assert not any(id in said for id in ("C12", "C13", "C21", "C22", "C23"))
    assert "truth" not in said and "decoy" not in said and "course_r2_c2_h2_b2" not in said


def test_without_the_package_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    from agenthard.play.mcp_server import make_server

    monkeypatch.setitem(sys.modules, "mcp", None)
    with pytest.raises(MissingExtraError, match=r"next: pip install 'agenthard\[mcp\]'"):
        make_server(AceSession(Environment(puzzle())), "agenthard-ace")
