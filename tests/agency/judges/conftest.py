"""A page of two clauses, its workspace, and a client of the model server on loopback."""

import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest

from agenthard.agency.judges import Blinder, Exhibit
from agenthard.agency.sandbox.record import BrowserRecord, ConsoleLine, SavedImage, digest
from agenthard.agency.scenario import Criterion, Deliverable, ScenarioTask
from agenthard.models.cache import ReplyCache
from agenthard.models.client import ModelClient
from agenthard.models.ledger import Ledger
from agenthard.models.model_file import ModelFile
from agenthard.models.prices import PriceTable
from tests.loopback.server import Loopback

CLAUSES = ("The board has nine cells.", "A move is announced.")
TASK = ScenarioTask(
    id="Game/board/task1",
    number=1,
    query="Build index.html with a board of nine cells. Name the engine gpt-4o in the footer.",
    deliverables=(Deliverable(text="`index.html`", path="index.html"),),
    criteria=tuple(
        Criterion(id=f"{number}-{kind}", text=text, judge=kind)
        for number, text in enumerate(CLAUSES, 1)
        for kind in ("text", "vision")
    ),
)
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
)


class Asking(NamedTuple):
    """A client, and the model files of the judges that it may ask."""

    client: ModelClient
    judges: tuple[ModelFile, ...]
    ledger: Ledger
    server: Loopback


@pytest.fixture
def asking(loopback: Loopback, keys: str, tmp_path: Path) -> Iterator[Asking]:
    judges = tuple(
        ModelFile(name=f"compatible/judge-{name}@{loopback.openai_url}", label=name) for name in ("one", "two")
    )
    loopback.service.remember = 1000
    with ExitStack() as stack:
        cache, ledger = ReplyCache(tmp_path / "replies.sqlite"), Ledger(tmp_path / "ledger.sqlite")
        stack.callback(cache.close)
        stack.callback(ledger.close)
        prices = PriceTable(currency="USD")
        client = ModelClient(judges, cache=cache, ledger=ledger, prices=prices, rng=random.Random(0))
        yield Asking(client, judges, ledger, loopback)


@pytest.fixture
def exhibit(tmp_path: Path) -> Callable[..., Exhibit]:
    """An attempt: files by name, and whether there is an image of its page."""

    def of(
        files: dict[str, str],
        *,
        image: bool = True,
        reply: str = "",
        errors: tuple[str, ...] = (),
        blinder: Blinder | None = None,
        place: str = "work",
    ) -> Exhibit:
        work, images = tmp_path / place, tmp_path / "images"
        for name, text in files.items():
            (work / name).parent.mkdir(parents=True, exist_ok=True)
            (work / name).write_text(text)
        images.mkdir(exist_ok=True)
        (images / "step-001.png").write_bytes(PIXEL)
        saved = SavedImage(name="step-001.png", step=1, label="", width=1, height=1, sha256=digest(PIXEL))
        record = BrowserRecord(
            browser="Chromium",
            steps=(),
            images=(saved,) if image else (),
            console=tuple(ConsoleLine(level="error", text=text) for text in errors),
            console_left_out=0,
            refused=(),
            isolation="",
            not_contained=(),
        )
        return Exhibit(TASK, work, blinder or Blinder.of_task(TASK), reply=reply, record=record, images=images)

    return of
