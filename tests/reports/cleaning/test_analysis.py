"""The whole analysis on small audits: with runs, without, and with what it must not do."""

import json
import math
from typing import Any

import pytest

from agenthard.audit.decisions.difficulty import DifficultyRule
from agenthard.audit.statistics import Undefined
from agenthard.reports.cleaning.analysis import analyse
from agenthard.reports.cleaning.difficulty import HardSelection
from agenthard.reports.cleaning.inputs import AnalysisError, AnalysisSettings, CleaningInput
from agenthard.reports.cleaning.record import CleaningAnalysis
from agenthard.reports.cleaning.runs import RunsUsed
from agenthard.taxonomy.finding import Severity, Tier
from tests.reports.cleaning.small import finding, made, runs

SETTINGS = AnalysisSettings(
    draws=200, resamples=100, seed=1, difficulty=DifficultyRule(threshold=0.7, min_models=3), min_verdicts=0.5
)
ROWS = {
    "a": "111111111101",
    "b": "11111111x010",
    "c": "111111000110",
    "d": "111100000100",
    "e": "110000000110",
    "half": "1111",
}


@pytest.fixture
def library() -> CleaningInput:
    findings = [
        finding(1, "t11"),
        finding(2, "t9", tier=Tier.SUSPECTED, severity=Severity.MAY_AFFECT_SCORE),
        finding(3, "t8", tier=Tier.SIGNAL),
    ]
    return made("kkkkkkkkkrkd", runs(ROWS), categories="xxxxxxyyyyyy", findings=findings)


def test_from_initial_over_cleaned_to_hard(library: CleaningInput) -> None:
    found = analyse(library, SETTINGS)
    assert [(split.name, split.n, split.review) for split in found.splits] == [
        ("initial", 12, 1),
        ("cleaned", 11, 1),
        ("hard", found.splits[2].n, found.splits[2].review),
    ]
    assert isinstance(found.runs, RunsUsed) and found.runs.comparable == ("a", "b", "c", "d", "e")
    assert [board.split for board in found.leaderboards] == ["initial", "cleaned", "hard"]
    assert [row.model for row in found.leaderboards[0].rows] == ["a", "b", "c", "d", "e"]
    ways = [(row.reading, row.before, row.after) for row in found.stability]
    assert ways == [
        (reading, *way)
        for reading in ("errors_missing", "errors_as_failures")
        for way in (("initial", "cleaned"), ("cleaned", "hard"), ("initial", "hard"))
    ]
    assert [stage.n for stage in found.stages] == [12, 11, None, None, found.splits[2].n]
    assert found.headline.sentence.startswith(
        "AgentHard checked 12 of 12 tasks of Library and flagged 2; the issue-cleaned split leaves out 1 and keeps 11, "
        "of which 1 wait for a person. From the initial split (11 scored of 12 tasks) to"
    )


def test_the_hard_split_comes_from_cleaned_tasks_and_scores_are_cross_fitted(library: CleaningInput) -> None:
    found = analyse(library, SETTINGS)
    hard, board = found.hard, found.leaderboards[2]
    assert isinstance(hard, HardSelection)
    assert [task.task_id for task in hard.tasks] == [f"t{i}" for i in range(11)]
    assert set(hard.selected) <= set(found.splits[1].task_ids)
    assert {row.model: row.of for row in board.rows} == hard.cross_fitted
    assert "the tasks that the other models select" in board.method
    # Without the one that is scored: a sees t6, t7 solved by b only (1 of 4), so they are hard for everybody but
    # selected for a by b, c, d and e.
    assert {"t6", "t7"} <= set(hard.selected)


def test_the_five_numbers_and_the_first_findings(library: CleaningInput) -> None:
    head = analyse(library, SETTINGS).headline
    assert (head.checked, head.tasks, head.flagged, head.new, head.undecided, head.cost) == (12, 12, 2, None, 1, None)
    assert [top.task_id for top in head.top] == ["t11", "t9"]
    known = made("kkkkkkkkkrkd", findings=library.findings, known=frozenset({finding(1, "t11").id}))
    later = analyse(known, SETTINGS).headline
    assert later.new == 1
    assert [top.task_id for top in later.top] == ["t9", "t11"]


def test_without_runs_everything_about_models_has_a_reason_and_the_rest_is_there() -> None:
    found = analyse(made("kkkrd", categories="xxyyy"), SETTINGS)
    for part in (found.runs, found.hard, found.undecided, found.separability_curve, found.items):
        assert isinstance(part, Undefined) and "no runs of models were given" in part.reason
    assert found.leaderboards == found.stability == found.agreement == ()
    assert [split.name for split in found.splits] == ["initial", "cleaned"]
    assert [stage.n for stage in found.stages] == [5, 4, None, None, None]
    assert [(row.category, row.kept) for row in found.retention[0].rows] == [("x", 2), ("y", 2)]
    assert "undefined because no runs" in found.headline.sentence


def test_without_a_comparable_model_the_coverage_is_still_listed() -> None:
    found = analyse(made("kkk", runs({"a": "11 ", "b": "1  "})), SETTINGS)
    assert isinstance(found.runs, RunsUsed) and found.runs.comparable == ()
    assert found.leaderboards == ()
    assert "a attempted 2 of 3 tasks" in found.headline.sentence


@pytest.mark.parametrize(
    ("rows", "decisions"),
    [
        ({"a": "1"}, "k"),
        ({"a": "1", "b": "0"}, "k"),
        ({"a": "1010"}, "kkkd"),
        ({"a": "1111", "b": "1111", "c": "1111"}, "kkdk"),
        ({"a": "0000", "b": "0000", "c": "0000"}, "kkdk"),
        ({m: "1010" for m in "abcdefg"}, "kkkd"),
        ({"a": "xxxx", "b": "1010"}, "kkkk"),
        ({"a": "1xx0", "b": "x10x"}, "kkkr"),
        ({"a": "1100", "b": "0011", "c": "1010", "d": "0101"}, "dddd"),
        ({"a": "1100", "b": "0011", "c": "1010", "d": "0101"}, "rrrr"),
        ({}, "kkkk"),
        ({}, "dddd"),
        ({}, ""),
    ],
)
def test_no_number_is_made_up(rows: dict[str, str], decisions: str) -> None:
    """One model, one task, all pass, all fail, equal models, nothing kept: reasons, never NaN."""
    settings = SETTINGS.model_copy(update={"min_verdicts": 0.0})
    found = analyse(made(decisions, runs(rows)), settings)
    for number in _numbers(found.model_dump(mode="python")):
        assert math.isfinite(number)
    text = json.dumps(found.model_dump(mode="json"), allow_nan=False)
    assert CleaningAnalysis.model_validate_json(text) == found


def test_equal_input_gives_equal_numbers_and_the_seed_matters(library: CleaningInput) -> None:
    first = analyse(library, SETTINGS)
    assert analyse(library, SETTINGS) == first
    other = analyse(library, SETTINGS.model_copy(update={"seed": 2}))
    assert other.stability != first.stability
    assert other.provenance.seed == 2


def test_an_unknown_experiment_is_refused(library: CleaningInput) -> None:
    with pytest.raises(AnalysisError, match="no experiment 'paper'"):
        analyse(library, SETTINGS, "paper")


def test_variants_of_one_base_task_are_one_cluster() -> None:
    clusters = {f"t{i}": f"c{i // 2}" for i in range(8)}
    rows = {"a": "11110000", "b": "11000011", "c": "00001111"}
    found = analyse(made("kkkkkkkd", runs(rows), clusters=clusters), SETTINGS)
    assert isinstance(found.runs, RunsUsed) and found.runs.clustered
    assert "variants of one base task" in found.leaderboards[0].method


def test_every_word_of_the_page_has_a_meaning(library: CleaningInput) -> None:
    terms = {term.term for term in analyse(library, SETTINGS).glossary}
    assert {"tied set", "null", "leads in resamples", "retention", "minimum detectable difference"} <= terms


def _numbers(value: Any) -> list[float]:
    if isinstance(value, float):
        return [value]
    if isinstance(value, dict):
        return [number for item in value.values() for number in _numbers(item)]
    return [number for item in value for number in _numbers(item)] if isinstance(value, list | tuple) else []
