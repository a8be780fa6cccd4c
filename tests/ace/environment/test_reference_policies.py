"""Solvers through the environment, on the files that the paper's own generator wrote: their known results."""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ace.environment import Budgets, Environment, Mode, Result
from ace.instance import Instance
from ace.reference_format import read
from tests.ace.environment import policies

pytestmark = pytest.mark.corpora
Policy = Callable[[Environment], None]


@pytest.fixture(scope="module")
def instances(corpora: Path) -> list[Instance]:
    files = sorted((corpora / "ace_reference" / "5x7_generated").glob("*.json.gz"))
    found = [instance for file in files for instance in read(file).instances]
    assert len(found) == 324
    return found


def play(
    instances: list[Instance], policy: Policy, mode: Mode = Mode.REFERENCE, budgets: Budgets = Budgets.UNLIMITED
) -> list[Result]:
    def episodes() -> Iterator[Result]:
        for instance in instances:
            environment = Environment(instance.puzzle, mode=mode, budgets=budgets)
            policy(environment)
            yield environment.result()

    results = list(episodes())
    for instance, result in zip(instances, results, strict=True):
        assert result.solved == (result.grid == instance.answer.solution)
    return results


def solved(results: list[Result]) -> int:
    return sum(result.solved for result in results)


def calls(results: list[Result]) -> tuple[float, int]:
    return round(sum(r.calls for r in results) / len(results), 1), max(r.calls for r in results)


def test_do_nothing(instances: list[Instance]) -> None:
    results = play(instances, policies.do_nothing)
    assert (solved(results), calls(results)) == (0, (1.0, 1))


@pytest.mark.parametrize("budgets", [Budgets.UNLIMITED, Budgets(extra_queries=2, alpha=1)])
def test_dump_and_exact_search(instances: list[Instance], budgets: Budgets) -> None:
    results = play(instances, policies.dump_and_search, budgets=budgets)
    assert (solved(results), calls(results)) == (324, (79.5, 155))


def test_dump_without_extra_queries_fails_at_one_hidden_slot_only(instances: list[Instance]) -> None:
    results = play(instances, policies.dump_and_search, budgets=Budgets(extra_queries=0, alpha=0))
    assert solved(results) == 270
    assert {i.hidden_slots for i, r in zip(instances, results, strict=True) if not r.solved} == {1}


@pytest.mark.parametrize("mode", list(Mode))
def test_first_survivor_of_the_slot_rules(instances: list[Instance], mode: Mode) -> None:
    results = play(instances, policies.first_survivor, mode)
    assert (solved(results), calls(results)) == (57, (31.2, 64))
    by_budget = Counter(i.answer.decoy_budget for i, r in zip(instances, results, strict=True) if r.solved)
    assert (by_budget[0], by_budget[2]) == (36, 9)  # of 36 each
    assert all(budget < 15 for budget in by_budget)


@pytest.mark.parametrize("mode", list(Mode))
def test_enumerating_with_an_unlimited_global_check_solves_all(instances: list[Instance], mode: Mode) -> None:
    results = play(instances, policies.enumerate_with_global_check, mode)
    assert solved(results) == 324
    mean, most = calls(results)
    assert (round(mean), most) == (861, 10_097)


@pytest.mark.parametrize("mode", list(Mode))
def test_enumerating_with_the_papers_budgets(instances: list[Instance], mode: Mode) -> None:
    results = play(instances, policies.enumerate_with_global_check, mode, Budgets(extra_queries=2, alpha=1))
    assert solved(results) == 122
    mean, most = calls(results)
    assert (round(mean), most) == (47, 123)


def test_paper_mode_can_be_solved_without_the_global_check_but_not_with_its_budgets(instances: list[Instance]) -> None:
    some = instances[::6]
    without_checks = Budgets(extra_queries=-1, alpha=0)
    assert solved(play(some, policies.halve_and_search, Mode.PAPER, without_checks)) == len(some) == 54
    assert solved(play(some, policies.halve_and_search, Mode.PAPER, Budgets())) <= 1


def test_failures_slow_a_policy_down_without_changing_what_it_can_do(instances: list[Instance]) -> None:
    def persistent(environment: Environment) -> None:
        call = environment.call

        def repeat(name: str, arguments: dict[str, object] | None = None) -> dict[str, object]:
            while (answer := call(name, arguments))["messages"] == "Tool call failed":
                pass
            return answer

        environment.call = repeat  # type: ignore[method-assign, assignment]
        policies.dump_and_search(environment)

    for instance in instances[::20]:
        environment = Environment(instance.puzzle, mode=Mode.REFERENCE, failure_rate=0.3, seed=5)
        persistent(environment)
        result = environment.result()
        assert result.solved and 0 < result.failures < result.calls
