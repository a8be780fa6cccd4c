"""Tools, calls, conversations and answers in the shapes that benchmarks use."""

import inspect
import json
from typing import Any

import pytest

from agenthard.audit.sources.formats.malformed import MalformedRecordError
from agenthard.audit.sources.mapping.calls import accepted_answers, read_calls
from agenthard.audit.sources.mapping.conversation import read_messages, read_turns
from agenthard.audit.sources.mapping.tools import read_tools
from agenthard.taxonomy.record import Origin

SCHEMA = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
PLACE = Origin(file="tasks.jsonl", line=3, pointer="/tools")


@pytest.mark.parametrize(
    ("written", "pointer"),
    [
        ([{"name": "f", "description": "d", "parameters": SCHEMA}], "/tools/0"),
        ([{"function": {"name": "f", "description": "d", "parameters": SCHEMA}}], "/tools/0/function"),
        ([{"name": "f", "description": "d", "input_schema": SCHEMA}], "/tools/0"),
        ([{"name": "f", "description": "d", "arguments": {**SCHEMA, "type": "dict"}}], "/tools/0"),
        ({"f": {"description": "d", "parameters": SCHEMA}}, "/tools/f"),
        ({"name": "f", "description": "d", "parameters": SCHEMA}, "/tools/0"),
        (json.dumps([{"name": "f", "description": "d", "inputSchema": SCHEMA}]), "/tools/0"),
        (str([{"name": "f", "description": "d", "parameters": SCHEMA}]), "/tools/0"),
        ([{"name": "f", "description": "d", "parameters": {"x": {"type": "int", "required": True}}}], "/tools/0"),
    ],
)  # fmt: skip
def test_a_tool_is_read_in_any_spelling(written: Any, pointer: str) -> None:
    (tool,) = read_tools(written, PLACE)
    assert (tool.name, tool.description, tool.parameters) == ("f", "d", SCHEMA)
    assert tool.origin == PLACE.model_copy(update={"pointer": pointer})


def test_types_and_optional_parameters_are_translated() -> None:
    parameters = {
        "a": {"type": "str, optional", "default": "x"},
        "b": {"type": ["string", "null"]},
        "c": {"type": "list", "items": {"type": "float"}},
    }
    (tool,) = read_tools([{"name": "f", "parameters": parameters}], PLACE)
    assert tool.parameters == {
        "type": "object",
        "properties": {
            "a": {"type": "string", "default": "x"},
            "b": {"type": ["string", "null"]},
            "c": {"type": "array", "items": {"type": "number"}},
        },
        "required": [],
    }


@pytest.mark.parametrize(
    "written", [["lend_book"], [{"description": "nameless"}], 7, [{"name": "f", "parameters": "x"}]]
)
def test_what_documents_no_tool_is_refused(written: Any) -> None:
    with pytest.raises(MalformedRecordError):
        read_tools(written, PLACE)


def calls(written: Any, **options: Any) -> list[list[tuple[str, dict[str, Any]]]]:
    tools = read_tools([{"name": "f", "parameters": SCHEMA}], PLACE)
    turns = read_calls(written, "/gold", tools, **{"per_turn": None, "lists": False, **options})
    return [[(call.name, call.arguments) for call in turn] for turn in turns]


@pytest.mark.parametrize(
    "written",
    [
        [{"name": "f", "arguments": {"x": 1}}],
        [{"name": "f", "kwargs": {"x": 1}}],
        [{"f": {"x": 1}}],
        {"f": {"x": 1}},
        {"name": "f", "arguments": {"x": 1}},
        [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}],
        {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": {"x": 1}}}]},
        [{"action": "f", "action_input": {"x": 1}}],
        ["f(x=1)"],
        "f(1)",
        "[f(x=1)]",
        '[{"name": "f", "arguments": {"x": 1}}]',
        "[{'f': {'x': 1}}]",
        [["f(x=1)"]],
        [["f", {"x": 1}]],
        [{"fn": "f", "x": 1}],
        [{"name": "f", "arguments": [{"name": "x", "value": 1}]}],
        [{"name": "f", "arguments": [["x", 1]]}],
        '{"tool": "f", "args": {"x": 1}}',
        'f({"x": 1})',
        "api.f(x=1)",
        "f.func(x=1)",
        "```python\nf(x=1)\n```",
        "1. f(x=1)",
        "y = f(x=1)",
    ],
)
def test_a_call_is_read_in_any_spelling(written: Any) -> None:
    assert calls(written) == [[("f", {"x": 1})]]


@pytest.mark.parametrize(
    "text", ["f(x=1); f(x=2)", "f(x=1)\nf(x=2)", "f(x=1), f(x=2)", "[f(x=1), f(x=2)]", "f(x=1) -> f(x=2)", "f(1);f(2);",
             "1. f(x=1)\n2. f(x=2)", "f(x=1) and then f(x=2)", '{"f": {"x": 1}}\n{"f": {"x": 2}}']
)  # fmt: skip
def test_several_calls_in_one_text_are_read(text: str) -> None:
    assert calls(text) == [[("f", {"x": 1}), ("f", {"x": 2})]]


def test_only_the_broken_one_of_several_calls_is_unreadable() -> None:
    (turn,) = read_calls("f(x='a; b'); f(x=; f(x=3)", "/gold", (), per_turn=None, lists=False)
    assert [(call.name, call.text) for call in turn][0] == ("f", "f(x='a; b')")
    assert turn[1].name == ""


def test_python_source_documents_tools_without_being_run() -> None:
    source = """
    raise SystemExit("never run")
    @tool("mail.send")
    def send(to: str, tries: int = 3, *, kind: Literal["a", "b"] = "a"):
        \"\"\"Send a mail.

        Args:
            to: Address.
        \"\"\"
    """
    (tool,) = read_tools(inspect.cleandoc(source), PLACE)
    assert (tool.name, tool.description) == ("mail.send", "Send a mail.")
    assert tool.parameters["required"] == ["to"]
    assert tool.parameters["properties"]["to"] == {"description": "Address.", "type": "string"}
    assert tool.parameters["properties"]["tries"] == {"default": 3, "type": "integer"}
    assert tool.parameters["properties"]["kind"]["enum"] == ["a", "b"]


def test_turns_of_calls_are_told_by_their_nesting_or_by_the_mapping() -> None:
    assert calls([["f(x=1)", "f(x=2)"], []]) == [[("f", {"x": 1}), ("f", {"x": 2})], []]
    assert calls(["f(x=1)", "[f(x=2), f(x=3)]"], per_turn=True) == [
        [("f", {"x": 1})],
        [("f", {"x": 2}), ("f", {"x": 3})],
    ]
    assert calls(["f(x=1)", "f(x=2)"]) == [[("f", {"x": 1}), ("f", {"x": 2})]]
    assert calls("") == calls(None) == calls([]) == [[]]


def test_repeated_calls_in_one_object_are_numbered() -> None:
    assert calls({"f_1": {"x": 1}, "f_2": {"x": 2}, "g_3": {}}) == [[("f", {"x": 1}), ("f", {"x": 2}), ("g_3", {})]]


def test_lists_of_accepted_values_become_any_of_nodes() -> None:
    assert calls([{"f": {"x": [1, 2], "y": ["a", ""]}}], lists=True) == [
        [("f", {"x": {"$any_of": [1, 2], "$optional": False}, "y": {"$any_of": ["a"], "$optional": True}})]
    ]
    with pytest.raises(MalformedRecordError, match="accepted values are lists"):
        calls([{"f": {"x": 1}}], lists=True)


def test_a_broken_call_is_kept_as_text_and_other_text_is_refused() -> None:
    (turn,) = read_calls("f(x='Domino's')", "/gold", (), per_turn=None, lists=False)
    assert [(call.name, call.text) for call in turn] == [("", "f(x='Domino's')")]
    for written in ("no call needed", 7, [{"f": [1]}], [{"name": "f", "arguments": "x"}]):
        with pytest.raises(MalformedRecordError):
            calls(written)


def said(written: Any, **options: Any) -> list[list[tuple[str, str]]]:
    turns = read_turns(written, "/question", options.pop("roles", {}), **options)
    return [[(message.role, message.content) for message in turn] for turn in turns]


def test_what_the_user_says_is_read_in_any_shape() -> None:
    one = [[("user", "Hi"), ("assistant", "Yes?"), ("user", "Pay.")]]
    chat = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Yes?"},
        {"role": "user", "content": "Pay."},
    ]
    shared = [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Yes?"}, {"from": "human", "value": "Pay."}]
    assert said(chat) == said(shared) == said(json.dumps(chat)) == one
    assert said("user: Hi\nassistant: Yes?\nuser: Pay.") == one
    assert said("user: Hi\nsystem: Yes?\nuser: Pay.", roles={"system": "assistant"}) == one
    assert said("Note: user: is a word.") == [[("user", "Note: user: is a word.")]]
    assert (
        said(["Hi", "Pay."])
        == said([[{"role": "user", "content": "Hi"}], "Pay."])
        == [[("user", "Hi")], [("user", "Pay.")]]
    )
    assert said(chat, per_user_message=True) == [one[0][:2], one[0][2:]]


@pytest.mark.parametrize(
    "written", ["", [], None, [""], 7, ["Hi", {"role": "user", "content": "x"}], [{"role": "ghost"}]]
)
def test_silence_and_other_shapes_are_refused(written: Any) -> None:
    with pytest.raises(MalformedRecordError):
        said(written)


def test_messages_of_a_run_keep_their_calls() -> None:
    (message,) = read_messages([{"role": "assistant", "tool_calls": [{"name": "f", "arguments": '{"x": 1}'}]}], "", {})
    assert [(call.name, call.arguments) for call in message.tool_calls] == [("f", {"x": 1})]


@pytest.mark.parametrize(
    ("given", "choices", "first", "accepted"),
    [
        (2, ["Oslo", "Rome"], 1, ("B", "Rome")),
        ("A", {"A": "Oslo", "B": "Rome"}, 0, ("A", "Oslo")),
        ("2", {"label": ["1", "2"], "text": ["Oslo", "Rome"]}, 0, ("2", "Rome")),
        (9, ["Oslo", "Rome"], 0, ("9",)),
        ('["7", "seven"]', None, 0, ("7", "seven")),
        (True, None, 0, ("true",)),
        ("", None, 0, ()),
    ],
)
def test_answers_may_name_a_choice(given: Any, choices: Any, first: int, accepted: tuple[str, ...]) -> None:
    assert accepted_answers(given, choices, first) == accepted
