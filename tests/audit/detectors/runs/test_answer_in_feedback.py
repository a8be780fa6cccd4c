import pytest

from agenthard.audit.detectors.runs.answer_in_feedback import AnswerInFeedback
from agenthard.taxonomy import (
    AgentTask,
    Check,
    EvaluationSpec,
    GroundTruth,
    Judgement,
    Message,
    Tier,
    Trajectory,
    UserSpec,
)
from tests.audit.detectors.runs.conversations import agent, audit, called, played, shop_task, user
from tests.builders import make_task

ASKED = UserSpec(kind="scripted", turns=((user("Who wrote the first program?"),),))


def essay(expected: str = "Any answer other than Ada Byron scores 0; the file is `answer.md`.") -> AgentTask:
    checks = (Check(kind="rubric", scored=True, expected=expected),)
    truth = GroundTruth(semantics="milestones")
    return make_task("t1", user=ASKED, evaluation=EvaluationSpec(checks=checks), ground_truth=truth)


def attempt(feedback: str, *messages: Message, retry_of: str | None = None) -> Trajectory:
    judged = (Judgement(judge="script", kind="script", score=0.0, reason=feedback),)
    number = 1 if retry_of else 0
    return played(*messages, judgements=judged, retry_of=retry_of, id=f"run-{number}", trial=number)


def test_feedback_that_names_the_answer_is_found_once_per_task() -> None:
    tries = [attempt("Wrong: not Ada Byron.", agent("Grace Hopper")), attempt("", agent("Hm."), retry_of="run-0")]
    (finding,), _ = audit(AnswerInFeedback(), [essay()], tries)
    assert (finding.task_ids, finding.tier) == (("t1",), Tier.SUSPECTED)
    assert "in 1 of 2 runs gives the expected value 'Ada Byron' away" in finding.claim
    assert (finding.evidence[0].pointer, finding.evidence[0].quote) == ("/judgements/0/reason", "Wrong: not Ada Byron.")


@pytest.mark.parametrize(
    ("feedback", "said", "again"),
    [
        ("Wrong: not Ada Byron.", "Grace Hopper", False),
        ("Ada Byron is right, the dates are not.", "It was Ada Byron.", True),
        ("The answer is wrong.", "Grace Hopper", True),
    ],
)
def test_feedback_that_tells_nothing_new(feedback: str, said: str, again: bool) -> None:
    runs = [attempt(feedback, agent(said)), *([attempt("", retry_of="run-0")] if again else [])]
    assert audit(AnswerInFeedback(), [essay()], runs)[0] == []


@pytest.mark.parametrize(
    ("response", "asked", "found"),
    [
        ("Error: the expected call has reason 'ordered by mistake'.", {"order_id": "#W1"}, True),
        ("Error: reason is one of 'ordered by mistake', 'no longer needed'.", {"order_id": "#W1"}, False),
        ("Error: the expected call has no 'ordered by mistake'.", {"reason": "ordered by mistake"}, False),
    ],
)
def test_a_response_that_tells_what_is_expected(response: str, asked: dict[str, str], found: bool) -> None:
    run = played(agent("Let me see."), *called("cancel_order", response, **asked))
    assert len(audit(AnswerInFeedback(), [shop_task()], [run])[0]) == found


def test_messages_of_the_harness_count_and_a_simulated_user_does_not() -> None:
    told = "The correct answer is 'ordered by mistake'."
    for message, number in ((Message(role="system", content=told), 1), (user(told), 0)):
        assert len(audit(AnswerInFeedback(), [shop_task()], [played(agent("Hm."), message)])[0]) == number
    assert audit(AnswerInFeedback(), [shop_task()], [played(Message(role="system", content=told))])[0] == []


def test_without_an_expected_value_nothing_is_checked() -> None:
    reason = "no expected value that could be recognised in a text"
    assert AnswerInFeedback().not_applicable(essay("Writes well.")) == reason
