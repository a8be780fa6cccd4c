from typing import Any

import pytest

from agenthard.audit.sources.agencybench.figures import figures, gather, pass_at, s_avg
from agenthard.audit.sources.base import FigureTable
from agenthard.taxonomy import Judgement, Message, Trajectory
from tests.builders import make_run

WORK = (Message(role="assistant", content="Here is the page."),)
NO_WORK = (Message(role="assistant", content="Task completed"),)


def attempt(task_id: str, trial: int, score: float, **changes: Any) -> Trajectory:
    values: dict[str, Any] = {"protocol": "r", "messages": WORK, "score": score, **changes}
    return make_run(task_id, trial=trial, **values)


RUNS = [
    # A/scenario1: task 1 goes from 5 to 7; task 2 has 6 at once. After one attempt 55, at the end 65.
    attempt("A/scenario1/subtask1", 1, 7.0),
    attempt("A/scenario1/subtask1", 0, 5.0),
    attempt(
        "A/scenario1/subtask2",
        0,
        6.0,
        judgements=tuple(Judgement(judge="j", kind="text", score=score) for score in (4.0, 8.0)),
    ),
    # B/scenario1: one task, from 8 to a dead 2. After one attempt 80, at the end 20, at best 80.
    attempt("B/scenario1/subtask1", 0, 8.0),
    attempt("B/scenario1/subtask1", 1, 2.0, messages=NO_WORK),
    # B/scenario2: nothing could be scored.
    attempt("B/scenario2/subtask1", 0, 4.0, passed=None),
]


@pytest.fixture(scope="module")
def tables() -> dict[str, FigureTable]:
    return {table.title: table for table in figures(RUNS)}


def test_scores_in_each_reading(tables: dict[str, FigureTable]) -> None:
    # All, last: (65 + 20 + 40) / 3; best: (65 + 80 + 40) / 3; valid: (65 + 80) / 2 on three of four tasks.
    assert tables["Scores of the run r"].rows == (
        ("A", "1", "2", "65.0", "65.0", "65.0", "2 of 2"),
        ("B", "2", "2", "30.0", "60.0", "80.0", "1 of 2"),
        ("all", "3", "4", "41.7", "61.7", "72.5", "3 of 4"),
    )


def test_measures(tables: dict[str, FigureTable]) -> None:
    # Att: (3/2 + 2 + 1) / 3; by task after one attempt: scenario shares 1/2, 1, 0.
    assert dict(tables["Measures of the run r"].rows) == {
        "S_avg, last attempt": "41.7",
        "Att, mean over scenarios": "1.500",
        "Att, all attempts by all tasks": "1.500 (6 by 4)",
        "Pass@1 by scenario, last attempt": "1/3 (33.3%)",
        "Pass@2 by scenario, last attempt": "1/3 (33.3%)",
        "Pass@2 by scenario, best attempt": "2/3 (66.7%)",
        "Pass@1 by task, mean over scenarios (equation 2)": "50.0%",
        "Pass@1 by task, all tasks": "2/4 (50.0%)",
        "Pass@1 by task that every judge passes, all tasks": "1/4 (25.0%)",
        "Pass@2 by task, mean over scenarios (equation 2)": "66.7%",
        "Pass@2 by task, all tasks": "3/4 (75.0%)",
        "Pass@2 by task that every judge passes, all tasks": "2/4 (50.0%)",
    }


def test_where_nothing_was_done(tables: dict[str, FigureTable]) -> None:
    assert tables["Attempts without work of the run r"].rows == (
        ("A", "3", "0", "0%", "0", "0", "0", "0", "0", "0", "0", "0 of 2"),
        ("B", "3", "1", "33%", "0", "1", "0", "0", "0", "1", "0", "0 of 2"),
        ("all", "6", "1", "17%", "0", "1", "0", "0", "0", "1", "0", "0 of 4"),
        ("B/scenario1", "2", "1", "50%", "0", "1", "0", "0", "0", "0", "0", "0 of 1"),
    )


def test_a_score_of_exactly_sixty_passes_whatever_the_rounding() -> None:
    thirds = [attempt("A/scenario1/subtask1", 0, 6.1), attempt("A/scenario1/subtask2", 0, 5.9)]
    (scenarios,) = gather(thirds).values()
    assert pass_at(scenarios, 1) == 1
    assert s_avg(scenarios, lambda scenario: scenario.last()) == pytest.approx(60)


def test_no_runs_no_figures() -> None:
    assert figures([]) == ()
    assert figures([make_run(score=None)]) == ()
