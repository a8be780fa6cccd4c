"""Calls with their responses."""

from agenthard.audit.detectors.support.recorded_runs import answered, parsed
from agenthard.taxonomy import Message, ToolCall


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
