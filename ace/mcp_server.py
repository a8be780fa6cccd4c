"""An episode as an MCP server over standard input and output: any MCP client can play an instance.

The server is given the public part of one instance, so nothing it says can depend on the answer; the id of the
instance, which tells the decoy budget, is not said either. It needs the extra ``mcp``.
"""

import asyncio
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agenthard.ace.environment import Environment
from agenthard.ace.environment.environment import as_text
from agenthard.ace.environment.prompts import messages
from agenthard.ace.environment.schemas import parameters
from agenthard.taxonomy.errors import MissingExtraError

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server


def serve(environment: Environment, *, shuffle: int | None = None, result: Path | None = None) -> None:
    """Serves one episode until the client closes the connection.

    Args:
        environment: The episode.
        shuffle: Seed by which to shuffle the tools; None keeps their order.
        result: Where to write the outcome as JSON when the client is gone; None writes none.

    Raises:
        MissingExtraError: The package ``mcp`` is not installed.
        OSError: The outcome cannot be written.
    """
    server = make_server(environment, shuffle=shuffle)
    try:
        asyncio.run(_over_stdio(server))
    finally:
        if result is not None:
            result.write_text(json.dumps(asdict(environment.result()), indent=2) + "\n", encoding="utf-8")


def make_server(environment: Environment, *, shuffle: int | None = None) -> "Server[Any]":
    """Makes the server of an episode, not yet connected to anything.

    Args:
        environment: The episode.
        shuffle: Seed by which to shuffle the tools; None keeps their order.

    Returns:
        A server with the tools of the episode and one prompt, ``task``, which states the task. Clients that show the
        server's instructions to the model need no prompt: they say the same.

    Raises:
        MissingExtraError: The package ``mcp`` is not installed.
    """
    try:
        from mcp import types
        from mcp.server.lowlevel import Server
    except ModuleNotFoundError as error:
        raise MissingExtraError("the MCP server", "mcp") from error

    text = "\n\n".join(message["content"] for message in messages(environment))
    title = f"ACE-Bench: {environment.domain.wording.task}"

    async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
        tools = environment.tools(shuffle)
        return types.ListToolsResult(
            tools=[types.Tool(name=t.name, description=t.description, input_schema=parameters(t)) for t in tools]
        )

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        answer = environment.call(params.name, params.arguments)
        content = types.TextContent(type="text", text=as_text(answer))
        return types.CallToolResult(content=[content], is_error=answer["status"] == "failed")

    async def list_prompts(context: Any, params: Any) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[types.Prompt(name="task", description=title)])

    async def get_prompt(context: Any, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        content = types.TextContent(type="text", text=text)
        return types.GetPromptResult(description=title, messages=[types.PromptMessage(role="user", content=content)])

    return Server(
        "agenthard-ace",
        title=title,
        instructions=text,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
    )


async def _over_stdio(server: "Server[Any]") -> None:
    from mcp.server.stdio import stdio_server

    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())
