"""What is shown while an evaluation runs."""

import io
import threading
from pathlib import Path

import pytest
from rich.console import Console

from agenthard.flows.evaluation.episodes import Episode
from agenthard.flows.evaluation.progress import show_episodes
from agenthard.flows.evaluation.settings import EvaluationSettings
from agenthard.flows.evaluation.store import EpisodeStore
from agenthard.flows.progress import show_progress
from agenthard.models.budget import Amount, Budget
from agenthard.models.ledger import Entry, Ledger
from agenthard.models.model_file import ModelFile
from agenthard.models.request import Usage


def test_rate_and_cost_stand_beside_the_bar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = ModelFile(name="openai/gpt-5-mini")
    settings = EvaluationSettings(benchmark="ace", path="suite", models=(model,), out=str(tmp_path))
    ledger = Ledger(settings.folder.ledger)
    row = ledger.send(Entry(model.name, "agent", "e", "d"), Amount(1, 10, 1.0), Budget())
    assert row is not None
    ledger.answered(row, Usage(prompt_tokens=7), 1.25)
    ledger.close()
    looked = threading.Event()
    terminal = Console(file=io.StringIO(), force_terminal=True, width=120)
    monkeypatch.setattr("agenthard.flows.evaluation.progress._SECONDS", 0.01)
    notes: list[str] = []
    with show_progress(terminal):
        from agenthard.flows.progress import current

        def note(words: str) -> None:
            notes.append(words)
            looked.set()

        monkeypatch.setattr(current(), "note", note)
        with show_episodes(settings, tasks=3):
            assert looked.wait(60)
    assert notes[0] == "0.0/s, 1.25 USD"


def test_long_plays_say_where_they_are(tmp_path: Path) -> None:
    store = EpisodeStore(tmp_path / "episodes.sqlite")
    one, other = (Episode("a", task, 0.0, 0) for task in ("game", "code"))
    store.claim([one, other], "worker", 3)
    for place in ("game-task1, attempt 1 of 2", "game-task1, attempt 2 of 2"):
        store.be_at(one, place)
    store.be_at(other, "code-task1, attempt 1 of 2")
    assert store.places() == [("a", "code-task1, attempt 1 of 2"), ("a", "game-task1, attempt 2 of 2")]
    store.release_episode(one)
    assert store.places() == [("a", "code-task1, attempt 1 of 2")]
    store.close()
