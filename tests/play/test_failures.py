"""Injected tool failures: as frequent as asked for, and the same in every run."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from agenthard.ace.environment import Environment
from agenthard.play.failures import Failures
from tests.ace.environment.small import FIXED, puzzle

FAILED = {"status": "failed", "messages": "Tool call failed", "data": {}}


def pattern(seed: int, rate: float = 0.5, calls: int = 200, id: str = "a") -> list[bool]:
    environment = Environment(puzzle(id), failure_rate=rate, seed=seed)
    return [environment.call("get_slot_id", FIXED) == FAILED for _ in range(calls)]


def test_the_same_seed_gives_the_same_failures_whatever_else_runs() -> None:
    alone = {seed: pattern(seed) for seed in range(16)}
    with ThreadPoolExecutor(8) as pool:
        together = dict(zip(alone, pool.map(pattern, alone), strict=True))
    assert together == alone


def test_other_seeds_and_other_instances_fail_otherwise() -> None:
    assert pattern(1) != pattern(2)
    assert pattern(1, id="a") != pattern(1, id="b")


def test_which_calls_fail_does_not_depend_on_what_they_are() -> None:
    environment = Environment(puzzle("a"), failure_rate=0.5, seed=1)
    names = ["no_such_tool", "get_current_grid_state", "get_global_check_budget"]
    failed = [environment.call(names[number % 3]) == FAILED for number in range(200)]
    assert failed == pattern(1)


def test_a_known_pattern() -> None:
    # Frozen: a change here makes earlier runs with tool failures incomparable.
    assert [int(Failures(0.5, 42, "course_r5_c5_h5_b4").hit(call)) for call in range(16)] == [
        1,
        1,
        0,
        1,
        1,
        1,
        0,
        0,
        0,
        0,
        0,
        1,
        1,
        0,
        0,
        1,
    ]


def test_the_rate_is_the_one_asked_for() -> None:
    # 20,000 draws at p = 0.3: standard error 0.0032; five of them on either side.
    hits = sum(Failures(0.3, 7, "a").hit(call) for call in range(20_000))
    assert 0.284 < hits / 20_000 < 0.316


def test_the_extremes() -> None:
    assert not any(pattern(1, rate=0.0))
    assert all(pattern(1, rate=1.0))


def test_a_failed_done_does_not_end_the_episode() -> None:
    environment = Environment(puzzle(), failure_rate=1)
    assert environment.call("done") == FAILED
    assert not environment.finished
    assert environment.result().failures == 1


def test_calls_that_reach_no_tool_do_not_shift_the_pattern() -> None:
    environment = Environment(puzzle("a"), failure_rate=0.5, seed=1)
    failed = []
    for _ in range(200):
        environment.call("get_slot_id", {})
        failed.append(environment.call("get_slot_id", FIXED) == FAILED)
    assert failed == pattern(1)


@pytest.mark.parametrize("rate", [-0.1, 1.1, float("nan")])
def test_a_rate_that_is_no_probability_is_refused(rate: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        Environment(puzzle(), failure_rate=rate)
