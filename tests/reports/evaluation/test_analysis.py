"""The analysis of small tables; expected values are derived by hand in the comments."""

import pandas as pd
import pytest

from agenthard.ace.declared import ACE
from agenthard.audit.statistics import Estimate, Result, Undefined
from agenthard.audit.statistics.intervals import clustered_wilson, wilson
from agenthard.reports.evaluation import About, analyse
from agenthard.reports.evaluation.agents import Usage
from agenthard.reports.evaluation.analysis import EvaluationAnalysis
from tests.reports.evaluation.frames import episodes, grid, verdicts


def run(*rows: dict[str, object], **about: object) -> EvaluationAnalysis:
    return analyse(episodes(*rows), About(**about), declared=ACE)  # type: ignore[arg-type]


def value(result: Result) -> float:
    assert isinstance(result, Estimate), result
    return result.value


def test_leaderboard_of_single_trials() -> None:
    # b passes 3 of 4; a passes 2 of 3 with a verdict, the fourth was broken from outside: 2 of 4 as failures.
    found = run(*verdicts("a", "110x"), *verdicts("b", "1110"), planned={"a": 5, "b": 4, "c": 4})
    b, a, c = found.board
    assert [(r.agent, r.rank) for r in found.board] == [("b", 1), ("a", 2), ("c", None)]
    assert (b.final.passed, b.final.scored, a.final.passed, a.final.scored) == (3, 4, 2, 3)
    assert isinstance(a.final.wilson, Estimate) and (a.final.wilson.low, a.final.wilson.high) == wilson(2, 3)
    assert isinstance(a.final.clustered, Undefined) and a.final.score == a.final.wilson
    assert value(a.errors_as_failures) == 0.5 and (a.infrastructure_errors, a.judge_errors, a.no_verdict) == (1, 0, 0)
    assert (a.run, a.planned, a.missing, b.missing, c.run, c.missing) == (4, 5, 1, 0, 0, 4)
    assert a.endings == {"done": 3, "error": 1}
    assert (found.totals.episodes, found.totals.planned, found.totals.unscored) == (8, 13, 1)
    assert "8 of 13 planned episodes ran, 1 of them without a verdict" in found.sentence


def test_repeated_trials_are_clustered_by_task() -> None:
    # t1 passes both trials, t2 none: 2 of 4, and two clusters that agree within say no more than two episodes.
    rows = [row | {"trial": trial} for trial in (0, 1) for row in verdicts("a", "10")]
    rate = run(*rows).board[0].final
    assert isinstance(rate.clustered, Estimate) and isinstance(rate.wilson, Estimate)
    assert (rate.clustered.low, rate.clustered.high) == clustered_wilson([(2, 2), (0, 2)])
    assert (rate.wilson.low, rate.wilson.high) == wilson(2, 4)
    assert rate.score == rate.clustered and rate.tasks == 2 and rate.clustered.n == 4


def test_first_and_final_attempts_are_both_reported() -> None:
    # t1 breaks, then passes; t2 fails at once. First: 0 of 1 with a verdict. Final: 1 of 2.
    found = run(
        *({"task_id": "t1", "passed": None, "status": "infrastructure_error"}, {"task_id": "t1", "attempt": 1}),
        {"task_id": "t2", "passed": False},
    )
    row = found.board[0]
    assert (row.first.passed, row.first.scored, row.first.episodes) == (0, 1, 2)
    assert (row.final.passed, row.final.scored, row.retried) == (1, 2, 1)
    assert (found.totals.episodes, found.totals.attempts, found.totals.retried, found.totals.unscored) == (2, 3, 1, 0)


def test_an_agent_error_fails_and_is_counted() -> None:
    row = run(
        {"status": "agent_error", "passed": None, "ending": "truncations"},
        {"task_id": "t2", "ending": "max_steps", "score": 1.0},
        {"task_id": "t3", "passed": None, "ending": None},
    ).board[0]
    assert (row.final.passed, row.final.scored, row.agent_errors, row.no_verdict) == (1, 2, 1, 1)
    assert row.endings == {"max_steps": 1, "not said": 1, "truncations": 1} and row.mean_score == 1.0


def test_cells_and_domains() -> None:
    found = run(
        *({"task_id": f"c{i}", "hidden_slots": 5, "decoy_budget": 2, "passed": i > 0} for i in range(4)),
        {"task_id": "m1", "domain": "meal", "passed": None, "status": "judge_error"},
        {"task_id": "n1", "domain": None, "hidden_slots": None},
    )
    (grid,) = found.heat_maps
    assert [(c.levels["hidden_slots"], c.levels["decoy_budget"], c.passed, c.scored, c.share) for c in grid.cells] == [
        (1, 0, 0, 0, None),
        (5, 2, 3, 4, 0.75),
    ]
    assert grid.outside == 1
    course, meal = found.domains
    assert (course.domain, course.passed, course.scored) == ("course", 3, 4)
    assert isinstance(course.score, Estimate) and (course.score.low, course.score.high) == wilson(3, 4)
    assert meal.scored == 0 and isinstance(meal.score, Undefined)


def test_horizon_leaves_out_what_was_broken_from_outside() -> None:
    # H = 5: turns 10 and 14, mean 12; the broken one of 1 turn is left out. Messages are known once: no interval.
    rows = [
        {"task_id": "t1", "hidden_slots": 5, "turns": 10, "messages": 42},
        {"task_id": "t2", "hidden_slots": 5, "turns": 14},
        {"task_id": "t3", "hidden_slots": 5, "turns": 1, "status": "infrastructure_error", "passed": None},
    ]
    turns, messages = run(*rows, seed=3).horizon
    assert (turns.measure, turns.levels["hidden_slots"], messages.measure) == ("turns", 5, "messages")
    assert isinstance(turns.mean, Estimate) and turns.mean.value == 12 and (turns.mean.n, turns.mean.of) == (2, 2)
    # Two tasks: a resample is 10, 12 or 14 with 1/4, 1/2, 1/4, so the 95 % interval is the whole range.
    assert (turns.mean.low, turns.mean.high, turns.mean.seed) == (10, 14, 3)
    assert isinstance(messages.mean, Estimate) and messages.mean.low is None and (messages.mean.n, 2) == (1, 2)


def test_scores_and_trends_by_level() -> None:
    rows = [{"task_id": f"b{b}", "decoy_budget": b, "passed": b < 4} for b in (0, 2, 4, 8)]
    found = run(*rows)
    levels = [(r.level, r.rate.passed, r.rate.scored) for r in found.levels if r.factor == "decoy_budget"]
    assert levels == [(0, 1, 1), (2, 1, 1), (4, 0, 1), (8, 0, 1)]
    trends = {trend.factor: trend.rho for trend in found.trends}
    # Mid-ranks 1 2 3 4 against 3.5 3.5 1.5 1.5: Σxy = -1.5-.5-.5-1.5 = -4; √(5·4) → ρ = -4/√20.
    assert value(trends["decoy_budget"]) == pytest.approx(-4 / 20**0.5)
    assert isinstance(trends["hidden_slots"], Undefined), "all tasks hide one slot"


def test_failing_tools_are_paired_by_task_and_trial() -> None:
    # Without failures 1110, with p = .5 100x: the pairs t1..t3 differ by 0, -1, -1; mean -2/3.
    found = run(
        *verdicts("a", "1110"), *verdicts("a", "100x", failure_rate=0.5), *verdicts("b", "11", failure_rate=0.5)
    )
    assert found.failure_rates == (0.0, 0.5)
    first, second, other = found.failures
    assert (first.failure_rate, second.failure_rate, second.rate.passed, second.rate.scored) == (0.0, 0.5, 1, 3)
    assert isinstance(first.difference, Undefined)
    assert isinstance(second.difference, Estimate) and second.difference.value == pytest.approx(-2 / 3)
    assert (second.difference.n, second.difference.of) == (3, 4)
    assert isinstance(other.difference, Undefined) and "no episodes without failures" in other.difference.reason
    assert [(r.agent, r.final.scored) for r in found.board] == [("a", 4), ("b", 0)], "the board is about p = 0"
    assert found.board[1].run == 2


def test_equal_gaps_have_no_interval() -> None:
    found = run(*verdicts("a", "11"), *verdicts("a", "00", failure_rate=0.3))
    gap = found.failures[1].difference
    assert isinstance(gap, Estimate) and (gap.value, gap.low, gap.n) == (-1.0, None, 2)


def test_pairs_inside_families_and_neighbours() -> None:
    # Ranks: x 8/8, x+noise 5/8, y 3/8, x+worse 1/8. Families x: three pairs; neighbours: three, one of them in x.
    rows = [("x", "1" * 8), ("x+noise", "11111000"), ("y", "11100000"), ("x+worse", "00000001")]
    found = run(*(row for name, text in rows for row in verdicts(name, text)))
    pairs = {(p.first, p.second): p for p in found.pairs}
    assert [(key, p.family, p.adjacent) for key, p in pairs.items()] == [
        (("x", "x+noise"), "x", True),
        (("x", "x+worse"), "x", False),
        (("x+noise", "y"), "", True),
        (("x+noise", "x+worse"), "x", False),
        (("y", "x+worse"), "", True),
    ]
    # x against x+worse: b = 7, c = 0: p = 2/2^7 = 1/64; the smallest of five: 5/64 after Holm.
    worst = pairs["x", "x+worse"]
    assert (worst.test, worst.p, worst.adjusted_p, worst.significant) == ("mcnemar", 1 / 64, 5 / 64, False)
    assert value(worst.difference) == 7 / 8 and worst.n == worst.of == 8
    # x against x+noise: b = 3, c = 0: p = 2/8. Detectable: the models differ on 3 of 8: 2.8·√(3/8/8).
    assert pairs["x", "x+noise"].p == 0.25
    assert value(pairs["x", "x+noise"].detectable) == pytest.approx(2.8 * (3 / 64) ** 0.5)


def test_pairs_that_cannot_be_tested_say_why_and_repeat_trials_are_resampled() -> None:
    found = run(*verdicts("a", "11"), *verdicts("b", "11"))
    (pair,) = found.pairs
    assert pair.p is None and pair.significant is None and "every scored run passes" in pair.reason
    assert isinstance(pair.difference, Estimate) and (pair.difference.value, pair.difference.low) == (0.0, None)
    rows = [row | {"trial": t} for t in (0, 1) for row in (*verdicts("a", "1" * 10), *verdicts("b", "0" * 9 + "1"))]
    (pair,) = run(*rows).pairs
    assert pair.test == "bootstrap" and pair.significant is True and value(pair.difference) == pytest.approx(0.9)


def test_pairs_use_common_tasks_only() -> None:
    (pair,) = run(*verdicts("a", "1100x"), *verdicts("b", "1000")).pairs
    assert (pair.n, pair.of) == (4, 5) and value(pair.difference) == 0.25


def test_families_of_the_user() -> None:
    found = run(*verdicts("a", "10"), *verdicts("b", "11"), *verdicts("c", "00"), families={"b": "f", "c": "f"})
    assert {(p.first, p.second): p.family for p in found.pairs}["b", "c"] == "f"


def usage(found: EvaluationAnalysis, measure: str) -> Usage:
    return next(row for row in found.usage if row.measure == measure)


def test_an_unknown_cost_is_not_zero() -> None:
    found = run({"turns": 3}, {"task_id": "t2", "turns": 5})
    assert usage(found, "cost").total is None and usage(found, "cost").known == 0 and found.totals.cost is None
    assert (usage(found, "turns").total, usage(found, "turns").mean) == (8, 4)
    priced = run({"cost": 0.0}, {"task_id": "t2"}, {"task_id": "t3", "attempt": 0, "cost": 1.5, "passed": False})
    row = usage(priced, "cost")
    assert (row.total, row.known, row.attempts, priced.totals.cost, priced.totals.priced) == (1.5, 2, 3, 1.5, 2)


def test_broken_attempts_cost() -> None:
    found = run({"cost": 1.0, "status": "infrastructure_error", "passed": None}, {"attempt": 1, "cost": 2.0})
    assert found.totals.cost == 3.0


def test_no_agents_one_agent_and_nulls_everywhere() -> None:
    nothing = analyse(episodes(), About(), declared=ACE)
    assert nothing.board == () and nothing.sentence.startswith("No agent was evaluated")
    alone = run({})
    assert alone.pairs == () and isinstance(alone.detectable, Undefined) and alone.board[0].rank == 1
    empty = dict.fromkeys(("domain", "hidden_slots", "decoy_budget", "failure_rate", "ending", "passed", "status"))
    found = run(empty)
    assert found.board[0].rank is None and "the leaderboard is empty" in found.sentence
    assert found.board[0].final.episodes == 1 and found.horizon == () and found.domains == ()


def test_the_order_of_rows_does_not_matter() -> None:
    frame = grid()
    mixed = frame.sample(frac=1.0, random_state=5)
    assert analyse(frame, About(), declared=ACE) == analyse(mixed, About(), declared=ACE)


def test_many_episodes_are_counted_whole() -> None:
    frame = pd.concat([grid().assign(trial=lambda f, i=i: f["trial"] + 2 * i) for i in range(100)], ignore_index=True)
    found = analyse(frame, About(resamples=100), declared=ACE)
    assert found.totals.episodes == len(frame) == 14_400
    assert sum(row.final.episodes for row in found.board) == 7_200
