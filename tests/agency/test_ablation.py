"""Scaffolds, models and numbers of feedbacks in one evaluation: a weak scaffold is seen in the paired tables."""

import json
from pathlib import Path

import pandas as pd
import pytest

from agenthard.agency.packs import packs
from agenthard.agency.scaffolds import Budget, Player, Prompt, Rollout, scaffold
from agenthard.agency.scaffolds.native import Native
from agenthard.agency.suite.catalogue import NAMES
from agenthard.agency.suite_files import write_suite
from agenthard.agency.tools import Toolset
from agenthard.flows.evaluation.settings import EvaluationSettings
from agenthard.models.model_file import load_model
from agenthard.models.request import ChatMessage
from tests.flows.evaluation.conftest import evaluated, model_path
from tests.loopback import Loopback
from tests.loopback.agency_brain import works
from tests.loopback.suite_brain import plays


class Hasty(Native):
    """Gives up after two replies of an attempt."""

    async def run(self, prompt: Prompt, workspace: Toolset, history: list[ChatMessage], budget: Budget) -> Rollout:
        whole = budget.limits
        budget.limits = whole.model_copy(update={"turns": 2})
        try:
            return await super().run(prompt, workspace, history, budget)
        finally:
            budget.limits = whole


@pytest.mark.long
def test_a_weak_scaffold_is_seen_next_to_the_native_one(
    suite: Path, loopback: Loopback, keys: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(scaffold.BUILT_IN, "hasty", f"{__name__}:Hasty")
    loopback.service.brain = works
    settings = EvaluationSettings(
        benchmark="agency",
        path=str(suite),
        models=(load_model(str(model_path(tmp_path, loopback.url))),),
        axes={"scaffold": ("native", "hasty"), "rounds": ("0", "1")},
        out=str(tmp_path / "out"),
    )
    outcome = evaluated(settings)
    assert outcome.complete and outcome.planned == 4
    table = pd.read_parquet(tmp_path / "out/tables/episodes.parquet")
    scores = {(row.scaffold, row.rounds): row.score for row in table.itertuples()}
    assert scores == {("native", "0"): 0.0, ("native", "1"): 1.0, ("hasty", "0"): 0.0, ("hasty", "1"): 0.875}
    page = Path(outcome.report).read_text(encoding="utf-8")
    assert "hasty" in page and "scaffold" in page


class Forgetful(Native):
    """Drops the results of tools from the fifty-first reply of a scenario on."""

    def __init__(self, player: Player) -> None:
        super().__init__(player)
        self._history = _Forgetting()

    async def run(self, prompt: Prompt, workspace: Toolset, history: list[ChatMessage], budget: Budget) -> Rollout:
        return await super().run(prompt, workspace, self._history, budget)


class _Forgetting(list[ChatMessage]):
    def append(self, message: ChatMessage) -> None:
        late = sum(each.role == "assistant" for each in self) > 50
        super().append(message.model_copy(update={"text": ""}) if late and message.role == "tool" else message)


@pytest.mark.long
def test_models_by_scaffolds_are_paired_and_a_planted_weakness_is_seen(
    loopback: Loopback, keys: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(scaffold.BUILT_IN, "other", f"{__name__}:Forgetful")
    packs.cache_clear()
    write_suite([packs()[name] for name in NAMES], tmp_path / "suite")
    loopback.service.brain = plays
    models = []
    for label in ("diligent", "hasty"):
        (tmp_path / label).mkdir()
        name = f"compatible/{label}@{loopback.openai_url}"
        models.append(load_model(str(model_path(tmp_path / label, loopback.url, name=name, label=label))))
    settings = EvaluationSettings(
        benchmark="agency",
        path=str(tmp_path / "suite"),
        models=tuple(models),
        options={"rounds": "0", "turns": "40"},
        in_flight=4,
        axes={"scaffold": ("native", "other")},
        out=str(tmp_path / "out"),
    )
    outcome = evaluated(settings)
    assert outcome.complete and outcome.planned == 24
    analysis = json.loads((tmp_path / "out/report/evaluation.json").read_text())
    rows = {(row["agent"], row["condition"]): row for row in analysis["by_condition"]}
    for label in ("diligent", "hasty"):
        gap = rows[label, "scaffold = other"]["score_difference"]
        assert gap["n"] == 6 and gap["value"] < -0.2 and rows[label, "scaffold = native"]["reference"]
    gap = rows["hasty", "scaffold = other"]["score_difference"]
    assert gap["low"] < gap["value"] < gap["high"] < 0
    assert rows["diligent", "scaffold = native"]["mean"] == 1.0 > rows["hasty", "scaffold = native"]["mean"]
    changes = {(row["agent"], row["condition"]): row for row in analysis["turn_changes"]}
    assert set(changes) == {("diligent", "scaffold = other"), ("hasty", "scaffold = other")}
    for change in changes.values():
        assert change["what"] == "repeated" and 51 <= change["turn"] <= 53
        assert change["after"]["value"] > 0.8 and change["before"]["value"] < 0.1
    page = Path(outcome.report).read_text(encoding="utf-8")
    assert "Early and late in episodes" in page and "of its calls are repeated" in " ".join(page.split())
