"""The measures on made-up runs, computed by hand, and on the released run; which of the printed numbers follow."""

from pathlib import Path
from typing import Any

import pytest

from agenthard.agency.metrics import Measures, measures
from agenthard.agency.paper import checks_against, checks_within, published_rows
from agenthard.audit.sources.agencybench import AgencyBench
from agenthard.audit.sources.base import Quarantine
from agenthard.taxonomy import Message, Trajectory
from tests.builders import make_run


def attempt(task_id: str, trial: int, score: float, **changes: Any) -> Trajectory:
    work = (Message(role="assistant", content="Here is the page."),)
    return make_run(task_id, trial=trial, **{"protocol": "r", "messages": work, "score": score, **changes})


TOKENS = {"prompt_tokens": 300_000.0, "completion_tokens": 100_000.0}
RUNS = [
    attempt("A/scenario1/subtask1", 0, 5.0, usage=TOKENS),
    attempt("A/scenario1/subtask1", 1, 7.0),
    attempt("A/scenario1/subtask2", 0, 6.0, usage=TOKENS),
    attempt("A/scenario1/subtask3", 0, 2.0),
    attempt("A/scenario1/subtask3", 1, 5.0),
    attempt("A/scenario2/subtask1", 0, 9.0),
    attempt("B/scenario1/subtask1", 0, 3.0),
    attempt("B/scenario1/subtask1", 1, 1.0, messages=(Message(role="assistant", content="Task completed"),)),
    attempt("B/scenario1/subtask2", 0, 4.0),
]


def one(**options: Any) -> Measures:
    return measures(RUNS, **options)["r"]


def test_three_weights_of_the_mean() -> None:
    # A/1: 70, 60, 50 -> 60; A/2: 90; B/1: 10, 40 -> 25
    assert one().s_avg == pytest.approx((60 + 90 + 25) / 3)
    assert one(weight="task").s_avg == pytest.approx((70 + 60 + 50 + 90 + 10 + 40) / 6)
    assert one(weight="capability").s_avg == pytest.approx((75 + 25) / 2)
    assert one(final="best").s_avg == pytest.approx((60 + 90 + 35) / 3)


def test_attempts_passes_and_efficiency() -> None:
    found = one()
    assert (found.scenarios, found.tasks, found.attempts) == (3, 6, 9)
    assert found.att == pytest.approx((5 / 3 + 1 + 3 / 2) / 3) and found.att_pooled == 1.5
    # After one attempt A/1 has 43.3; after two 60.
    assert found.pass_scenario == pytest.approx((1 / 3, 2 / 3)) and found.rise == pytest.approx(1.0)
    assert found.pass_task == pytest.approx(((1 / 3 + 1 + 0) / 3, (2 / 3 + 1 + 0) / 3))
    assert found.e_att == pytest.approx(found.s_avg / found.att)
    assert found.tokens == pytest.approx(800_000 / 3) and found.e_tok == pytest.approx(found.s_avg / (0.8 / 3))
    assert measures([attempt("A/scenario1/subtask1", 0, 5.0)])["r"].e_tok is None


def test_failures_count_and_are_also_left_out() -> None:
    found = one()
    assert found.failure_rate == pytest.approx(1 / 9)
    assert found.s_avg_valid == pytest.approx((60 + 90 + 35) / 3) and found.valid_tasks == 6


def test_place_in_the_chain_shows_what_a_broken_start_does() -> None:
    first, second, third = one().positions
    assert (first.tasks, first.after_failure, first.score_after_failure) == (3, 0, None)
    assert (second.tasks, second.score, second.after_failure, second.score_after_failure) == (2, 50.0, 1, 40.0)
    assert (third.number, third.after_failure) == (3, 0)


def test_intervals_resample_scenarios() -> None:
    found = one()
    assert found.interval is not None and found.interval == one().interval
    low, high = found.interval
    assert low == 25 and high == 90  # three scenarios: a resample may hold one of them three times
    assert one(weight="capability").interval is None
    task = one(weight="task").interval
    assert task is not None and task[0] == 25 and task[1] == 90
    only = measures([attempt("A/scenario1/subtask1", 0, 5.0)])["r"]
    assert only.interval == (50.0, 50.0) and only.rise is None


@pytest.fixture(scope="module")
def released(corpora: Path) -> Measures:
    source = AgencyBench(corpora / "agencybench")
    return measures(source.runs(source.root, Quarantine()))["claude"]


@pytest.mark.corpora
def test_the_released_run_has_the_published_passes(released: Measures) -> None:
    assert (released.scenarios, released.tasks, released.attempts) == (32, 138, 214)
    assert released.pass_scenario[:2] == (5 / 32, 9 / 32) and released.rise == pytest.approx(0.8)
    assert released.tokens is None and released.e_tok is None


@pytest.mark.corpora
def test_the_papers_numbers_that_hold_and_those_that_do_not(released: Measures) -> None:
    (row,) = published_rows()
    assert {check.name: check.holds for check in (*checks_within(row), *checks_against(row, released))} == {
        "Pass@1 is a share of 32 scenarios": True,
        "Pass@2 is a share of 32 scenarios": True,
        "S_avg is the mean of the capabilities, weighted by their scenarios": False,  # 47.1, printed 47.7
        "S_avg of the released run": False,  # 49.4: two of its judges differ from the paper's
        "Att of the released run": False,  # 1.525, printed 1.54
        "Pass@1 of the released run": True,
        "Pass@2 of the released run": True,
    }
    with pytest.raises(ValueError, match="has no Pass@2"):
        checks_against(row, measures([attempt("A/scenario1/subtask1", 0, 5.0)])["r"])
