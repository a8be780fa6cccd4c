from typing import Any

import pytest

from agenthard.audit.judge.context.applicable import CONDITIONS, applicable
from agenthard.audit.judge.templates import data
from agenthard.taxonomy import (
    AgentTask,
    Check,
    EnvironmentSpec,
    EvaluationSpec,
    GroundTruth,
    Message,
    ToolCall,
    UserSpec,
)
from agenthard.taxonomy.categories import Category, Taxonomy, builtin_taxonomy
from tests.builders import make_task

LEND = ToolCall(name="lend_book", arguments={"book_id": 7})
NOTHING = GroundTruth(semantics="required", turns=((),))
PATH = GroundTruth(semantics="reference_path", turns=((LEND,),), call_matching="state")


def ids(task: AgentTask, simulated_runs: bool = False) -> set[str]:
    return {category.id for category in applicable(task, builtin_taxonomy(), simulated_runs)}


def test_every_category_has_conditions_that_exist() -> None:
    conditions = data("conditions.yaml")
    assert list(conditions) == [category.id for category in builtin_taxonomy().categories]
    assert {name for names in conditions.values() for name in names} == CONDITIONS.keys()


def test_one_task_never_shows_what_needs_many() -> None:
    task = make_task(user=UserSpec(kind="simulated", instruction="Lend."), ground_truth=PATH)
    assert not ids(task, True) & {"suspicious-score-pattern", "duplicate-or-conflicting-task"}


@pytest.mark.parametrize(
    ("kind", "runs", "asked"),
    [("scripted", True, False), ("simulated", False, False), ("simulated", True, True)],
)
def test_roles_are_for_simulated_users_that_are_seen(kind: str, runs: bool, asked: bool) -> None:
    task = make_task(user=UserSpec.model_validate({"kind": kind, "instruction": "Lend."}))
    assert ("user-role-confusion" in ids(task, runs)) == asked


@pytest.mark.parametrize(
    ("changes", "without"),
    [
        (
            {"environment": EnvironmentSpec(policy="Be kind.")},
            {"insufficient-toolset", "misleading-tool-design", "incorrect-tool-response"},
        ),
        ({"environment": EnvironmentSpec()}, {"incorrect-system-prompt"}),
        (
            {"traits": frozenset({"expects_no_call"}), "ground_truth": NOTHING},
            {"insufficient-toolset", "malformed-tool-call", "redundant-tool-call"},
        ),
        (
            {"ground_truth": GroundTruth(semantics="none", call_matching="none")},
            {"incorrect-tool-call", "malformed-tool-call", "redundant-tool-call", "wrong-expected-output"},
        ),
        (
            {"evaluation": EvaluationSpec(checks=(Check(kind="rubric", scored=False, expected="polite"),))},
            {"too-lenient", "too-strict", "unreachable-score", "unscored-requirement", "answer-leakage"},
        ),
        ({}, {"wrong-expected-output", "incorrect-tool-response"}),
    ],
)
def test_what_a_task_lacks_cannot_be_wrong(changes: dict[str, Any], without: set[str]) -> None:
    assert not ids(make_task(**changes)) & without


@pytest.mark.parametrize(
    ("changes", "runs", "among"),
    [
        ({"ground_truth": NOTHING, "traits": frozenset({"expects_no_call"})}, False, "incorrect-tool-call"),
        ({"ground_truth": PATH}, False, "incorrect-tool-response"),
        ({}, True, "incorrect-tool-response"),
        (
            {"user": UserSpec(kind="scripted", turns=((Message(role="tool", content="ok"),),))},
            False,
            "incorrect-tool-response",
        ),
        (
            {
                "environment": EnvironmentSpec(),
                "user": UserSpec(kind="scripted", turns=((Message(role="system", content="Be kind."),),)),
            },
            False,
            "incorrect-system-prompt",
        ),
        ({"ground_truth": GroundTruth(semantics="none", outputs=("44",))}, False, "wrong-expected-output"),
        (
            {"evaluation": EvaluationSpec(checks=(Check(kind="final_state", scored=True, expected={"a": 1}),))},
            False,
            "wrong-expected-output",
        ),
    ],
)
def test_what_a_task_has_can_be_wrong(changes: dict[str, Any], runs: bool, among: str) -> None:
    assert among in ids(make_task(**changes), runs)


def test_milestones_are_not_carried_out() -> None:
    milestones = PATH.model_copy(update={"semantics": "milestones"})
    assert "incorrect-tool-response" not in ids(make_task(ground_truth=milestones))


def test_a_category_of_the_users_own_always_applies() -> None:
    own = Category(
        id="rude-task",
        name="Rude",
        component="user",
        origin="user",
        rule="The task is rude.",
        positive="You fool!",
        negative="Please.",
    )
    assert applicable(make_task(environment=EnvironmentSpec()), Taxonomy(version="1", categories=(own,))) == (own,)
