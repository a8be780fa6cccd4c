"""The episode: how it ends, what it came to, and calls that are none."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agenthard.ace.environment import Ending, Environment, Mode
from tests.ace.environment.small import LOWER, UPPER, fill, puzzle

STOP = {"status": "success", "messages": "###STOP###", "data": {}}


def test_done_ends_the_episode_at_once_in_paper_mode() -> None:
    environment = Environment(puzzle())
    fill(environment, "C11", "C22")
    assert not environment.finished
    assert environment.call("done") == STOP
    assert environment.finished
    before = environment.result()
    assert environment.call("set_slot", {**LOWER, "id": "C21"})["messages"] == "The episode is over"
    assert environment.result() == before
    assert before.ending is Ending.DONE and not before.solved


def test_a_mode_may_be_given_by_name() -> None:
    assert Environment(puzzle(), mode="reference").mode is Mode.REFERENCE
    with pytest.raises(ValueError, match="'papre' is not a valid Mode"):
        Environment(puzzle(), mode="papre")


def test_calls_after_done_are_carried_out_in_reference_mode() -> None:
    environment = Environment(puzzle(), mode=Mode.REFERENCE)
    fill(environment, "C11", "C22")
    environment.call("done")
    environment.call("set_slot", {**LOWER, "id": "C21"})
    assert environment.finished and environment.result().solved


@pytest.mark.parametrize("ending", [e for e in Ending if e is not Ending.DONE])
def test_the_score_is_about_the_grid_whatever_the_ending(ending: Ending) -> None:
    environment = Environment(puzzle())
    assert not environment.result(ending).solved
    fill(environment, "C11", "C21")
    result = environment.result(ending)
    assert (result.solved, result.ending) == (True, ending)


@pytest.mark.parametrize(
    ("upper", "lower"), [("C11", "C22"), ("C12", "C21"), ("C13", "C21"), ("C11", "C23"), ("C11", None), (None, None)]
)
def test_only_the_truth_solves(upper: str | None, lower: str | None) -> None:
    environment = Environment(puzzle())
    fill(environment, upper, lower)
    assert not environment.result().solved
    fill(environment, "C11", "C21")
    assert environment.result().solved


def test_result_counts() -> None:
    environment = Environment(puzzle())
    fill(environment, "C11", "C21")
    environment.call("get_slot_id", {"row": 9, "col": 9})
    environment.call("get_slot_id", {"row": 0})
    environment.message("get_slot_id", "{")
    environment.call("no_such_tool")
    environment.call("check_course_global_constraints")
    environment.call("query_course_candidate_from_attribute", {**UPPER, "field": "price", "operator": "<", "value": 1})
    result = environment.result()
    assert result.instance == "course_r2_c2_h2_b2"
    assert result.grid == (("C1", "C11"), ("C21", "C2"))
    assert (result.calls, result.malformed, result.failures) == (6, 2, 0)
    assert (result.queries, result.global_checks) == (1, 1)


def test_unknown_tools_and_tools_of_other_domains() -> None:
    environment = Environment(puzzle())
    for name in ("no_such_tool", "query_candidate", "get_{domain}_item_info", ""):
        assert environment.call(name)["messages"] == "Unknown tool"
    other = environment.call("get_meal_item_info", {"id": "C1"})
    assert other == {"status": "failed", "messages": "This tool is from other domain, not this domain", "data": {}}


LACKING = [
    ("get_slot_id", '{"row": 0}', "get_slot_id() missing 1 required positional argument: 'col'"),
    ("set_slot", "", "set_slot() missing 2 required positional arguments: 'row' and 'col'"),
    (
        "query_course_candidate_from_attribute",
        '{"row": 0, "col": 1}',
        "query_course_candidate_from_attribute() missing 3 required positional arguments: "
        "'field', 'operator', and 'value'",
    ),
]


@pytest.mark.parametrize(("name", "arguments", "lack"), LACKING)
def test_a_missing_argument(name: str, arguments: str, lack: str) -> None:
    text = f"Tool call failed (invalid arguments): {lack}"
    assert Environment(puzzle(), mode=Mode.REFERENCE).message(name, arguments) == text
    envelope = {"status": "failed", "messages": text, "data": {}}
    assert json.loads(Environment(puzzle()).message(name, arguments)) == envelope


@pytest.mark.parametrize("arguments", ['{"row": 0, "co', "[" * 100_000, "[1]", "nonsense", '"row"'])
def test_arguments_that_are_no_object(arguments: str) -> None:
    plain = Environment(puzzle(), mode=Mode.REFERENCE).message("get_slot_id", arguments)
    assert plain.startswith(("Tool arguments parse failed (possibly truncated), skipping: ", "Tool call failed (inv"))
    environment = Environment(puzzle())
    assert json.loads(environment.message("get_slot_id", arguments))["status"] == "failed"
    assert (environment.result().calls, environment.result().malformed) == (0, 1)


def test_message_is_the_answer_as_json() -> None:
    text = Environment(puzzle()).message("get_slot_id", '{"row": 0, "col": 0}')
    assert text == (
        '{"status": "success", "messages": "Successfully executed tool", "data": {"row": 0, "col": 0, "id": "C1"}}'
    )
    assert "é" in Environment(puzzle()).message("get_course_item_info", '{"id": "é"}')


def test_half_a_surrogate_pair_can_still_be_sent() -> None:
    text = Environment(puzzle()).message("get_course_item_info", '{"id": "\\ud800"}')
    assert "\ud800" in json.loads(text.encode("utf-8"))["messages"]


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["C11", "C1", "price"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
argument_names = st.sampled_from(["row", "col", "id", "ids", "field", "operator", "value"])
cells = st.fixed_dictionaries({"row": st.integers(-1, 2), "col": st.integers(-1, 2)})


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # loading Unicode's tables is slow
@given(st.data())
def test_nothing_an_agent_sends_raises(data: st.DataObject) -> None:
    environment = Environment(puzzle(), mode=data.draw(st.sampled_from(list(Mode))))
    for _ in range(3):
        tool = data.draw(st.sampled_from(environment.tools()))
        arguments = {**data.draw(st.dictionaries(argument_names, json_values)), **data.draw(cells)}
        answer = json.loads(json.dumps(environment.call(tool.name, arguments)))
        assert answer["status"] in ("success", "failed") and isinstance(answer["messages"], str)
    environment.result()


def test_episodes_side_by_side_keep_their_own_state() -> None:
    def play(number: int) -> bool:
        environment = Environment(puzzle(f"instance {number}"))
        lower = "C21" if number % 2 else "C22"
        for _ in range(200):
            fill(environment, "C12", "C22")
            fill(environment, "C11", lower)
        return environment.result().solved

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(play, range(32))) == [bool(number % 2) for number in range(32)]
