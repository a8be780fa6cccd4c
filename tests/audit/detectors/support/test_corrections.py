"""Checks offer a patch where exactly one minimal fix follows from the evidence, and none elsewhere."""

from typing import Any

import pytest

from agenthard.audit.detectors.environment import PromptUnknownTool
from agenthard.audit.detectors.ground_truth import CallSchema, NearMissValue
from agenthard.audit.detectors.support.corrections import coerced, near_name, near_value
from agenthard.taxonomy import AgentTask, EnvironmentSpec, GroundTruth, ToolCall, ToolSpec, UserSpec
from agenthard.taxonomy.accepted import any_of
from tests.builders import make_task

AT = "/ground_truth/turns/0/0"
HOTEL = ToolSpec(
    name="book_hotel",
    parameters={
        "type": "object",
        "properties": {
            "rooms": {"type": "integer"},
            "smoking": {"type": "boolean"},
            "zip": {"type": "string"},
            "kind": {"type": "string", "enum": ["single", "double", "45 minutes"]},
        },
    },
)


def hotel(says: str = "Book it.", name: str = "book_hotel", **arguments: Any) -> AgentTask:
    call = ToolCall(name=name, arguments=arguments)
    return make_task(
        environment=EnvironmentSpec(tools=(HOTEL,)),
        user={"kind": "scripted", "turns": [[{"role": "user", "content": says}]]},
        ground_truth=GroundTruth(semantics="required", turns=((call,),)),
    )


def replaced(at: str, value: Any) -> tuple[dict[str, Any], ...]:
    return ({"op": "replace", "path": AT + at, "value": value},)


@pytest.mark.parametrize(
    ("task", "patch"),
    [
        (hotel(rooms="5"), replaced("/arguments/rooms", 5)),
        (hotel(rooms="five"), ()),
        (hotel(smoking="True"), replaced("/arguments/smoking", True)),
        (hotel(zip=60623), replaced("/arguments/zip", "60623")),
        (hotel(rooms=any_of(["5"])), replaced("/arguments/rooms/$any_of/0", 5)),
        (hotel(rooms=any_of(["5", "6"])), ()),
        (hotel(kind="Single"), replaced("/arguments/kind", "single")),
        (hotel(kind="singel"), replaced("/arguments/kind", "single")),
        (hotel("A singel, please.", kind="singel"), ()),
        (hotel("A SINGLE, please.", kind="SINGLE"), replaced("/arguments/kind", "single")),
        (hotel(kind="5 minutes"), ()),
        (hotel(room=5), ({"op": "move", "from": f"{AT}/arguments/room", "path": f"{AT}/arguments/rooms"},)),
        (hotel(room=5, rooms=5), ()),
        (hotel(name="bookHotel", rooms=5), replaced("/name", "book_hotel")),
        (hotel(name="bookHotel", beds=5), ()),
    ],
)
def test_call_schema(task: AgentTask, patch: tuple[dict[str, Any], ...]) -> None:
    [hit] = CallSchema().inspect(task)
    assert hit.patch == patch


@pytest.mark.parametrize(("says", "patched"), [("notes.md", True), ("notes.md and note5.md and noted.md", False)])
def test_near_miss_value(says: str, patched: bool) -> None:
    [hit] = NearMissValue().inspect(hotel(f"Write to {says}.", zip="note.md"))
    assert hit.patch == (replaced("/arguments/zip", "notes.md") if patched else ())


RECORD = {"first_name": "Raj", "last_name": "Sanchez", "dob": "1986-09-12"}


@pytest.mark.parametrize(
    ("says", "given", "patch"),
    [
        ("Book it.", {**RECORD, "dob": "1990-01-02"}, replaced("/arguments/guests/0/dob", "1986-09-12")),
        ("Book it.", {**RECORD, "first_name": "Aarav"}, replaced("/arguments/guests/0/first_name", "Raj")),
        ("Book it for Aarav.", {**RECORD, "first_name": "Aarav"}, ()),
    ],
)
def test_a_person_of_the_record(says: str, given: dict[str, str], patch: tuple[dict[str, Any], ...]) -> None:
    task = hotel(says, user="u1", guests=[given])
    state = {"users": {"u1": {"saved": [RECORD]}}}
    task = task.model_copy(update={"environment": task.environment.model_copy(update={"state": state})})
    [hit] = NearMissValue().inspect(task)
    assert hit.patch == patch


@pytest.mark.parametrize(("tools", "patched"), [(["check_bar"], True), (["check_bar", "read_bar"], False)])
def test_prompt_unknown_tool(tools: list[str], patched: bool) -> None:
    text = "Use the `get_bar` tool. Call get_bar() twice, not get_bars."
    task = make_task(
        environment=EnvironmentSpec(tools=tuple(ToolSpec(name=name) for name in tools)),
        user=UserSpec(kind="simulated", instruction=text),
    )
    [hit] = PromptUnknownTool().inspect(task)
    mended = "Use the `check_bar` tool. Call check_bar() twice, not get_bars."
    assert hit.patch == (({"op": "replace", "path": "/user/instruction", "value": mended},) if patched else ())


def test_near_and_coerced() -> None:
    assert [near_name(word, ["user_id", "name"]) for word in ("userId", "user_ids", "nam", "id")] == [
        "user_id",
        "user_id",
        None,
        None,
    ]
    assert near_value("items2", ["items1"]) is None
    assert [coerced(value, kind) for value, kind in (("1.5", "number"), ("01", "integer"), (True, "string"))] == [
        1.5,
        None,
        None,
    ]
