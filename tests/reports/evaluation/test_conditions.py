"""One factor, measures that may be undefined, conditions beside the reference, and published rates."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from agenthard.ace.declared import ACE
from agenthard.audit.statistics import Estimate, Undefined
from agenthard.escape.declared import ESCAPE
from agenthard.escape.paper import FEWEST_CALLS
from agenthard.reports.evaluation import About, EvaluationAnalysis, analyse, read_published, write_evaluation
from agenthard.reports.figures.evaluation import figures
from tests.reports.evaluation.frames import grid
from tests.reports.evaluation.test_published import written
from tests.reports.figures.reading import texts

ABOUT = About(resamples=100)


def rooms(**more: Any) -> pd.DataFrame:
    """Two agents on three rooms of 5 and of 10 parts; only those of 10 hide anything, and only `good` gets out."""
    counts = dict.fromkeys(ESCAPE.counts, 0)
    return pd.DataFrame(
        {
            **{**counts, "agent": agent, "task_id": f"r{nodes}_{i}", "trial": 0, "attempt": 0, "status": "ok"},
            **{"passed": agent == "good", "nodes": nodes, "hidden": nodes // 10, "min_calls": 10, "min_turns": 4},
            **{"parts": nodes, "resolved": nodes if agent == "good" else 1 + i, "calls": 12, "turns": 6},
            **{"hidden_parts": nodes // 10, "hidden_seen": int(nodes == 10 and agent == "good")},
            **more,
        }
        for agent in ("good", "bad")
        for nodes in (5, 10)
        for i in range(3)
    )


def point(found: EvaluationAnalysis, measure: str, agent: str, nodes: int) -> Any:
    return next(p.mean for p in found.measures if (p.measure, p.agent, p.levels["nodes"]) == (measure, agent, nodes))


def test_one_factor_makes_lines_and_each_measure_a_panel(tmp_path: Path) -> None:
    found = analyse(rooms(), ABOUT, declared=ESCAPE)
    drawn = figures(found)
    assert drawn["cells"].columns[3] == "nodes" and drawn["cells"].svg is not None
    assert {"Sub: parts resolved", "Disc: hidden parts seen"} <= set(texts(drawn["measures"]))
    assert drawn["conditions"].svg is None and drawn["slices"].svg is None
    write_evaluation(found, tmp_path)
    assert "Disc: hidden parts seen" in (tmp_path / "evaluation.html").read_text()


def test_a_measure_without_a_denominator_says_why_and_counts_nobody() -> None:
    found = analyse(rooms(), ABOUT, declared=ESCAPE)
    nothing = point(found, "discovery", "good", 5)
    assert isinstance(nothing, Undefined) and nothing.reason == "undefined because the room hides nothing"
    assert isinstance(point(found, "effort", "bad", 5), Undefined), "only solved rooms have an effort"
    sub = point(found, "subgoals", "bad", 10)
    assert isinstance(sub, Estimate) and sub.value == pytest.approx(0.2) and (sub.n, sub.of) == (3, 3)


def test_every_condition_has_its_maps_and_slices() -> None:
    found = analyse(grid(), ABOUT, declared=ACE)
    assert [each.condition for each in found.conditions] == ["p = 0.5"]
    strong = found.conditions[0].heat_maps[0].cells[0]
    # 9 - 1 - 0 - 2 - trial > 0 in both domains and trials.
    assert (strong.levels, strong.passed, strong.scored) == ({"hidden_slots": 1, "decoy_budget": 0}, 4, 4)
    at = ("", "strong", False, "decoy_budget", "hidden_slots", 5)
    held = [row for row in figures(found)["slices"].rows if row[:6] == at]
    assert [row[6] for row in held] == [0, 2, 4], "H is held at 5 while B rises"


def test_axes_that_differ_are_conditions_and_never_mix_into_the_reference() -> None:
    both = pd.concat([rooms(feedback="none", passed=False), rooms(feedback="per_param")])
    found = analyse(both, ABOUT, declared=ESCAPE)
    assert [each.condition for each in found.conditions] == ["feedback = none"]
    assert found.totals.episodes == 24 and found.board[0].final.passed == 6, "the reference is what is declared first"
    assert sum(cell.passed for cell in found.conditions[0].heat_maps[0].cells) == 0


def test_numbers_of_an_axis_are_ordered_by_size_after_the_declared_ones() -> None:
    every = pd.concat([rooms(turns_allowed=turns) for turns in ("100", "0", "20")])
    found = analyse(every, ABOUT, declared=ESCAPE)
    assert [each.condition for each in found.conditions] == ["turns = 20", "turns = 100"]


def test_a_published_rate_that_is_no_count_is_named_and_its_measures_stay(tmp_path: Path) -> None:
    text = "model,nodes,n,success_percent,calls\nhuman,5,60,98.3,\nopus,20,60,71.0,101.2\nopus,20,60,70.0,\n"
    found = read_published(written(tmp_path, "rates.csv", text), ESCAPE)
    assert [(m.model, m.passed, m.n) for m in found.models] == [("human", 59, 60), ("opus", 0, 0)]
    assert found.models[1].measures[0].value == 101.2
    assert found.problems[0] == (
        "line 3: opus, n = 20: a rate of 71.0 %: no k of 60 gives it (the nearest give 70.0 and 71.7); not counted"
    )
    assert "twice" in found.problems[1]


def test_the_published_numbers_that_come_with_the_benchmark_are_checked() -> None:
    (found,) = (read_published(path, ESCAPE) for path in ESCAPE.published)
    assert [(m.passed, m.n) for m in found.models if m.model == "Human"] == [(59, 60)]
    [wrong] = [problem for problem in found.problems if "inferred" not in problem]
    assert "71.0 %" in wrong
    opus = next(m for m in found.models if m.model == "Claude Opus")
    assert not opus.cells and {m.measure for m in opus.measures} == {"subgoals", "discovery", "calls"}
    fewest = next(m for m in found.models if m.model == "Rooms of the paper").measures
    assert {m.levels["nodes"]: m.value for m in fewest} == FEWEST_CALLS
