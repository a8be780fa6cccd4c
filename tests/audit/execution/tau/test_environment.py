import json
from pathlib import Path

import pytest

from agenthard.audit.execution.environment import Attempt, ExecutionError, UnavailableError, Verdict
from agenthard.audit.execution.mutation import mutants
from agenthard.audit.execution.tau import Tau2Environment, TauBenchEnvironment
from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.tau.tau_bench import TauBench
from agenthard.taxonomy import AgentTask, ToolCall, ToolSpec
from tests.audit.execution.tau.conftest import make_task

CANCEL = ToolCall(name="cancel_reservation", arguments={"reservation_id": "AAA111"})


@pytest.mark.parametrize("kind", [TauBenchEnvironment, Tau2Environment])
def test_reset_goes_back(kind: type[TauBenchEnvironment] | type[Tau2Environment]) -> None:
    environment, task = kind(), make_task("tau2", "airline", [CANCEL])
    environment.reset(task)
    before = environment.state_hash()
    assert environment.snapshot() == {}
    assert environment.call(CANCEL).error is None
    assert environment.snapshot()["reservations"]["AAA111"]["status"] == "cancelled"
    assert environment.state_hash() != before
    environment.reset(task)
    assert environment.state_hash() == before
    assert "status" not in task.environment.state["reservations"]["AAA111"]


def test_it_moves_between_domains() -> None:
    environment = Tau2Environment()
    environment.reset(make_task("tau2", "airline", []))
    environment.reset(make_task("tau2", "retail", []))
    order = environment.call(ToolCall(name="get_order_details", arguments={"order_id": "#W1"}))
    assert json.loads(order.text)["status"] == "pending"
    assert environment.call(CANCEL).text == "Error: Tool 'cancel_reservation' not found."


def test_what_is_not_supported_is_said() -> None:
    environment = Tau2Environment()
    task = make_task("tau2", "airline", [])
    assert environment.supports(task) is None
    assert "telecom" in str(environment.supports(task.model_copy(update={"subtask": "telecom"})))
    own = task.model_copy(update={"initial_state": {"initialization_actions": [{}]}})
    assert "a state of its own" in str(environment.supports(own))
    bare = task.environment.model_copy(update={"state": {"users": {}}})
    assert "flights, reservations, users" in str(environment.supports(task.model_copy(update={"environment": bare})))


def with_tools(task: AgentTask, *tools: ToolSpec) -> AgentTask:
    return task.model_copy(update={"environment": task.environment.model_copy(update={"tools": tools})})


WASH = ToolCall(name="wash_plane")


def test_a_tool_that_is_not_implemented_disables_the_tasks_that_call_it() -> None:
    environment = Tau2Environment()
    offered = with_tools(make_task("tau2", "airline", [CANCEL]), ToolSpec(name="wash_plane"))
    assert environment.supports(offered) is None
    environment.reset(offered)
    assert environment.call(CANCEL).error is None
    with pytest.raises(ExecutionError, match="wash_plane is not implemented here"):
        environment.call(WASH)
    [verdict, washed] = environment.evaluate_many(offered, [Attempt(turns=((CANCEL,),)), Attempt(turns=((WASH,),))])
    assert isinstance(verdict, Verdict) and verdict.passed and isinstance(washed, ExecutionError)
    calling = with_tools(make_task("tau2", "airline", [WASH]), ToolSpec(name="wash_plane"))
    with pytest.raises(UnavailableError, match="wash_plane"):
        environment.reset(calling)


def test_a_tool_that_takes_other_arguments_is_another_tool() -> None:
    schema = {"type": "object", "properties": {"reservation_id": {}, "waive_fee": {}}}
    changed = with_tools(make_task("tau2", "airline", [CANCEL]), ToolSpec(name="cancel_reservation", parameters=schema))
    assert "cancel_reservation" in (Tau2Environment().supports(changed) or "")


def test_later_releases_show_an_item_and_refuse_to_change_it_into_itself() -> None:
    environment, before = Tau2Environment(), make_task("tau2", "retail", [])
    later = with_tools(before, ToolSpec(name="get_item_details", parameters={"properties": {"item_id": {}}}))
    shown = ToolCall(name="get_item_details", arguments={"item_id": "12"})
    environment.reset(later)
    assert json.loads(environment.call(shown).text)["price"] == 50.75
    lost = ToolCall(name="get_item_details", arguments={"item_id": "99"})
    assert environment.call(lost).text == "Error: Item not found"
    order = json.loads(environment.call(ToolCall(name="get_order_details", arguments={"order_id": "#W1"})).text)
    item = order["items"][0]["item_id"]
    same = {"order_id": "#W1", "item_ids": [item], "new_item_ids": [item], "payment_method_id": "none"}
    refused = environment.call(ToolCall(name="modify_pending_order_items", arguments=same)).text
    assert refused == "Error: The new item id should be different from the old item id"
    environment.reset(before)
    assert environment.call(shown).text == "Error: Tool 'get_item_details' not found."


def test_a_split_of_a_domain_is_the_domain() -> None:
    assert TauBenchEnvironment().supports(make_task("tau-bench", "retail-dev", [])) is None


def test_nothing_runs_before_a_task() -> None:
    with pytest.raises(UnavailableError, match="reset"):
        Tau2Environment().snapshot()


def test_a_user_has_no_tools() -> None:
    environment = Tau2Environment()
    environment.reset(make_task("tau2", "airline", []))
    assert environment.call(CANCEL.model_copy(update={"requestor": "user"})).error is not None
    assert environment.snapshot() == {}


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("__init__", {}),
        ("invoke", {"name": "think", "arguments": {}}),
        ("_fail", {"text": "x"}),
        ("state", {}),
        ("get_user_details", {"user_id": ["a"]}),
        ("get_user_details", {"user_id": None}),
        ("book_reservation", {"user_id": "ada_1"}),
        ("calculate", {"expression": 5}),
        ("calculate", {"expression": "__import__('os').getcwd()"}),
        ("calculate", {"expression": "9**9**9"}),
        ("update_reservation_flights", {"reservation_id": "AAA111", "cabin": "x", "flights": 3, "payment_id": "y"}),
        ("update_reservation_baggages", {"reservation_id": {}, "total_baggages": 1, "x": 1}),
    ],
)
@pytest.mark.parametrize("kind", [TauBenchEnvironment, Tau2Environment])
def test_bad_calls_are_observations(
    kind: type[TauBenchEnvironment] | type[Tau2Environment], name: str, arguments: dict[str, object]
) -> None:
    environment = kind()
    environment.reset(make_task("tau2", "airline", []))
    observation = environment.call(ToolCall(name=name, arguments=arguments))
    assert observation.error
    assert observation.text.startswith(("Error: ", "Unknown action "))
    assert environment.snapshot() == {}


def test_arguments_that_do_not_fit_are_told_as_python_tells_them() -> None:
    environment = TauBenchEnvironment()
    environment.reset(make_task("tau-bench", "airline", []))
    extra = environment.call(ToolCall(name="cancel_reservation", arguments={"reservation_id": "AAA111", "why": "x"}))
    assert extra.text == "Error: CancelReservation.invoke() got an unexpected keyword argument 'why'"
    one = environment.call(ToolCall(name="send_certificate", arguments={"user_id": "ada_1"}))
    assert one.text == "Error: SendCertificate.invoke() missing 1 required positional argument: 'amount'"
    three = environment.call(ToolCall(name="search_direct_flight"))
    assert three.text.endswith("missing 3 required positional arguments: 'origin', 'destination', and 'date'")
    newer = Tau2Environment()
    newer.reset(make_task("tau2", "airline", []))
    two = newer.call(ToolCall(name="send_certificate", arguments={}))
    assert two.text.endswith(
        "AirlineTools.send_certificate() missing 2 required positional arguments: 'user_id' and 'amount'"
    )


@pytest.mark.corpora
def test_answers_that_begin_like_the_ground_truth_get_the_verdict_of_a_whole_replay(corpora: Path) -> None:
    source = TauBench(corpora / "tau-bench_59a200c", ["airline"])
    environment, tried = TauBenchEnvironment(), 0
    for task in list(source.tasks(Quarantine()))[:12]:
        attempts = [mutant.attempt for mutant in mutants(task)]
        shared = environment.evaluate_many(task, attempts)
        assert shared == [TauBenchEnvironment().evaluate(task, attempt) for attempt in attempts]
        tried += len(attempts)
    assert tried > 100
