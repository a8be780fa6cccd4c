"""Rooms with texts that models write: asks, checks, asks again, and falls back to the grammar with the reason."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TypeVar

from agenthard.escape.narrative.themes import Theme
from agenthard.escape.narrative.written import (
    RejectedTextError,
    Writer,
    Written,
    narrative_prompt,
    phrases_prompt,
    read_narrative,
    read_phrases,
    reply_schema,
)
from agenthard.flows.errors import InfrastructureError
from agenthard.models.budget import Budget
from agenthard.models.cache import ReplyCache
from agenthard.models.client import ModelClient
from agenthard.models.errors import ModelError
from agenthard.models.ledger import Ledger
from agenthard.models.model_file import ModelFile
from agenthard.models.prices import load_prices
from agenthard.models.request import ChatMessage, OutputSchema, Request

ATTEMPTS = 3
"""Replies that are asked for until one keeps the rules."""
T = TypeVar("T")


@dataclass(frozen=True)
class WritingSettings:
    """Who writes what."""

    narratives: ModelFile | None
    """Model that writes sentences; None for the grammar."""
    values: ModelFile | None
    """Model that writes phrases for values; None for our words."""
    folder: Path
    """Folder of the cache of replies and the ledger; outside the suite, since phrases are private."""
    budget: Budget
    """Limit of what models may cost."""
    prices: Path | None
    """Price table that takes precedence over the built-in one."""

    @property
    def written_by(self) -> dict[str, str]:
        """What ``suite.json`` says about it."""
        named = {"narratives_by": self.narratives, "values_by": self.values}
        return {key: file.name for key, file in named.items() if file is not None}


@contextmanager
def open_writer(settings: WritingSettings) -> Iterator[Writer]:
    """Open what asks the models; replies are cached, so that a resumed suite pays nothing twice.

    Raises:
        ConfigurationError: Prices or budget are wrong.
    """
    files = list({file.name: file for file in (settings.narratives, settings.values) if file is not None}.values())
    prices = load_prices(settings.prices).after(file.price for file in files if file.price is not None)
    settings.budget.require_prices([file.name for file in files], prices)
    settings.folder.mkdir(parents=True, exist_ok=True)
    cache, ledger = ReplyCache(settings.folder / "replies.sqlite"), Ledger(settings.folder / "ledger.sqlite")
    with asyncio.Runner() as runner:
        client = ModelClient(files, cache=cache, ledger=ledger, prices=prices, rng=Random(0), budget=settings.budget)
        try:
            yield _writer(settings, client, runner)
        finally:
            runner.run(client.close())
            ledger.close()
            cache.close()


def _writer(settings: WritingSettings, client: ModelClient, runner: asyncio.Runner) -> Writer:
    def write(theme: Theme, nodes: int, number: int) -> Written:
        notes: list[str] = []
        owner = f"room {number} of {nodes} parts"

        def asked(file: ModelFile, what: str, prompt: str, read: Callable[[str], T]) -> T | None:
            return _accepted(client, runner, file, what, prompt, read, owner, notes)

        written = Written()
        if settings.narratives is not None:
            told = asked(settings.narratives, "narrative", narrative_prompt(theme), lambda r: read_narrative(r, theme))
            written = Written(theme=told)
        if settings.values is not None:
            phrases = asked(settings.values, "values", phrases_prompt(theme), read_phrases)
            written = Written(theme=written.theme, phrases=phrases or ())
        return Written(written.theme, written.phrases, tuple(notes))

    return write


def _accepted(
    client: ModelClient,
    runner: asyncio.Runner,
    file: ModelFile,
    what: str,
    prompt: str,
    read: Callable[[str], T],
    owner: str,
    notes: list[str],
) -> T | None:
    """Ask until a reply keeps the rules; None when none of the attempts does."""
    for attempt in range(1, ATTEMPTS + 1):
        request = Request(
            model=file.name,
            messages=(ChatMessage(role="user", text=f"{prompt}\nThis is for {owner}."),),
            output=OutputSchema(name=what, json_schema=reply_schema(what)),
            sampling=file.sampling,
            sample=attempt,
        )
        try:
            reply = runner.run(client.complete(file.addressed(request), purpose=f"write {what}", owner=owner)).reply
            accepted = read(reply.message.text)
        except RejectedTextError as error:
            notes.append(f"{what} rejected (reply {attempt} of {ATTEMPTS}): {error}")
            continue
        except ModelError as error:
            raise InfrastructureError(f"{file.label}: {error}; rooms made so far are kept") from error
        notes.append(f"{what} by {file.name}")
        return accepted
    notes.append(f"{what}: the grammar's, since {ATTEMPTS} replies were rejected")
    return None
