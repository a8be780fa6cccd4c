"""``agenthard agency feedback``: what the simulated user says about a folder."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agenthard.flows.commands.agency.grade import WeakOption
from agenthard.flows.commands.agency.reading import Graded, graded
from agenthard.flows.commands.output import JsonOption, console, print_json

if TYPE_CHECKING:
    from agenthard.agency.user import Feedback, Situation


def feedback(
    suite: Annotated[Path, typer.Argument(help="Suite of scenarios.")],
    task: Annotated[str, typer.Argument(help="Id of the task.")],
    folder: Annotated[Path, typer.Argument(help="Folder that an agent left; it is copied and not changed.")],
    model: Annotated[str | None, typer.Option(help="Model that plays the user; default: a template.")] = None,
    cache: Annotated[Path, typer.Option(help="Folder for replies and costs of the model.")] = Path("agency-feedback"),
    weak_isolation: WeakOption = False,
    as_json: JsonOption = False,
) -> None:
    """Grade a folder and show the feedback that an agent would get, after the leak filter.

    Exit codes: 0 shown, 64 no such task or folder, or it cannot be graded here.

    Example: `agenthard agency feedback agency-suite research-task1 work`
    """
    from agenthard.agency.user import LeakFilter, Situation

    with graded(suite, task, folder, weak_isolation) as found:
        files = [path for path, entry in found.snapshot.entries.items() if entry.kind == "file"]
        situation = Situation(found.task, 0, found.grade, files, "")
        said = asyncio.run(_said(situation, model, cache))
        said = LeakFilter(found.task, found.stored.gold, _known(found, files)).filtered(said)
    if as_json:
        print_json(said)
        return
    console().print(said.text, markup=False)
    if said.leaks:
        typer.echo(f"\n{len(said.leaks)} words that the agent must not read were taken out.")


async def _said(situation: "Situation", model: str | None, cache: Path) -> "Feedback":
    from random import Random

    from agenthard.agency.user import ModelUser, TemplateUser
    from agenthard.models.cache import ReplyCache
    from agenthard.models.client import ModelClient
    from agenthard.models.ledger import Ledger
    from agenthard.models.model_file import load_model
    from agenthard.models.prices import load_prices

    if model is None:
        return await TemplateUser().respond(situation, situation.task.id)
    file = load_model(model)
    replies, ledger = ReplyCache(cache / "replies.sqlite"), Ledger(cache / "ledger.sqlite")
    client = ModelClient([file], cache=replies, ledger=ledger, prices=load_prices(None), rng=Random(0))
    try:
        return await ModelUser(client, file).respond(situation, situation.task.id)
    finally:
        await client.close()
        ledger.close()
        replies.close()


def _known(found: Graded, files: list[str]) -> list[str]:
    return [*files, *(found.store.read(found.snapshot, path).decode("utf-8", "replace") for path in files)]
