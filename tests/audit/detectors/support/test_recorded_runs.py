"""Calls with their responses, and what a run changed or answered."""

import pytest

from agenthard.audit.detectors.support.recorded_runs import answered, effect_of_gold, effect_of_run, parsed
from agenthard.taxonomy import GroundTruth, Message, ToolCall
from tests.audit.detectors.runs.conversations import agent, called, played, shop_task

CANCELLED = 'cancel_order {"order_id": "#W1", "reason": "ordered by mistake"}'


def test_refused_calls_and_reads_do_not_count() -> None:
    messages = (
        *called("get_order", "{}", order_id="#W1"),
        *called("cancel_order", "Error: not yet", order_id="#W1"),
        *called("cancel_order", '{"error": "no"}', order_id="#W1"),
        *called("cancel_order", "{}", order_id="#W1", reason="ordered by mistake"),
    )
    assert effect_of_run(shop_task(), played(*messages)) == effect_of_gold(shop_task()) == CANCELLED
    assert effect_of_run(shop_task(), played(agent("I cannot."))) == ""


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
    effects = [effect_of_run(shop_task(), played(*called("change_items", "{}", **given))) for given in (one, other)]
    assert (effects[0] == effects[1]) is same


def test_the_order_of_calls_does_not_count() -> None:
    one, two = called("cancel_order", "{}", order_id="#W1"), called("change_items", "{}", order_id="#W2")
    assert effect_of_run(shop_task(), played(*one, *two)) == effect_of_run(shop_task(), played(*two, *one))


def test_final_answers_are_compared_where_the_ground_truth_has_answers() -> None:
    answers = GroundTruth(semantics="none", answers=("Paris",))
    task = shop_task().model_copy(update={"ground_truth": answers})
    assert effect_of_run(task, played(agent("Let me see."), agent(" LYON \n"))) == "lyon"
    assert effect_of_run(task, played(agent("x" * 201))) is None
    assert effect_of_gold(task) is None


def test_calls_of_the_user_are_not_the_agents() -> None:
    call = ToolCall(name="cancel_order", arguments={}, requestor="user", id="1")
    messages = (Message(role="user", tool_calls=(call,)), Message(role="tool", content="{}", tool_call_id="1"))
    assert effect_of_run(shop_task(), played(*messages)) == ""


def response(text: str, call_id: str | None = None) -> Message:
    return Message(role="tool", content=text, tool_call_id=call_id)


def test_responses_find_their_calls_by_id_and_else_in_order() -> None:
    both = Message(role="assistant", tool_calls=(ToolCall(name="a", id="1"), ToolCall(name="b", id="2")))
    bare = Message(role="assistant", tool_calls=(ToolCall(name="c"), ToolCall(name="d")))
    messages = [both, response("two", "2"), response("one", "1"), bare, response("three"), response("four")]
    found = [(now.call.name, now.place, now.text, now.position) for now in answered(messages)]
    assert found == [
        ("b", "/messages/0/tool_calls/1", "two", 1),
        ("a", "/messages/0/tool_calls/0", "one", 2),
        ("c", "/messages/3/tool_calls/0", "three", 4),
        ("d", "/messages/3/tool_calls/1", "four", 5),
    ]


def test_calls_without_a_response_and_responses_without_a_call_are_left_out() -> None:
    call = Message(role="assistant", tool_calls=(ToolCall(name="a", id="1"),))
    messages = [response("early"), call, call, response("one", "1"), response("late", "1")]
    assert [now.position for now in answered(messages)] == [3]


def test_what_is_no_json_is_none() -> None:
    assert (parsed('{"a": 1}'), parsed("Error: no"), parsed("[" * 100_000)) == ({"a": 1}, None, None)
