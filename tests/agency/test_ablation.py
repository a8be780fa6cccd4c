"""Two scaffolds and two numbers of feedbacks in one evaluation: a weak scaffold is seen in the paired table."""

from pathlib import Path

import pandas as pd
import pytest

from agenthard.agency.scaffolds import Budget, Prompt, Rollout, scaffold
from agenthard.agency.scaffolds.native import Native
from agenthard.agency.tools import Toolset
from agenthard.flows.evaluation.settings import EvaluationSettings
from agenthard.models.model_file import load_model
from agenthard.models.request import ChatMessage
from tests.flows.evaluation.conftest import evaluated, model_path
from tests.loopback import Loopback
from tests.loopback.agency_brain import works


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
