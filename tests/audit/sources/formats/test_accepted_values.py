from typing import Any

import pytest

from agenthard.audit.sources.formats.accepted_values import answer_calls
from agenthard.audit.sources.formats.malformed import MalformedRecordError
from agenthard.audit.sources.formats.tool_docs import tool
from agenthard.taxonomy import Origin, ToolCall, ToolSpec
from agenthard.taxonomy.accepted import any_of, concrete_values

PROPERTIES = {
    "place": {"type": "string"},
    "size": {"type": "integer"},
    "box": {"type": "dict", "properties": {"lid": {"type": "string"}}},
    "rows": {"type": "array", "items": {"type": "dict"}},
    "names": {"type": "array", "items": {"type": "string"}},
    "free": {"type": "any"},
}


def spec(*required: str) -> ToolSpec:
    doc = {"name": "store", "parameters": {"type": "dict", "properties": PROPERTIES, "required": list(required)}}
    return tool(doc, "python", Origin(file="f.json"))


def node(values: Any, name: str = "place", required: tuple[str, ...] = ()) -> Any:
    (call,), _ = answer_calls([{"store": {name: values}}], [spec(*required)], one_function=False)
    return call.arguments[name]


def test_a_list_of_values_becomes_an_any_of_node() -> None:
    assert node(["shelf", "Shelf"]) == any_of(["shelf", "Shelf"])
    assert node([3, None, False, 0], "size") == any_of([3, None, False, 0])


def test_an_empty_string_means_that_the_parameter_may_be_left_out() -> None:
    assert node(["", "shelf"]) == any_of(["shelf"], optional=True)
    assert node(["shelf", ""]) == any_of(["shelf"], optional=True)


def test_a_required_parameter_is_never_optional() -> None:
    assert node(["", "shelf"], required=("place",)) == any_of(["shelf"])


def test_an_empty_string_alone_is_a_value_only_for_a_required_text() -> None:
    assert node([""], required=("place",)) == any_of([""])
    assert node([""]) == any_of([], optional=True)
    assert node([""], "size", required=("size",)) == any_of([])


def test_an_empty_list_accepts_nothing() -> None:
    assert node([]) == any_of([])
    (call,), _ = answer_calls([{"store": {"place": []}}], [spec("place")], one_function=False)
    assert concrete_values(call.arguments) == []


def test_members_of_an_object_hold_lists_of_values() -> None:
    accepted = node(["", {"lid": ["oak", ""], "hinges": [2, 4]}], "box")
    expected = {"lid": any_of(["oak"], optional=True), "hinges": any_of([2, 4])}
    assert accepted == any_of([expected], optional=True)


def test_objects_in_an_array_hold_lists_of_values_and_other_arrays_do_not() -> None:
    assert node([[{"a": [1, 2]}], []], "rows") == any_of([[{"a": any_of([1, 2])}], []])
    assert node([["Ada", "Bo"]], "names") == any_of([["Ada", "Bo"]])


def test_deeper_values_and_values_of_no_type_stand_for_themselves() -> None:
    assert node([{"lid": [{"wood": ["oak"]}]}], "box") == any_of([{"lid": any_of([{"wood": ["oak"]}])}])
    assert node([{"lid": ["oak"]}], "free") == any_of([{"lid": ["oak"]}])


def test_a_member_without_a_list_is_kept_and_reported() -> None:
    (call,), unlisted = answer_calls([{"store": {"box": [{"lid": "oak"}]}}], [spec()], one_function=False)
    assert call.arguments == {"box": any_of([{"lid": "oak"}])}
    assert unlisted == ["/ground_truth/turns/0/0/arguments/box/$any_of/0/lid"]


def test_an_unknown_parameter_is_kept() -> None:
    assert node(["x"], "colour") == any_of(["x"])


def test_the_name_in_the_answer_counts_unless_there_is_one_function() -> None:
    answer = [{"keep": {"place": ["shelf"]}}]
    assert answer_calls(answer, [spec()], one_function=False)[0][0].name == "keep"
    assert answer_calls(answer, [spec()], one_function=True)[0] == (
        ToolCall(name="store", arguments={"place": any_of(["shelf"])}),
    )


@pytest.mark.parametrize(
    ("answer", "pointer"),
    [
        (["store"], "/ground_truth/0"),
        ([{"store": {}}, {}], "/ground_truth/1"),
        ([{"store": {}, "keep": {}}], "/ground_truth/0"),
        ([{"store": ["shelf"]}], "/ground_truth/0/store"),
        ([{"store": {"a/b": "shelf"}}], "/ground_truth/0/store/a~1b"),
    ],
)
def test_another_shape_is_refused_with_its_place(answer: list[Any], pointer: str) -> None:
    with pytest.raises(MalformedRecordError) as caught:
        answer_calls(answer, [spec()], one_function=False)
    assert caught.value.pointer == pointer
