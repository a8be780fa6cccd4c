from typing import Any

import pytest

from agenthard.audit.execution.environment import Verdict
from agenthard.audit.execution.gold import environment_of
from agenthard.audit.execution.mutation import Mutant, Truth, mutants, other_side
from agenthard.audit.execution.mutation.mutants import copied_and_removed
from agenthard.taxonomy import (
    AgentTask,
    Check,
    EnvironmentSpec,
    EvaluationSpec,
    GroundTruth,
    Message,
    ToolSpec,
    UserSpec,
)
from agenthard.taxonomy.accepted import any_of
from tests.builders import make_task
from tests.library import TEXT, call, desk_task, lend, library_desk, tool

pytestmark = pytest.mark.usefixtures(library_desk.__name__)


def by_operator(task: AgentTask) -> dict[str, Mutant]:
    return {mutant.operator: mutant for mutant in mutants(task)}


def compared(value: Any, schema: dict[str, Any], says: str = "Help me.", required: bool = False) -> dict[str, Mutant]:
    """Mutants of a task whose one call, ask(it=value), is compared."""
    parameters = {"type": "object", "properties": {"it": schema}, "required": ["it"] if required else []}
    task = make_task(
        user=UserSpec(kind="scripted", turns=((Message(role="user", content=says),),)),
        environment=EnvironmentSpec(tools=(ToolSpec(name="ask", parameters=parameters),)),
        evaluation=EvaluationSpec(checks=(Check(kind="tool_calls", scored=True),)),
        ground_truth=GroundTruth(semantics="required", turns=((call("ask", it=value),),)),
    )
    return by_operator(task)


def verdict(task: AgentTask, operator: str) -> Verdict:
    return environment_of(task).evaluate(task, by_operator(task)[operator].attempt)


def test_the_mutants_of_a_loan_are_the_same_every_time() -> None:
    task = desk_task(lend("b7", "ada", "short"))
    found = list(mutants(task))
    assert found == list(mutants(task))
    assert {(m.operator, m.field) for m in found} == {
        ("other-entity", "lend_book.book"),
        ("other-entity", "lend_book.member"),
        ("other-choice", "lend_book.kind"),
    }
    assert all(m.truth is Truth.WRONG and m.shared == "field" for m in found)
    [kind] = [m for m in found if m.field == "lend_book.kind"]
    assert kind.id == "other-choice:/ground_truth/turns/0/0/arguments/kind"
    assert kind.change == '"short" → "long"'


def test_what_the_evaluator_says_of_them() -> None:
    task = desk_task(call("find_book", book="b7"), call("pay_fee", member="ada", amount=5), outputs=("7.50", "3"))
    assert not verdict(task, "off-by-one").passed
    assert verdict(task, "repeated-call").passed
    assert not verdict(task, "whole-number-as-fraction").passed
    assert verdict(task, "number-without-last-zero").parts == {"state": True, "outputs": False}
    in_words = by_operator(task)["number-in-words"]
    assert (in_words.certain, in_words.attempt.replies) == (False, ("7.50", "three"))


def test_a_call_without_effect_is_not_changed() -> None:
    assert list(mutants(desk_task(lend("b9", "bea")))) != []
    assert {m.operator for m in mutants(desk_task(lend("b9", "bea")))} == {"repeated-call"}


def test_accepted_values_are_no_mutants() -> None:
    flag = {"type": "boolean"}
    assert "other-choice" not in compared(any_of([True, False]), flag)
    assert compared(any_of([True]), flag)["other-choice"].shared == "operator"
    assert "off-by-one" not in compared(any_of([1, 2]), {"type": "integer"})


@pytest.mark.parametrize(
    ("value", "says", "operator", "certain"),
    [
        (1, "A ticket, please.", "default-left-out", True),
        (1, "1 ticket, please.", "default-left-out", False),
        (0, "No ticket, please.", None, None),
        (2, "2 tickets, please.", None, None),
        (any_of([2], optional=True), "2 tickets, please.", "stated-value-left-out", True),
        (any_of([2], optional=True), "Tickets, please.", None, None),
        (any_of([1], optional=True), "1 ticket, please.", None, None),
    ],
)
def test_leaving_out_a_documented_default(value: Any, says: str, operator: str | None, certain: bool | None) -> None:
    found = compared(value, {"type": "integer", "default": 1}, says)
    left_out = {name: mutant.certain for name, mutant in found.items() if name.endswith("left-out")}
    assert left_out == ({operator: certain} if operator else {})
    assert not any(name.endswith("left-out") for name in compared(value, {"type": "integer", "default": 1}, says, True))


def test_spelling_out_the_default_of_an_argument_that_is_left_out() -> None:
    properties = {"it": {"type": "string"}, "size": {"type": "integer", "default": 2}, "note": {"default": "null"}}
    parameters = {"type": "object", "properties": properties, "required": ["it"]}
    task = make_task(
        environment=EnvironmentSpec(tools=(ToolSpec(name="ask", parameters=parameters),)),
        evaluation=EvaluationSpec(checks=(Check(kind="tool_calls", scored=True),)),
        ground_truth=GroundTruth(semantics="required", turns=((call("ask", it="heron"),),)),
    )
    [mutant] = [each for each in mutants(task) if each.operator == "default-spelled-out"]
    assert (mutant.field, mutant.change, mutant.truth) == ("ask.size", "left out → 2", Truth.EQUIVALENT)
    assert mutant.attempt.turns[0][0].arguments == {"it": "heron", "size": 2}
    assert [each.pointer for each in other_side(task, mutant)] == ["/environment/tools/0/parameters/properties/size"]


def test_a_default_in_words() -> None:
    schema = {"type": "string", "description": "Size of the bird. Default is 'small'"}
    assert "default-left-out" in compared("small", schema)
    assert "default-left-out" not in compared(" ", {"type": "string", "default": ""})


@pytest.mark.parametrize(
    ("value", "operator", "changed"),
    [
        ("1.5", "lost-decimal-point", "15"),
        ("-5", "lost-sign", "5"),
        ("3x**2 + 1", "lost-power", "3x*2 + 1"),
        ("x^2", "lost-power", "x*2"),
        ("/data/in/a.csv", "lost-slash", "/data/ina.csv"),
        ("2024-02-28", "next-day", "2024-02-29"),
    ],
)
def test_marks_that_carry_the_meaning(value: str, operator: str, changed: str) -> None:
    found = compared(value, {"type": "string"})
    assert found[operator].truth is Truth.WRONG
    assert f'→ "{changed}"' in found[operator].change


@pytest.mark.parametrize("value", ["5.0", "v1", "exp**2 is slow", "a/b", "2024-02-30", "-0"])
def test_marks_that_do_not(value: str) -> None:
    operators = {"lost-decimal-point", "lost-sign", "lost-power", "lost-slash", "next-day"}
    assert operators.isdisjoint(compared(value, {"type": "string"}))


def test_the_users_own_words() -> None:
    says = "From January 2nd, 2024 in new york."
    found = compared(any_of(["2024-01-02", "Jan 2, 2024"]), {"type": "string"}, says)
    assert found["date-as-the-user-says"].change == '"2024-01-02" → "January 2nd, 2024"'
    assert found["date-as-the-user-says"].certain
    assert not compared("2024-01-02", {"type": "string"}, says)["date-as-the-user-says"].certain
    form = {"type": "string", "description": "Format YYYY-MM-DD."}
    assert "date-as-the-user-says" not in compared("2024-01-02", form, says)
    assert compared("New York", {"type": "string"}, says)["case-as-the-user-writes"].change.endswith('"new york"')
    assert "case-as-the-user-writes" not in compared("New York", {"type": "string", "enum": ["New York"]}, says)


def test_whole_calls_where_calls_are_compared() -> None:
    two = (call("ask", it=1), call("ask", it=2))
    task = make_task(ground_truth=GroundTruth(semantics="required", turns=(two,), call_matching="any_order"))
    found = by_operator(task)
    assert found["other-order"].attempt.turns == ((two[1], two[0]),)
    assert found["dropped-call"].attempt.turns == ((two[0],),)


FILES = EnvironmentSpec(
    tools=(
        tool("mv", "write", source=TEXT, destination=TEXT),
        tool("cp", "write", source=TEXT, destination=TEXT),
        tool("rm", "write", file_name=TEXT),
    )
)
MOVE = call("mv", source="a", destination="b")


def test_a_move_is_a_copy_and_a_removal() -> None:
    task = make_task(environment=FILES)
    assert copied_and_removed(task, MOVE) == (
        call("cp", source="a", destination="b"),
        call("rm", file_name="a"),
    )


def test_without_such_tools_there_is_none() -> None:
    assert copied_and_removed(make_task(), MOVE) == ()
    assert copied_and_removed(make_task(environment=FILES), call("rm", file_name="a")) == ()
