import pytest

from agenthard.audit.detectors.evaluation import UnseenRubric
from agenthard.taxonomy import Tier
from tests.audit.detectors.evaluation.open_tasks import open_task

RUBRIC = "Score 10: correctly identifies Acme Seeds and its founder."


@pytest.mark.parametrize(
    "said",
    [
        "Identify the firm described by the rubric.",
        "Which firm matches the rubric criteria?",
        "Give the rubric-required comparison.",
    ],
)
def test_a_rubric_that_the_agent_does_not_get(said: str) -> None:
    [hit] = UnseenRubric().inspect(open_task(said, RUBRIC))
    assert hit.category is None
    assert hit.evidence[1].quote == RUBRIC


def test_it_only_suspects() -> None:
    task = open_task("Which firm matches the rubric criteria?", RUBRIC)
    [hit] = UnseenRubric().inspect(task.model_copy(update={"traits": task.traits | {"rubric_maybe_in_prompt"}}))
    assert hit.tier is None and UnseenRubric.tier is Tier.SUSPECTED
    assert hit.claim.endswith("which no file says that the agent gets")
    assert hit.evidence[1].note == "what it may not read"


def test_a_rubric_that_tells_the_answer() -> None:
    [hit] = UnseenRubric().inspect(open_task(f"Which firm is the oldest?\nRubric:\n{RUBRIC}"))
    assert hit.category == "answer-leakage"


@pytest.mark.parametrize(
    "said",
    [
        "Which firm is the oldest?",
        "Identify the firm described by the rubric.\nRubric:\n- Founded in 1900, sells seeds.",
        f"Describe Acme Seeds.\nRubric:\n{RUBRIC}",
    ],
)
def test_no_need_of_it(said: str) -> None:
    assert list(UnseenRubric().inspect(open_task(said, "" if "Rubric:" in said else RUBRIC))) == []
