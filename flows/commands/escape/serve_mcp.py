"""``agenthard escape serve-mcp``: one room as tools over MCP."""

from pathlib import Path
from typing import Annotated

import typer

from agenthard.flows.commands.escape.reading import find_room, one_message


def serve_mcp(
    path: Annotated[Path, typer.Argument(help="Suite of rooms.")],
    room: Annotated[str, typer.Argument(help="Id of the room to play.")],
    result: Annotated[Path | None, typer.Option(help="Where to write the outcome as JSON when the client is gone.")] = (
        None
    ),
    feedback: Annotated[str, typer.Option(help="none, binary or per_param.")] = "per_param",
    execution: Annotated[str, typer.Option(help="golden or free: when a tool works.")] = "golden",
    turns: Annotated[int, typer.Option(min=-1, help="Turns; 0: those of the paper, -1: no limit.")] = 0,
    submits: Annotated[int, typer.Option(min=-1, help="Answers that may be submitted; -1: no limit.")] = -1,
    failure_rate: Annotated[float, typer.Option(min=0, max=1, help="Probability that a tool call fails.")] = 0.0,
    seed: Annotated[int, typer.Option(help="Seed of the failures.")] = 0,
) -> None:
    """Serve one room as tools over MCP (standard input and output); each call is a turn. Needs the extra `mcp`.

    Standard output belongs to the protocol, so `--json` is missing: `--result` writes the outcome as JSON.
    Exit codes: 0 the client is gone, 64 the room does not exist.

    Example: `agenthard escape serve-mcp escape-suite escape_n5_000`
    """
    from agenthard.escape.environment import Environment
    from agenthard.escape.session import EscapeSession
    from agenthard.flows.commands.escape.play import conditions
    from agenthard.flows.commands.output import protocol_output
    from agenthard.play.mcp_server import serve

    with one_message(), protocol_output():
        instance = find_room(path, room)
        chosen = conditions(feedback, execution, turns, submits)
        environment = Environment(instance, chosen, failure_rate=failure_rate, seed=seed)
        session = EscapeSession(environment, instance.id, instance.room.theme)
        serve(session, "agenthard-escape", result=result)
