"""Scoring by declaration: three answers, and never more than the declaration says."""

from typing import Any

import pytest

from agenthard.audit.execution.declared_evaluation import DeclaredEvaluation, score
from agenthard.audit.execution.environment import Attempt, UnavailableError
from agenthard.taxonomy import Check, EvaluationSpec, GroundTruth, ToolCall
from tests.builders import make_task


def call(**arguments: Any) -> ToolCall:
    return ToolCall(name="lend_book", arguments=arguments)


ANY = {"$any_of": [1, {"$any_of": ["one"], "$optional": False}], "$optional": True}
CALLS = Check(kind="tool_calls", scored=True)
STATE = Check(kind="final_state", scored=True)
ONE = ((call(a=1),),)


def declared(
    *checks: Check, gold: Any = ONE, matching: Any = "exact", traits: set[str] | None = None
) -> DeclaredEvaluation:
    truth = GroundTruth(semantics="required", turns=gold, call_matching=matching)
    task = make_task(evaluation=EvaluationSpec(checks=checks), ground_truth=truth, traits=frozenset(traits or ()))
    return DeclaredEvaluation.of(task)


def passed(known: DeclaredEvaluation, *turns: tuple[ToolCall, ...], says: tuple[str, ...] = ()) -> bool | str:
    try:
        return score(known, Attempt(turns=turns, replies=says)).passed
    except UnavailableError as reason:
        return str(reason)


@pytest.mark.parametrize(
    ("gold", "made", "right"),
    [
        ((call(a=1),), (call(a=1),), True),
        ((call(a=1),), (call(a=1.0),), True),
        ((call(a=1),), (call(a=True),), False),
        ((call(a=1),), (call(a="1"),), False),
        ((call(a=1),), (), False),
        ((call(a=1),), (call(a=1), call(a=1)), False),
        ((call(a=ANY),), (call(a="one"),), True),
        ((call(a=ANY),), (call(),), True),
        ((call(a=ANY),), (call(a=2),), False),
        ((call(a=[{"b": ANY}]),), (call(a=[{}]),), True),
        ((call(a=1),), (call(a=1, b=2),), False),
        ((call(a=1), call(a=2)), (call(a=2), call(a=1)), False),
    ],
)
def test_calls_in_order(gold: tuple[ToolCall, ...], made: tuple[ToolCall, ...], right: bool) -> None:
    assert passed(declared(CALLS, gold=(gold,)), made) is right


def test_calls_in_any_order_are_paired() -> None:
    both = {"$any_of": [1, 2], "$optional": False}
    known = declared(CALLS, gold=((call(a=both), call(a=1)),), matching="any_order")
    assert passed(known, (call(a=1), call(a=2))) is True
    assert passed(known, (call(a=2), call(a=2))) is False


def test_turns_are_compared_one_by_one_and_further_calls_may_be_free() -> None:
    known = declared(CALLS, gold=((call(a=1),), (call(a=2),)))
    assert passed(known, (call(a=1),), (call(a=2),)) is True
    assert passed(known, (call(a=1), call(a=2))) is False
    free = declared(CALLS, traits={"redundant_calls_free"})
    assert passed(free, (call(a=0), call(a=1), call(a=3))) is True


def test_any_call_and_no_call() -> None:
    assert passed(declared(CALLS, gold=(), traits={"expects_any_call"}), (call(z=1),)) is True
    forbidden = Check(kind="no_call", scored=True)
    assert passed(declared(CALLS, forbidden), (call(a=1),)) is False
    assert passed(declared(forbidden), ()) is True


@pytest.mark.parametrize(
    ("check", "says", "right"),
    [
        (Check(kind="output_substring", scored=True, expected="44"), "It is 1448.", True),
        (Check(kind="output_substring", scored=True, expected="44", note="as whole words"), "It is 1448.", False),
        (Check(kind="output_substring", scored=True, expected="1448", note="commas removed"), "It is 1,448.", True),
        (Check(kind="output_substring", scored=True, expected=["a", "b"]), "b", True),
        (
            Check(kind="output_substring", scored=True, expected="Yes", note="the final answer must equal it"),
            "Yes.",
            False,
        ),
    ],
)
def test_required_texts(check: Check, says: str, right: bool) -> None:
    assert passed(declared(check), says=(says,)) is right


def test_a_convention_that_is_left_open_is_not_guessed() -> None:
    check = Check(kind="output_substring", scored=True, expected="Yes")
    assert "is not declared" in str(passed(declared(check), says=("yes",)))


@pytest.mark.parametrize("kind", ["rubric", "judge", "state_assertion"])
def test_what_only_code_or_a_judge_can_tell(kind: Any) -> None:
    judged = Check(kind=kind, scored=True, expected="polite")
    assert "is not declared" in str(passed(declared(judged), (call(a=1),)))
    assert passed(declared(judged, CALLS), (call(a=2),)) is False


def test_a_final_state_is_sure_only_after_the_same_calls_or_reads() -> None:
    known = declared(STATE, matching="state")
    assert passed(known, (call(a=1),)) is True
    assert "final state" in str(passed(known, ()))


def test_nothing_known_and_nothing_scored() -> None:
    assert "nothing is known" in str(passed(declared()))
    assert passed(declared(Check(kind="judge", scored=False))) is True
