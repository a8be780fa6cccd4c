import pytest

from agenthard.audit.detectors.evaluation import GoalScoresNothing
from tests.audit.detectors.evaluation.open_tasks import open_task


@pytest.mark.parametrize(
    ("goal", "criterion"),
    [
        ("Reach MSE < 5e-2.", "Score = 0 if loss >= 2e-3, Score = 10 if loss <= 5e-4."),
        ("Reach an accuracy >= 0.8.", "Score is 0 if accuracy < 0.9."),
    ],
)
def test_the_goal_is_met_and_nothing_scored(goal: str, criterion: str) -> None:
    [hit] = GoalScoresNothing().inspect(open_task(goal, criterion))
    assert [item.quote for item in hit.evidence] == [goal, criterion]


@pytest.mark.parametrize(
    ("goal", "criterion"),
    [
        ("Reach MSE < 1e-3.", "Score = 0 if loss >= 2e-3."),
        ("Reach an accuracy >= 0.9.", "Score = 0 if accuracy < 0.8."),
        ("Keep the latency below 5.", "Score = 0 if loss >= 2."),
        ("Reach accuracy > 0.5.", "Score = 0 if accuracy >= 2."),
    ],
)
def test_what_meets_the_goal_scores(goal: str, criterion: str) -> None:
    assert list(GoalScoresNothing().inspect(open_task(goal, criterion))) == []
