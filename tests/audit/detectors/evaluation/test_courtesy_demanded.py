from typing import Any

import pytest

from agenthard.audit.detectors.evaluation import CourtesyDemanded
from agenthard.audit.evidence import failure
from agenthard.taxonomy import AgentTask, Check, EvaluationSpec, Message, UserSpec
from tests.builders import make_task


def task(expected: Any, said: str = "Is it open, please?", policy: str = "", *, scored: bool = True) -> AgentTask:
    return make_task(
        user=UserSpec(kind="scripted", turns=((Message(role="user", content=said),),)),
        environment=make_task().environment.model_copy(update={"policy": policy}),
        evaluation=EvaluationSpec(checks=(Check(kind="output_substring", scored=scored, expected=expected),)),
    )


@pytest.mark.parametrize(
    "text",
    [
        "You're welcome",
        "Happy to help!",
        "Sorry for the inconvenience.",
        "Is there anything else I can help you with?",
        "Please",
        "Good morning",
        "Anything else?",
        "Dear customer, thank you for your patience",
        "Enjoy the rest of your day",
        ["Goodbye", "Bye!"],
    ],
)
def test_a_phrase_of_courtesy_that_nothing_asks_for(text: Any) -> None:
    subject = task(text)
    [hit] = CourtesyDemanded().inspect(subject)
    assert hit.evidence[0].pointer == "/evaluation/checks/0/expected"
    assert failure(hit.evidence[0], subject, {}) is None


@pytest.mark.parametrize(
    "subject",
    [
        task("18:15"),
        task("no"),
        task("In the morning"),
        task("Customer care"),
        task("Happy Harbour Inn"),
        task("Thank you, B-18 is yours"),
        task(["Thank you", "done"]),
        task("Thank you for calling", policy="End each call with 'Thank you for calling'."),
        task("Thank you", said='Please end with "Thank you".'),
        task("thank you", said="Say thank you to my friend."),
        task("Goodbye", scored=False),
        task(""),
    ],
)
def test_facts_and_phrases_that_are_asked_for(subject: AgentTask) -> None:
    assert list(CourtesyDemanded().inspect(subject)) == []


def test_without_a_required_text_nothing_is_checked() -> None:
    assert CourtesyDemanded().not_applicable(make_task())
