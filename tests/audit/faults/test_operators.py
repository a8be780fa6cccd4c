"""Each operator plants a real flaw of its category, and none where it would not be one."""

import json
import re
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import jsonschema
import pytest

from agenthard.audit.execution.gold import gold_replay
from agenthard.audit.faults import Fault, Operator, Sound, operator_table, operators, with_runs
from agenthard.audit.faults.soundness import accepts_gold
from agenthard.escape.generator import EscapeGenerator
from agenthard.flows.fault_planting import generated
from agenthard.taxonomy import AgentTask, GroundTruth, Message, ToolCall, ToolSpec, UserSpec
from agenthard.taxonomy.accepted import any_of
from agenthard.taxonomy.categories import load_taxonomy
from agenthard.taxonomy.pointer import resolve
from tests.builders import make_task

BOOK_ROOM = ToolSpec(
    name="book_room",
    description="Book a room.",
    parameters={
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "nights": {"type": "integer", "default": 1},
            "size": {"type": "string", "enum": ["small", "large"], "default": "small"},
        },
        "required": ["city"],
    },
    effect="write",
)
ROOM = make_task(
    "rooms/1",
    benchmark="rooms",
    user=UserSpec(kind="scripted", turns=((Message(role="user", content="A room in Port Ansgar for 2025-05-04."),),)),
    environment=make_task().environment.model_copy(update={"tools": (BOOK_ROOM,)}),
    ground_truth=GroundTruth(
        semantics="required",
        turns=((ToolCall(name="book_room", arguments={"city": any_of(["Port Ansgar", "Ansgar"])}),),),
    ),
)
DAY = make_task(
    "lib/day",
    benchmark="days",
    user=UserSpec(kind="scripted", turns=((Message(role="user", content="A room in Velling on 2025-05-04."),),)),
    environment=make_task().environment.model_copy(
        update={
            "tools": (BOOK_ROOM.model_copy(update={"parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "day": {"type": "string"}},
            }}),)
        }
    ),
    ground_truth=GroundTruth(
        semantics="required",
        turns=((ToolCall(name="book_room", arguments={"city": "Velling", "day": "2025-05-04"}),),),
    ),
)  # fmt: skip


@cache
def pool() -> tuple[Sound, ...]:
    rooms = [task for task, _ in EscapeGenerator().sound(12, 3)]
    return (*generated(12, seed=3), *with_runs([ROOM, DAY, *rooms], []))


@cache
def planted(operator: Operator) -> tuple[tuple[Sound, Fault], ...]:
    found = ((sound, operator.plant(sound, Random(f"5/{sound.task.id}"))) for sound in pool())
    return tuple((sound, fault) for sound, fault in found if fault is not None)


def by_id(name: str) -> Operator:
    return next(each for each in operators() if each.id == name)


def parameters_of(name: str) -> Any:
    return pytest.mark.parametrize("case", planted(by_id(name))[:4], ids=lambda case: case[0].task.id)


def test_every_category_has_an_operator() -> None:
    known = {category.id for category in load_taxonomy().categories}
    assert {operator.category for operator in operators()} == known
    assert {name for operator in operators() for name in operator.also} <= known
    assert len({operator.id for operator in operators()}) == len(operators())


@pytest.mark.parametrize("operator", operators(), ids=lambda each: each.id)
def test_it_applies_and_changes_what_it_says(operator: Operator) -> None:
    assert planted(operator), f"{operator.id} applies to none of {len(pool())} tasks"
    for sound, fault in planted(operator)[:3]:
        data = fault.task.model_dump(mode="json")
        assert AgentTask.model_validate(data) == fault.task
        changed = fault.task != sound.task or (fault.runs is not None and fault.runs != sound.runs)
        assert changed and fault.claim
        again = operator.plant(sound, Random(f"5/{sound.task.id}"))
        assert again == fault
        if fault.runs is None and fault.after is not None:
            resolve(fault.task, fault.pointer)  # what was put in stands there


@parameters_of("missing-required-argument")
def test_a_required_argument_is_really_missing(case: tuple[Sound, Fault]) -> None:
    sound, fault = case
    call = resolve(fault.task, fault.pointer)
    tool = sound.task.tool(call.name)
    assert tool is not None and set(tool.parameters["required"]) - call.arguments.keys()


@parameters_of("wrong-type")
def test_a_wrong_type_is_really_wrong(case: tuple[Sound, Fault]) -> None:
    sound, fault = case
    call = resolve(fault.task, fault.pointer.rpartition("/arguments")[0])
    tool = sound.task.tool(call.name)
    assert tool is not None
    schema = tool.parameters["properties"][fault.pointer.rpartition("/")[2]]
    jsonschema.validate(fault.before, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(fault.after, schema)


@pytest.mark.parametrize("name", ["another-entity", "missing-write"])
def test_the_evaluator_rejects_what_is_wrong(name: str) -> None:
    cases = planted(by_id(name))
    for sound, fault in cases[:5]:
        assert accepts_gold(sound.task) is True
        assert accepts_gold(fault.task) is False


def test_an_absent_entity_makes_the_call_fail() -> None:
    for sound, fault in planted(by_id("absent-entity"))[:5]:
        assert not any(step.observation.error for step in gold_replay(sound.task).steps)
        assert any(step.observation.error for step in gold_replay(fault.task).steps)


@pytest.mark.parametrize("name", ["repeated-write", "detour"])
def test_what_is_redundant_leaves_the_same_state(name: str) -> None:
    for sound, fault in planted(by_id(name))[:5]:
        assert gold_replay(sound.task).final == gold_replay(fault.task).final
        assert len(list(fault.task.gold_calls())) == len(list(sound.task.gold_calls())) + 1


def test_a_value_that_is_left_out_stands_nowhere() -> None:
    for _, fault in planted(by_id("value-left-out")):
        assert fault.before != fault.after
        left = re.escape(fault.claim.rpartition(" is ")[2])
        read = [text for _, text in fault.task.user_texts()]
        read.append(json.dumps([fault.task.environment.state, fault.task.initial_state], ensure_ascii=False))
        assert not any(re.search(rf"(?<![\w.-]){left}(?![\w.-])", text) for text in read)


def test_a_text_of_the_simulator_can_be_changed() -> None:
    user = UserSpec(kind="simulated", instruction="Ask.", context={"known_info": "You have book 4711."})
    task = make_task(
        user=user,
        ground_truth=GroundTruth(
            semantics="required", turns=((ToolCall(name="lend_book", arguments={"book_id": 4711, "member": "Ada"}),),)
        ),
    )
    fault = by_id("value-left-out").plant(Sound(task=task), Random(1))
    assert fault is not None and fault.pointer == "/user/context/known_info"
    assert fault.task.user.context == {"known_info": fault.after}
    assert fault.after.startswith("You have book ") and "4711" not in fault.after


def test_a_leaked_answer_was_not_said_before() -> None:
    names = ("answer-in-the-request", "answer-in-the-policy", "answer-in-the-documentation", "answer-in-a-comment")
    for name in names:
        for sound, fault in planted(by_id(name))[:3]:
            values = {str(value) for _, call in sound.task.gold_calls() for value in call.arguments.values()}
            leaked = {value for value in values if len(value) > 3 and value in fault.after}
            unsaid = {value for value in leaked if not any(value in text for _, text in sound.task.user_texts())}
            assert unsaid, fault.after


def test_only_the_right_record_bears_the_mark() -> None:
    for sound, fault in planted(by_id("answer-marked-in-the-state"))[:3]:
        mark = fault.pointer.rpartition("/")[2]
        table = fault.task.initial_state[fault.pointer.split("/")[2]]
        marked = {key for key, row in table.items() if row.get(mark) == fault.after}
        expected = {call.arguments["id"] for _, call in sound.task.gold_calls()}
        assert marked == expected & table.keys() and len(marked) < len(table) / 2


def test_the_list_holds_what_the_ground_truth_names_and_nothing_else() -> None:
    for sound, fault in planted(by_id("answer-listed-in-the-state"))[:3]:
        expected = {call.arguments["id"] for _, call in sound.task.gold_calls()}
        named = {
            id for id in sound.task.initial_state["items"] if f'"{id}"' in json.dumps(fault.after).replace(", ", '", "')
        }
        assert named and named <= expected


@pytest.mark.parametrize(
    "name",
    ["same-task-with-more-courtesy", "same-task-typed-otherwise", "same-task-in-short-forms", "same-task-with-a-slip"],
)
def test_a_copy_wants_the_same(name: str) -> None:
    for sound, fault in planted(by_id(name))[:3]:
        assert fault.copy_of == sound.task
        assert fault.task.ground_truth == sound.task.ground_truth
        texts = ["\n".join(text for _, text in task.user_texts()) for task in (sound.task, fault.task)]
        assert texts[0] != texts[1] and re.findall(r"\d+", texts[0]) == re.findall(r"\d+", texts[1])


def test_better_models_fail_once_scores_are_turned() -> None:
    for sound, fault in planted(by_id("better-models-fail"))[:3]:
        assert fault.runs is not None
        best = max(sound.strength, key=sound.strength.__getitem__)
        worst = min(sound.strength, key=sound.strength.__getitem__)
        passed = {run.model: run.passed for run in fault.runs if run.passed is not None}
        assert (passed[best], passed[worst]) == (False, True)


@pytest.mark.parametrize(
    ("name", "task"),
    [
        ("lost-turn", make_task()),  # one turn only
        ("value-outside-the-choices", make_task()),  # no choices
        ("impossible-day", ROOM),  # no day in the ground truth
        ("same-words-for-two-tools", make_task()),  # one tool only
        ("repeated-write", make_task()),  # nothing replays it
        ("user-who-serves", make_task()),  # no runs
        ("verbatim-sentence", make_task()),  # no required text
    ],
)
def test_nothing_is_planted_where_it_would_not_be_a_flaw(name: str, task: AgentTask) -> None:
    assert by_id(name).plant(Sound(task=task), Random(1)) is None


def test_the_page_lists_every_operator() -> None:
    page = (Path(__file__).parents[3] / "docs/faults.md").read_text(encoding="utf-8")
    assert operator_table(operators()) in page, "run `agenthard faults operators --markdown`"
