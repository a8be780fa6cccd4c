"""An episode as an MCP server over standard input and output: any MCP client can play an instance.

It needs the extra ``mcp``.
"""

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agenthard.play.session import Session
from agenthard.taxonomy.errors import MissingExtraError

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server


def serve(session: Session, name: str, *, shuffle: int | None = None, result: Path | None = None) -> None:
    """Serves one episode until the client closes the connection.

    Args:
        session: The episode.
        name: Name of the server.
        shuffle: Seed by which to shuffle the tools; None keeps their order.
        result: Where to write the outcome as JSON when the client is gone; None writes none.

    Raises:
        MissingExtraError: The package ``mcp`` is not installed.
        OSError: The outcome cannot be written.
    """
    server = make_server(session, name, shuffle=shuffle)
    try:
        asyncio.run(_over_stdio(server))
    finally:
        if result is not None:
            result.write_text(json.dumps(dict(session.result().details), indent=2) + "\n", encoding="utf-8")


def make_server(session: Session, name: str, *, shuffle: int | None = None) -> "Server[Any]":
    """Makes the server of an episode, not yet connected to anything.

    Args:
        session: The episode.
        name: Name of the server.
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

    text = "\n\n".join(message.content for message in session.messages())
    title = session.title

    async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
        tools = session.tools(shuffle)
        return types.ListToolsResult(
            tools=[types.Tool(name=t.name, description=t.description, input_schema=t.parameters) for t in tools]
        )

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        session.begin_turn()
        answer, failed = session.call(params.name, params.arguments)
        content = types.TextContent(type="text", text=answer)
        return types.CallToolResult(content=[content], is_error=failed)

    async def list_prompts(context: Any, params: Any) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[types.Prompt(name="task", description=title)])

    async def get_prompt(context: Any, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        content = types.TextContent(type="text", text=text)
        return types.GetPromptResult(description=title, messages=[types.PromptMessage(role="user", content=content)])

    return Server(
        name,
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
