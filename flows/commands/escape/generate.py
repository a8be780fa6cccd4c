"""``agenthard escape generate``: a suite of proved rooms."""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agenthard.flows.commands.escape.reading import one_message
from agenthard.flows.commands.model_options import BudgetOption, PricesOption, TokenBudgetOption
from agenthard.flows.commands.output import JsonOption, error_console, print_json, print_table

if TYPE_CHECKING:
    from agenthard.escape.generator import Parameters


def generate(
    out: Annotated[Path, typer.Option(help="Folder of the suite.")],
    size: Annotated[list[int] | None, typer.Option("--size", "-n", help="Parts of a room; repeatable.")] = None,
    rooms: Annotated[
        list[int] | None, typer.Option(help="Rooms of each size: one number for all, or one per --size.")
    ] = None,
    decoys: Annotated[int, typer.Option(min=0, max=10, help="Values that accompany each told value.")] = 2,
    seed: Annotated[int, typer.Option(help="Seed of the suite; keep that of a private suite secret.")] = 0,
    workers: Annotated[int, typer.Option(min=1, help="Processes; they do not change a byte.")] = 1,
    narratives: Annotated[
        str | None, typer.Option(help="Model (name or model file) that writes the sentences of each room.")
    ] = None,
    values: Annotated[
        str | None, typer.Option(help="Model (name or model file) that writes the phrases values are made of.")
    ] = None,
    replies: Annotated[
        Path | None, typer.Option(help="Folder for cached replies and the ledger; default: OUT.replies.")
    ] = None,
    budget: BudgetOption = None,
    token_budget: TokenBudgetOption = None,
    prices: PricesOption = None,
    as_json: JsonOption = False,
) -> None:
    """Generate a suite of proved rooms; the default is the paper's. The same command resumes after an interruption.

    What a model writes is checked as all else is; what leaks or contradicts is rejected, and the grammar's text used.

    Exit codes: 0 the suite is there, 64 it cannot exist, 3 it cannot be written; the message says why.

    Example: `agenthard escape generate --out escape-suite --size 5 --rooms 4`
    """
    from agenthard.escape.generator import EscapeGenerator
    from agenthard.flows.errors import InfrastructureError
    from agenthard.flows.escape_writing import WritingSettings, open_writer
    from agenthard.flows.generators import write_lines
    from agenthard.flows.progress import show_progress
    from agenthard.models.budget import Budget
    from agenthard.models.model_file import load_model

    given = {"sizes": tuple(size or ()), "rooms": tuple(rooms or ()), "decoys": decoys, "seed": seed}
    if size and not rooms:
        given["rooms"] = (60,)
    parameters = _parameters(**given)
    writing = WritingSettings(
        narratives=load_model(narratives) if narratives else None,
        values=load_model(values) if values else None,
        folder=replies or out.with_name(f"{out.name}.replies"),
        budget=Budget(money=budget, tokens=token_budget),
        prices=prices,
    )
    try:
        with one_message(), show_progress(error_console()), ExitStack() as opened:
            writer = opened.enter_context(open_writer(writing)) if writing.written_by else None
            write_lines(EscapeGenerator(writer, writing.written_by), parameters, out, workers)
    except KeyboardInterrupt:
        raise InfrastructureError("interrupted; what is there is kept: the same command continues from there") from None
    tiers = [{"size": nodes, "rooms": count} for nodes, count in parameters.tiers()]
    if as_json:
        print_json({"out": str(out), "rooms": parameters.count, "tiers": tiers})
    else:
        rows = [(str(nodes), str(count)) for nodes, count in parameters.tiers()]
        print_table(f"{parameters.count} rooms in {out}", ("parts", "rooms"), rows, right=("parts", "rooms"))


def _parameters(**asked: Any) -> "Parameters":
    """Check what is asked for; an empty list means the paper's."""
    from pydantic import ValidationError

    from agenthard.escape.generator import Parameters
    from agenthard.flows.errors import CommandError

    try:
        with one_message():
            return Parameters(**{name: value for name, value in asked.items() if value != ()})
    except ValidationError as error:
        reasons = "; ".join(f"{each['loc'][0]}: {each['msg']}" for each in error.errors())
        raise CommandError(f"such a suite cannot exist: {reasons}") from error
