"""The program of the Claude Agent SDK: how it runs, what it can reach, and how it ends. Needs the extra ``claude``.

Its own tools are off, and so are files of settings, memory, skills, hooks, telemetry and updates. It gets a home folder
and variables of its own, and none of this process. All that it sends goes to the gateway, which is its proxy as well.
"""

import shlex
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from agenthard.agency.scaffolds.claude.attempt import PREFIX, ClaudeProgramError
from agenthard.agency.scaffolds.claude.gateway import Gateway
from agenthard.agency.scaffolds.native import SYSTEM
from agenthard.models.request import Tool
from agenthard.taxonomy.record import Record

try:
    import claude_agent_sdk as sdk
except ImportError as error:
    from agenthard.audit.plugins import PluginError

    raise PluginError(
        f'the scaffold claude_agent_sdk needs the Claude Agent SDK: pip install "agenthard[claude]" ({error})'
    ) from error

SERVER = PREFIX.removeprefix("mcp__").removesuffix("__")
MODEL = "agenthard"
"""What the program calls the model; which one answers, the gateway decides."""
FOREVER = str(2**31 - 1)
"""The longest time that the program can wait, in milliseconds: budgets end an attempt."""
MOST_CHARACTERS = 500_000
"""How long a result may be before the program writes it to a file instead."""
SWITCHED_OFF = (
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    "CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS",
    "CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK",
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS",
    "DISABLE_TELEMETRY",
    "DISABLE_ERROR_REPORTING",
    "DISABLE_AUTOUPDATER",
    "DISABLE_COMPACT",
    "DO_NOT_TRACK",
)
"""Variables that are 1."""
Handler = Callable[[str, dict[str, Any]], Awaitable[str]]


class ProgramEnd(Record):
    """How the program ended a conversation."""

    failed: bool
    """Whether it calls this an error."""
    text: str
    """What it says last."""


async def converse(prompt: str, tools: Iterable[Tool], call: Handler, gateway: Gateway) -> ProgramEnd:
    """Let the program work on a prompt until it says that it is done.

    Args:
        prompt: the prompt, which is given as it is: it names no file and no command.
        tools: our tools.
        call: carries a call out, and returns what it gave.
        gateway: answers the program.

    Raises:
        ClaudeProgramError: the program could not be started, or ended without a word.
    """
    heard: deque[str] = deque(maxlen=20)
    with TemporaryDirectory(prefix="agenthard-claude-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        (home / "empty").mkdir()
        launcher = _launcher(home, _variables(home, gateway.url, gateway.token))
        client = sdk.ClaudeSDKClient(_options(launcher, home / "empty", tools, call, heard.append))
        try:
            async with client:
                try:
                    await client.query(prompt)
                    async for message in client.receive_response():
                        if isinstance(message, sdk.ResultMessage):
                            return ProgramEnd(failed=message.is_error, text=message.result or message.subtype)
                finally:
                    await gateway.give_up()  # a program that waits for a reply would not end for seconds
        except Exception as error:  # the SDK raises plain exceptions too
            said = "; ".join([str(error), *heard])
            raise ClaudeProgramError(f"the program of the Claude Agent SDK: {said}") from error
    raise ClaudeProgramError(f"the program of the Claude Agent SDK ended without a result: {'; '.join(heard)}")


def _options(
    launcher: Path, folder: Path, tools: Iterable[Tool], call: Handler, hear: Callable[[str], None]
) -> sdk.ClaudeAgentOptions:
    server = sdk.create_sdk_mcp_server(SERVER, tools=[_tool(each, call) for each in tools])
    return sdk.ClaudeAgentOptions(
        tools=[],
        mcp_servers={SERVER: server},
        strict_mcp_config=True,
        allowed_tools=[PREFIX.removesuffix("__")],
        permission_mode="dontAsk",
        system_prompt=SYSTEM,
        setting_sources=[],
        skills=[],
        verbatim_prompts=True,
        model=MODEL,
        cwd=folder,
        cli_path=launcher,
        extra_args={"bare": None, "no-session-persistence": None, "disable-slash-commands": None},
        max_buffer_size=1 << 30,
        stderr=hear,
    )


def _tool(tool: Tool, call: Handler) -> "sdk.SdkMcpTool[Any]":
    async def handle(given: dict[str, Any]) -> dict[str, Any]:
        return {"content": [{"type": "text", "text": await call(tool.name, given)}]}

    whole = sdk.ToolAnnotations(maxResultSizeChars=MOST_CHARACTERS)
    return sdk.tool(tool.name, tool.description, tool.parameters, annotations=whole)(handle)


def _variables(home: Path, url: str, token: str) -> dict[str, str]:
    return {
        "HOME": str(home),
        "CLAUDE_CONFIG_DIR": str(home / "config"),
        "TMPDIR": str(home),
        "PATH": str(home / "empty"),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": token,
        "HTTP_PROXY": url,
        "HTTPS_PROXY": url,
        "NO_PROXY": "127.0.0.1",
        "CLAUDE_CODE_ENTRYPOINT": "sdk-py",
        "CLAUDE_AGENT_SDK_VERSION": sdk.__version__,
        "CLAUDE_CODE_SDK_READS_SESSION_STATE": "1",
        "CLAUDE_CODE_ATTRIBUTION_HEADER": "0",
        "CLAUDE_CODE_MAX_RETRIES": "0",
        "ENABLE_TOOL_SEARCH": "false",
        "API_TIMEOUT_MS": FOREVER,
        "MCP_TOOL_TIMEOUT": FOREVER,
        **dict.fromkeys(SWITCHED_OFF, "1"),
    }


def _launcher(home: Path, variables: Mapping[str, str]) -> Path:
    """Write what the SDK starts: the program with these variables only; the SDK alone would add those of this process.

    Raises:
        ClaudeProgramError: the installed SDK has no program for this machine.
    """
    program = Path(sdk.__file__).parent / "_bundled" / "claude"
    if not program.is_file():
        raise ClaudeProgramError(f"claude-agent-sdk {sdk.__version__} has no program for this kind of machine")
    given = [f"export {name}={shlex.quote(value)}" for name, value in variables.items()]
    path = home / "claude"
    path.touch(mode=0o700)
    start = f'exec {shlex.quote(str(program))} "$@"'
    path.write_text("\n".join(["#!/usr/bin/env -S -i /bin/sh", *given, start, ""]), encoding="utf-8")
    return path
