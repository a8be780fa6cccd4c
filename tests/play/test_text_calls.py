import json

import pytest

from agenthard.play.text_calls import text_calls


def read(text: str) -> list[tuple[str, object]]:
    return [(call.name, json.loads(call.arguments)) for call in text_calls(text, 0)]


def test_an_object() -> None:
    text = 'Let me.\n<tool_call>\n{"name": "get_slot_id", "arguments": {"row": 0, "col": 1}}\n</tool_call>'
    assert read(text) == [("get_slot_id", {"row": 0, "col": 1})]


def test_tags_with_values_of_any_type() -> None:
    text = (
        "<tool_call>\n<function=set_slot>\n<parameter=row>\n0\n</parameter>\n<parameter=id>\nC11\n</parameter>\n"
        '<parameter=ids>["C1", "C2"]</parameter>\n</function>\n</tool_call>'
    )
    assert read(text) == [("set_slot", {"row": 0, "id": "C11", "ids": ["C1", "C2"]})]


def test_several_in_order_with_ids_of_their_own_and_the_last_not_closed() -> None:
    text = '<tool_call>{"name": "a"}</tool_call> and <tool_call>{"name": "b", "arguments": "{\\"x\\": 1}"}'
    assert read(text) == [("a", {}), ("b", {"x": 1})]
    assert [call.id for call in text_calls(text, 7)] == ["text_7", "text_8"]


def test_a_draft_among_thoughts_is_no_call() -> None:
    draft = '<tool_call>{"name": "done"}</tool_call>'
    assert text_calls(f"<think>Shall I? {draft}</think>Not yet.", 0) == ()
    assert text_calls(f"Shall I? {draft}</think>", 0) == ()
    assert [call.name for call in text_calls(f"<think>Yes.</think>{draft}", 0)] == ["done"]


@pytest.mark.parametrize("body", ['{"name": "done", ', "[1]", '{"arguments": {}}', "done", "[" * 100_000, '"\\ud800"'])
def test_what_cannot_be_read_stays_as_it_was_written(body: str) -> None:
    (call,) = text_calls(f"<tool_call>{body}</tool_call>", 0)
    assert (call.name, call.arguments) == ("", body)


def test_text_without_calls() -> None:
    assert text_calls("I call it a day.", 0) == ()
