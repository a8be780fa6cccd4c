import pytest

from agenthard.audit.detectors.evaluation import SentenceDemanded
from agenthard.audit.evidence import failure
from agenthard.taxonomy import AgentTask, Check, EvaluationSpec, Message, UserSpec
from tests.builders import make_task


def task(expected: str, said: str = "Is it open?", policy: str = "", *, scored: bool = True) -> AgentTask:
    return make_task(
        user=UserSpec(kind="scripted", turns=((Message(role="user", content=said),),)),
        environment=make_task().environment.model_copy(update={"policy": policy}),
        evaluation=EvaluationSpec(checks=(Check(kind="output_substring", scored=scored, expected=expected),)),
    )


@pytest.mark.parametrize("text", ["The reading room is open until 18:15", "I have put it on your card, madam."])
def test_a_sentence_that_nothing_dictates(text: str) -> None:
    subject = task(text)
    [hit] = SentenceDemanded().inspect(subject)
    assert hit.evidence[0].quote == text and failure(hit.evidence[0], subject, {}) is None


@pytest.mark.parametrize(
    "subject",
    [
        task("18:15"),
        task("943 Maple Drive, Apartment 7, Port Ansgar"),
        task("Sorry, we are closed today.", policy='On Sundays say: "Sorry, we are closed today."'),
        task("I am sure of it", said="Tell me 'I am sure of it'."),
        task("The reading room is open until 18:15", scored=False),
    ],
)
def test_facts_and_dictated_words(subject: AgentTask) -> None:
    assert list(SentenceDemanded().inspect(subject)) == []


def test_without_a_required_text_nothing_is_checked() -> None:
    assert SentenceDemanded().not_applicable(make_task())
