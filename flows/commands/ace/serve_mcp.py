"""``agenthard ace serve-mcp``: one instance as tools over MCP."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agenthard.flows.commands.ace.reading import one_message

if TYPE_CHECKING:
    from agenthard.ace.environment import Conditions
    from agenthard.ace.instance import Puzzle


def serve_mcp(
    path: Annotated[Path, typer.Argument(help="Suite, file in the layout of the paper, or a folder with such.")],
    instance: Annotated[str, typer.Argument(help="Id of the instance to play.")],
    result: Annotated[Path | None, typer.Option(help="Where to write the outcome as JSON when the client is gone.")] = (
        None
    ),
    mode: Annotated[str, typer.Option(help="reference or paper: how the tools behave.")] = "reference",
    extra_queries: Annotated[int, typer.Option(min=-1, help="Queries beyond those of a slot; -1: no limit.")] = 2,
    alpha: Annotated[float, typer.Option(min=-1, help="Global checks per slot; -1: no limit.")] = 1.0,
    failure_rate: Annotated[float, typer.Option(min=0, max=1, help="Probability that a tool call fails.")] = 0.0,
    seed: Annotated[int, typer.Option(help="Seed of the failures.")] = 0,
) -> None:
    """Serve one instance as tools over MCP (standard input and output). Needs the extra `mcp`.

    Standard output belongs to the protocol, so `--json` is missing: `--result` writes the outcome as JSON. Of a suite
    only the public part is read; the answers need not be there.
    Exit codes: 0 the client is gone, 3 the instance cannot be served.

    Example: `agenthard ace serve-mcp ace-suite course_r5_c7_h3_b2`
    """
    from agenthard.ace.environment import Environment
    from agenthard.ace.session import AceSession
    from agenthard.flows.commands.output import protocol_output
    from agenthard.play.mcp_server import serve

    conditions = _conditions(mode=mode, extra_queries=extra_queries, alpha=alpha)
    with one_message(), protocol_output():
        puzzle = _puzzle(path, instance)
        environment = Environment(
            puzzle, mode=conditions.mode, budgets=conditions.budgets, failure_rate=failure_rate, seed=seed
        )
        session = AceSession(environment)
        serve(session, "agenthard-ace", result=result)


def _conditions(mode: str, **budgets: float) -> "Conditions":
    """Return the conditions that options name, the same record and defaults as `agenthard evaluate ace` has.

    Raises:
        CommandError: the mode is unknown.
    """
    from agenthard.ace.environment import Conditions, Mode
    from agenthard.flows.errors import CommandError

    if mode not in list(Mode):
        raise CommandError(f"no mode {mode!r}; there are: {', '.join(Mode)}")
    return Conditions.model_validate({"mode": mode, **budgets})


def _puzzle(path: Path, id: str) -> "Puzzle":
    from agenthard.ace import files
    from agenthard.ace.errors import Unreadable
    from agenthard.flows.errors import CommandError

    others: list[str] = []
    for each in files.load_puzzles(path):
        if each.id == id:
            if isinstance(each, Unreadable):
                raise CommandError(f"{path}: the instance {id!r} cannot be read: {each.reason}")
            return each
        others.append(each.id or f"(unreadable: {each.reason})" if isinstance(each, Unreadable) else each.id)
    if not others:
        raise CommandError(f"{path}: no ACE-Bench instance here")
    more = f" and {len(others) - 5} more" if len(others) > 5 else ""
    raise CommandError(f"{path}: no instance {id!r}; there are {', '.join(others[:5])}{more}")
