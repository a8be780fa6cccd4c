"""Scripted agents play the tiny scenario: scores, carried workspaces, feedback, and what is written."""

from pathlib import Path

from agenthard.flows.evaluation.finished import read_finished
from agenthard.flows.evaluation.settings import EvaluationSettings
from tests.flows.evaluation.conftest import evaluated


def test_scripted_agents_get_their_scores(suite: Path, tmp_path: Path) -> None:
    agents = ("reference", "partial", "do_nothing")
    settings = EvaluationSettings(
        benchmark="agency", path=str(suite), agents=agents, out=str(tmp_path / "out"), options={"rounds": "1"}
    )
    outcome = evaluated(settings)
    assert outcome.complete, outcome
    runs = list(read_finished(tmp_path / "out", "agency").runs())
    scores = {(run.model, run.task_id, run.trial): run.score for run in runs}
    print(scores)
    print(runs[1].model_dump_json(indent=1)[:3000])
