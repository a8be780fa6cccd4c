from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agenthard.audit.execution.acebench import AceBenchEnvironment
from agenthard.audit.execution.environment import Attempt, ExecutionError, UnavailableError
from agenthard.taxonomy import (
    AgentTask,
    Check,
    EnvironmentSpec,
    EvaluationSpec,
    GroundTruth,
    Message,
    ToolCall,
    ToolSpec,
    UserSpec,
)
from agenthard.taxonomy.accepted import any_of

FIND = ToolSpec(
    name="find_books",
    parameters={"type": "object", "properties": {"topic": {"type": "string"}}, "required": ["topic"]},
)


def normal(*gold: ToolCall, subtask: str = "normal_atom_bool", **changes: Any) -> AgentTask:
    asked = (Message(role="system", content="It is Monday."), Message(role="user", content="Books on birds?"))
    return AgentTask(
        id="n1",
        native_id="n1",
        benchmark="acebench",
        subtask=subtask,
        user=UserSpec(kind="scripted", turns=(asked,)),
        environment=EnvironmentSpec(tools=(FIND,)),
        evaluation=EvaluationSpec(checks=(Check(kind="tool_calls", scored=True, pointer="/ground_truth/turns/0"),)),
        ground_truth=GroundTruth(semantics="required", turns=(gold,), call_matching="any_order"),
        **changes,
    )


def agent(expected: list[Any]) -> AgentTask:
    return AgentTask(
        id="a1",
        native_id="a1",
        benchmark="acebench",
        subtask="agent_multi_step",
        user=UserSpec(kind="scripted", turns=((Message(role="user", content="Say hi."),),)),
        environment=EnvironmentSpec(tools=(ToolSpec(name="turn_on_wifi"), ToolSpec(name="send_message"))),
        initial_state={"BaseApi": {"wifi": False}},
        evaluation=EvaluationSpec(checks=(Check(kind="final_state", scored=True, expected=expected),)),
        ground_truth=GroundTruth(semantics="milestones", turns=((),), call_matching="state"),
        traits=frozenset({"redundant_calls_free"}),
        metadata={"involved_classes": ["BaseApi", "MessageApi"]},
    )


def find(topic: str) -> ToolCall:
    return ToolCall(name="find_books", arguments={"topic": topic})


def attempt(*calls: ToolCall) -> Attempt:
    return Attempt(turns=(calls,))


@pytest.fixture
def environment(acebench: Path) -> Iterator[AceBenchEnvironment]:
    made = AceBenchEnvironment(acebench)
    yield made
    made.close()


def test_without_a_checkout_it_says_what_to_give() -> None:
    bare = AceBenchEnvironment()
    assert "--checkout PATH" in (bare.supports(normal(find("birds"))) or "")
    with pytest.raises(UnavailableError, match="--checkout PATH"):
        bare.evaluate(normal(find("birds")), attempt())


def test_the_checker_of_the_checkout_judges(environment: AceBenchEnvironment) -> None:
    task = normal(find("birds"))
    right, wrong, nothing = environment.evaluate_many(task, [attempt(find("Birds")), attempt(find("cars")), attempt()])
    assert not isinstance(right, ExecutionError) and right.passed
    assert not isinstance(wrong, ExecutionError) and not wrong.passed and "wrong call of find_books" in wrong.reason
    assert not isinstance(nothing, ExecutionError) and "count: wrong number" in nothing.reason


def test_repeated_calls_and_alternatives_reach_the_checker_as_written(environment: AceBenchEnvironment) -> None:
    task = normal(find("birds"), ToolCall(name="find_books", arguments={"topic": any_of(["cars", "trains"])}))
    assert environment.evaluate(task, attempt(find("trains"), find("birds"))).passed
    assert not environment.evaluate(task, attempt(find("birds"), find("birds"))).passed
    other = normal(find("birds"), metadata={"alternatives": [{"find_books": {"topic": "owls"}}]})
    assert environment.evaluate(other, attempt(find("owls"))).passed


def test_a_checker_that_breaks_costs_one_verdict(environment: AceBenchEnvironment) -> None:
    task = normal(find("birds"))
    broken, right = environment.evaluate_many(task, [attempt(ToolCall(name="unknown")), attempt(find("birds"))])
    assert isinstance(broken, ExecutionError) and "KeyError" in str(broken)
    assert not isinstance(right, ExecutionError) and right.passed


def test_functions_of_normal_tasks_do_not_exist(environment: AceBenchEnvironment) -> None:
    with pytest.raises(UnavailableError, match="documentation only"):
        environment.reset(normal(find("birds")))


def test_special_tasks_and_unknown_classes_are_refused(environment: AceBenchEnvironment) -> None:
    special = normal(subtask="special_irrelevant", traits=frozenset({"expects_no_call"}))
    assert "what the agent says" in (environment.supports(special) or "")
    task = agent([])
    strange = task.model_copy(update={"metadata": {"involved_classes": ["Bank"]}})
    assert "defines no Bank" in (environment.supports(strange) or "")


def test_calls_change_the_classes(environment: AceBenchEnvironment) -> None:
    task = agent([])
    hello = ToolCall(name="send_message", arguments={"message": "Hi"})
    environment.reset(task)
    assert environment.call(hello).error == "no network"
    assert environment.call(ToolCall(name="turn_on_wifi")).error is None
    assert environment.snapshot()["MessageApi"]["wifi"] is True
    assert environment.call(hello).error is None
    assert environment.snapshot()["MessageApi"]["inbox"] == {"1": "Hello", "2": "Hi"}
    assert "no function" in (environment.call(ToolCall(name="_load_scenario")).error or "")
    environment.reset(task)
    assert environment.snapshot()["BaseApi"] == {"wifi": False}


def test_calls_reach_classes_with_a_copy_of_the_base_class(acebench: Path) -> None:
    phone = acebench / "scenarios/phone.py"
    base, message = phone.read_text().split("class MessageApi")
    (acebench / "scenarios/other_base.py").write_text(base)
    copied = "from scenarios.other_base import BaseApi as Base\n\n\nclass MessageApi" + message.replace(
        "(BaseApi)", "(Base)"
    )
    phone.write_text(base.rstrip() + "\n\n\n" + copied)
    environment = AceBenchEnvironment(acebench)
    environment.reset(agent([]))
    environment.call(ToolCall(name="turn_on_wifi"))
    assert environment.snapshot()["MessageApi"]["wifi"] is True
    environment.close()


def test_the_final_state_is_compared_class_by_class(environment: AceBenchEnvironment) -> None:
    task = agent([{"BaseApi": {"wifi": True}}, {"MessageApi": {"inbox": {"1": "Hello", "2": "Hi"}}}])
    calls = (ToolCall(name="turn_on_wifi"), ToolCall(name="send_message", arguments={"message": "Hi"}))
    assert environment.evaluate(task, attempt(*calls)).passed
    idle = environment.evaluate(task, attempt())
    assert not idle.passed and idle.parts == {"BaseApi": False, "MessageApi": False}
    misspelled = agent([{"Basepi": {"wifi": False}}, {"MessageApi": {"inbox": {"1": "Hello", "2": "Hi"}}}])
    assert environment.evaluate(misspelled, attempt(*calls)).parts == {"MessageApi": True}  # the first is not compared


def test_the_version_follows_the_code(acebench: Path, tmp_path: Path) -> None:
    twin = tmp_path / "twin"
    twin.mkdir()
    (twin / "checker.py").write_text("def normal_checker(*a):\n    return {'valid': True}\n")
    assert AceBenchEnvironment(acebench).version() != AceBenchEnvironment(twin).version()
    assert len(AceBenchEnvironment(twin).version()) == 16
