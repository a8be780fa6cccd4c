"""What a run changed or answered."""

import pytest

from agenthard.audit.detectors.support.run_effects import effect_of_gold, effect_of_run
from agenthard.taxonomy import AgentTask, GroundTruth, Message, ToolCall
from tests.audit.detectors.runs.conversations import agent, called, played, shop_task

CANCELLED = 'cancel_order {"order_id": "#W1", "reason": "ordered by mistake"}'


def did(task: AgentTask, *messages: Message) -> tuple[str, ...] | None:
    effect = effect_of_run(task.model_copy(), played(*messages))
    return None if effect is None else effect.lines


def test_refused_calls_and_reads_do_not_count() -> None:
    messages = (
        *called("get_order", "{}", order_id="#W1"),
        *called("cancel_order", "Error: not yet", order_id="#W1"),
        *called("cancel_order", '{"error": "no"}', order_id="#W1"),
        *called("cancel_order", "{}", order_id="#W1", reason="ordered by mistake"),
    )
    assert did(shop_task(), *messages) == effect_of_gold(shop_task()) == (CANCELLED,)
    assert did(shop_task(), agent("I cannot.")) == ()


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"ids": ["2", "1"]}, {"ids": ["1", "2"]}, True),
        ({"ids": ["2", "1"], "new": ["a", "b"]}, {"ids": ["1", "2"], "new": ["a", "b"]}, False),
        ({"amount": 2.0}, {"amount": 2}, True),
        ({"amount": 2.5}, {"amount": 2}, False),
    ],
)
def test_canonical_arguments(one: dict[str, object], other: dict[str, object], same: bool) -> None:
    effects = [did(shop_task(), *called("change_items", "{}", **given)) for given in (one, other)]
    assert (effects[0] == effects[1]) is same


def test_the_order_of_calls_does_not_count() -> None:
    one, two = called("cancel_order", "{}", order_id="#W1"), called("change_items", "{}", order_id="#W2")
    assert did(shop_task(), *one, *two) == did(shop_task(), *two, *one)


def test_final_answers_are_compared_where_the_ground_truth_has_answers() -> None:
    answers = GroundTruth(semantics="none", answers=("Paris",))
    task = shop_task().model_copy(update={"ground_truth": answers})
    assert did(task, agent("Let me see."), agent(" LYON \n")) == ("lyon",)
    assert did(task, agent("x" * 201)) is None
    assert effect_of_gold(task) is None


def test_calls_of_the_user_are_not_the_agents() -> None:
    call = ToolCall(name="cancel_order", arguments={}, requestor="user", id="1")
    messages = (Message(role="user", tool_calls=(call,)), Message(role="tool", content="{}", tool_call_id="1"))
    assert did(shop_task(), *messages) == ()
