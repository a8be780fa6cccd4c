"""Agents on the 324 instances that the paper's own generator wrote: what is known of them, agents must get as well."""

from math import prod, sqrt
from pathlib import Path

import pytest

from agenthard.ace.agents import find
from agenthard.ace.environment import Budgets, Environment, Mode
from agenthard.ace.instance import Instance
from agenthard.taxonomy.trajectory import Trajectory
from tests.ace.made import published

pytestmark = pytest.mark.corpora
PAPER = Budgets(extra_queries=2, alpha=1)


@pytest.fixture(scope="module")
def instances(corpora: Path) -> list[Instance]:
    found = published(corpora, "5x7_generated")
    assert len(found) == 324
    return list(found)


def play(
    instances: list[Instance], agent: str, mode: Mode, budgets: Budgets, rate: float = 0.0, max_turns: int = 600
) -> list[Trajectory]:
    runs = []
    for instance in instances:
        environment = Environment(instance.puzzle, mode=mode, budgets=budgets, failure_rate=rate, seed=5)
        runs.append(find(agent).play(environment, max_turns=max_turns))
        assert runs[-1].passed == (environment.grid == instance.answer.solution)
    return runs


def solved(runs: list[Trajectory]) -> int:
    return sum(bool(run.passed) for run in runs)


def calls(runs: list[Trajectory]) -> tuple[float, float]:
    return round(sum(run.usage["calls"] for run in runs) / len(runs), 1), max(run.usage["calls"] for run in runs)


def guesses(instance: Instance) -> int:
    """Fillings that meet the slots' own rules: one of them is the solution."""
    return prod(1 + len(slot.decoys) for slot in instance.answer.slots)


@pytest.mark.long
@pytest.mark.parametrize("budgets", [Budgets.UNLIMITED, PAPER])
def test_the_solver_solves_all_where_queries_give_values(instances: list[Instance], budgets: Budgets) -> None:
    runs = play(instances, "solver", Mode.REFERENCE, budgets)
    assert (solved(runs), calls(runs)) == (324, (79.5, 155))


def test_without_extra_queries_only_a_single_slot_is_out_of_its_reach(instances: list[Instance]) -> None:
    some = instances[::3]
    runs = play(some, "solver", Mode.REFERENCE, Budgets(extra_queries=0, alpha=0))
    missed = {i.hidden_slots for i, run in zip(some, runs, strict=True) if not run.passed}
    assert missed == {1}  # 3 rules + 1 slot allow 4 queries, and 6 attributes have to be read


def test_the_solver_solves_all_by_halving_where_queries_give_ids(instances: list[Instance]) -> None:
    runs = play(instances[::6], "solver", Mode.PAPER, Budgets(extra_queries=-1, alpha=0))
    assert solved(runs) == len(runs) == 54


@pytest.mark.parametrize("mode", list(Mode))
def test_the_slot_filter_guesses_among_what_the_decoys_leave(instances: list[Instance], mode: Mode) -> None:
    runs = play(instances, "slot-filter", mode, PAPER)
    chances = [1 / guesses(instance) for instance in instances]
    spread = sqrt(sum(p * (1 - p) for p in chances))
    assert abs(solved(runs) - sum(chances)) < 4 * spread
    assert all(run.passed for i, run in zip(instances, runs, strict=True) if i.answer.decoy_budget == 0)
    assert calls(runs) == (31.2, 64)


@pytest.mark.parametrize("mode", list(Mode))
def test_trying_all_with_unlimited_checks_solves_all_in_the_end(instances: list[Instance], mode: Mode) -> None:
    some = [instance for instance in instances if guesses(instance) < 2000][::4]
    runs = play(some, "filter-check", mode, Budgets.UNLIMITED, max_turns=5000)
    assert solved(runs) == len(some) > 60


@pytest.mark.parametrize("mode", list(Mode))
def test_trying_with_the_papers_budgets_solves_what_so_many_guesses_hit(instances: list[Instance], mode: Mode) -> None:
    runs = play(instances, "filter-check", mode, PAPER)
    # One check per slot; when they are spent, one more filling is in the grid, unchecked.
    chances = [min(1.0, (instance.hidden_slots + 1) / guesses(instance)) for instance in instances]
    spread = sqrt(sum(p * (1 - p) for p in chances))
    assert abs(solved(runs) - sum(chances)) < 4 * spread


def test_failures_slow_the_solver_down_without_changing_what_it_can_do(instances: list[Instance]) -> None:
    for run in play(instances[::20], "solver", Mode.REFERENCE, PAPER, rate=0.2):
        assert run.passed and 0 < run.usage["failed_calls"] < run.usage["calls"]
