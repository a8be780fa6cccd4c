import pytest

from agenthard.audit.sources.formats.chat_messages import to_messages


def test_flat_and_nested_calls_become_the_same() -> None:
    flat = {"role": "assistant", "tool_calls": [{"id": "c1", "name": "find", "arguments": {"a": 1}}]}
    nested = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"a": 1}'}}],
    }
    older = {"role": "assistant", "function_call": {"name": "find", "arguments": '{"a": 1}'}}
    first, second, third = to_messages([flat, nested, older])
    assert first == second
    assert (third.tool_calls[0].name, third.tool_calls[0].arguments, third.tool_calls[0].id) == ("find", {"a": 1}, None)
    assert first.content == ""


def test_a_tool_message_knows_the_tool_whose_call_it_answers() -> None:
    call = {"role": "assistant", "tool_calls": [{"id": "c1", "name": "find", "arguments": {}}]}
    by_chat = {"role": "tool", "content": "7", "tool_call_id": "c1"}
    by_tau2 = {"role": "tool", "content": "7", "id": "c1", "requestor": "assistant", "error": False}
    named = {"role": "tool", "content": "7", "tool_call_id": "c9", "name": "other"}
    _, first, second, third = to_messages([call, by_chat, by_tau2, named])
    assert first == second
    assert (first.tool_call_id, first.tool_name, first.requestor) == ("c1", "find", "assistant")
    assert (third.tool_call_id, third.tool_name) == ("c9", "other")


def test_calls_of_the_user_are_the_users() -> None:
    messages = to_messages(
        [
            {"role": "user", "content": None, "tool_calls": [{"id": "u1", "name": "reboot", "arguments": {}}]},
            {"role": "tool", "id": "u1", "content": "done", "requestor": "user"},
        ]
    )
    assert messages[0].tool_calls[0].requestor == "user"
    assert (messages[1].requestor, messages[1].tool_name) == ("user", "reboot")


@pytest.mark.parametrize("arguments", ["{broken", "[1, 2]", '"text"'])
def test_arguments_that_are_no_object_are_kept_as_text(arguments: str) -> None:
    (message,) = to_messages([{"role": "assistant", "tool_calls": [{"name": "find", "arguments": arguments}]}])
    assert message.tool_calls[0].arguments == {}
    assert message.tool_calls[0].text == arguments


def test_content_in_parts_is_joined() -> None:
    (message,) = to_messages([{"role": "user", "content": [{"type": "text", "text": "a"}, "b", {"image": 1}]}])
    assert message.content == 'a\nb\n{"image": 1}'


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        ({"role": "narrator", "content": "x"}, "role 'narrator'"),
        ({"content": "x"}, "role None"),
        ({"role": "assistant", "tool_calls": [{"id": "c1"}]}, "call without a name"),
        ({"role": "assistant", "tool_calls": ["find"]}, "call without a name"),
        ({"role": "assistant", "tool_calls": "find"}, "not a list"),
    ],
)
def test_messages_that_cannot_be_read_are_refused(item: dict[str, object], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        to_messages([item])
