"""Why runs failed, and the tables of the paper."""

from typing import Any

from agenthard.ace.evaluation import AceConditions, AceTask
from agenthard.ace.failures import final_grid, why
from agenthard.ace.instance import Instance
from agenthard.ace.paper import cells, failures, slices, times, usage
from agenthard.taxonomy.trajectory import Trajectory
from tests.ace.made import small_suite


def played(agent: str, instance: Instance, **conditions: Any) -> Trajectory:
    return AceTask(instance.id, instance, AceConditions(**conditions), 1).play(agent, "", 0.0, 0)


def test_the_final_grid_is_what_the_calls_left() -> None:
    for instance in small_suite()[:4]:
        run = played("solver", instance)
        truth = {s.cell: known.truth for s, known in zip(instance.puzzle.slots, instance.answer.slots, strict=True)}
        assert run.passed and final_grid(instance, run) == truth and why(instance, run) is None


def test_every_reason_is_told_by_the_final_grid() -> None:
    reasons = set()
    for instance in small_suite():
        for agent, conditions in (("slot-filter", {}), ("random", {}), ("solver", {"max_turns": 3})):
            run = played(agent, instance, **conditions)
            found = why(instance, run)
            assert (found is None) == bool(run.score), "a reason for every failed run and for no other"
            if found is None:
                continue
            reasons.add(found.reason)
            assert (found.reason == "stopped early") == bool(found.empty)
            assert found.reason != "decoy picked" or (found.decoys and not found.filters and found.rule)
            assert found.reason != "filter picked" or found.filters
    assert reasons == {"stopped early", "filter picked", "decoy picked"}


def row(**more: Any) -> dict[str, Any]:
    base = {"agent": "a", "task_id": "t", "failure_rate": 0.0, "trial": 0, "passed": True, "seconds": 2.0, "calls": 4}
    more = {"hidden_slots": 1, "decoy_budget": 2, "requests": None, "cost": None} | more
    return base | dict.fromkeys(("turns", "messages", "prompt_tokens", "completion_tokens"), None) | more


def test_cells_and_slices_are_counted_per_failure_rate() -> None:
    rows = [row(), row(passed=False, failure_rate=0.5), row(decoy_budget=4, passed=None)]
    assert [found[:6] for found in cells(rows)] == [("a", 0.0, 1, 2, 1, 1), ("a", 0.5, 1, 2, 0, 1)]
    assert [found[:5] for found in slices(rows, 1, None)] == [("a", 0.0, 2, 1, 1), ("a", 0.5, 2, 0, 1)]
    assert slices(rows, None, 9) == []


def test_time_of_the_model_is_apart_and_unknown_without_one() -> None:
    rows = [row(requests=3), row(trial=1, requests=3), row(agent="b")]
    model, other = times(rows, {"a/t//0": 1.5, "a/t//1": 0.5})
    assert model == ("a", 0.0, 2, 2000.0, 1000.0, 1000.0, 250.0)
    assert other[:6] == ("b", 0.0, 1, 2000.0, None, 2000.0)


def test_usage_has_one_row_per_agent_and_no_cost_without_a_price() -> None:
    rows = [row(cost=0.5, prompt_tokens=10), row(trial=1, passed=False), row(agent="b")]
    first, second = usage(rows, rows)
    assert first[:3] == ("a", 1, 2) and first[9:] == (10.0, None, 2.0, 0.5, 1, 2) and second[12] is None


def test_failures_count_reasons_and_rules() -> None:
    instance = next(i for i in small_suite() if why(i, played("slot-filter", i)))
    failure = why(instance, played("slot-filter", instance))
    assert failure is not None
    (found,) = failures([(row(passed=False), failure)], [row(passed=False), row(trial=1)])
    assert found[:7] == ("a", 0.0, 2, 1, 0, 0, 1) and found[-1] == f"{failure.rule} 1"
