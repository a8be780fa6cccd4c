"""Stored runs scored on splits: original, clean, hard and repaired."""

import pytest

from agenthard.audit.repair.rescoring import RescoredRun
from agenthard.audit.statistics import Estimate, Undefined
from agenthard.reports.cleaning.inputs import AnalysisError, AnalysisSettings, experiments_of
from agenthard.reports.cleaning.leaderboard import Board
from agenthard.reports.cleaning.splits import split_id
from agenthard.reports.cleaning.ties import shared_ranks
from agenthard.reports.leaderboard.boards import part_of, score_splits
from agenthard.reports.leaderboard.rescored import rescoring_of
from agenthard.reports.leaderboard.scored import RepairedRuns, ScoredSplit
from tests.reports.cleaning.small import made, runs

FEW = AnalysisSettings(draws=200, resamples=200)
ROWS = {"m1": "111110", "m2": "011100", "m3": "011001"}


def board(split: ScoredSplit) -> Board:
    assert isinstance(split.board, Board), split.board
    return split.board


def test_original_and_clean() -> None:
    found = score_splits("run", made("dkkkrk", runs(ROWS)), ("original", "clean"), FEW)
    original, clean = found.splits
    assert [(row.model, row.passed, row.tasks) for row in board(original).rows] == [
        ("m1", 5, 6),
        ("m2", 3, 6),
        ("m3", 3, 6),
    ]
    assert [(row.model, row.passed, row.tasks) for row in board(clean).rows] == [
        ("m1", 4, 5),
        ("m2", 3, 5),
        ("m3", 3, 5),
    ]
    assert board(clean).split_id == split_id([f"t{i}" for i in range(1, 6)]) != board(original).split_id
    assert (found.dropped, found.review, found.tasks) == (1, 1, 6)
    assert "of deleting as many random tasks" in found.stability


def test_equal_scores_share_a_place() -> None:
    [original] = score_splits("run", made("kkkkkk", runs(ROWS)), ("original",), FEW).splits
    assert shared_ranks(board(original)) == {"m1": "1", "m2": "2–3", "m3": "2–3"}
    m2, m3 = (row.rank_interval for row in board(original).rows[1:])
    assert isinstance(m2, Estimate) and isinstance(m3, Estimate)
    assert m2.high == m3.high == 3 and m2.low is not None and m2.low <= 2, "their ranges overlap"


def test_without_runs_every_split_says_why() -> None:
    found = score_splits("run", made("dkk"), ("original", "clean", "hard", "repaired"), FEW)
    assert all(isinstance(split.board, Undefined) for split in found.splits) and found.models == ()
    assert isinstance(found.splits[2].card, Undefined) and isinstance(found.splits[3].card, Undefined)
    assert "no repaired split was given" in found.splits[3].card.reason and found.stability == ""


def test_the_repaired_split_takes_the_verdicts_under_the_changed_ground_truth() -> None:
    recorded = runs(ROWS)
    again = [run.model_copy(update={"passed": True}) if run.task_id == "t0" else run for run in recorded]
    audit = made("dkkkrk", recorded)
    judged = [
        RescoredRun(run_id=f"{model}:t0:0", task_id="t0", before=model == "m1", after=True, evaluator="own code 1")
        for model in ROWS
    ]
    ids = [task.id for task in audit.tasks]
    split = RepairedRuns(tuple(ids), experiments_of(again, ids), rescoring_of(["t0"], judged))
    found = score_splits("run", audit, ("original", "clean", "repaired"), FEW, repaired=split)
    repaired = found.splits[2]
    assert [(row.model, row.passed, row.tasks) for row in board(repaired).rows] == [
        ("m1", 5, 6),
        ("m2", 4, 6),
        ("m3", 4, 6),
    ]
    assert repaired.rescoring is not None and (repaired.rescoring.now_pass, repaired.rescoring.now_fail) == (2, 0)
    assert "3 of 3 recorded runs were scored again by own code 1; 2 pass now, 0 fail now" in repaired.rescoring.sentence
    assert found.models[1].ranks.keys() == {"original", "clean", "repaired"}


def test_runs_that_were_not_judged_again_count_nowhere() -> None:
    recorded = runs(ROWS)
    lost = [
        run.model_copy(update={"passed": None, "status": "judge_error"}) if run.id == "m2:t0:0" else run
        for run in recorded
    ]
    audit = made("dkkkkk", recorded)
    ids = [task.id for task in audit.tasks]
    judged = [
        RescoredRun(run_id="m1:t0:0", task_id="t0", before=True, after=True, evaluator="own code 1"),
        RescoredRun(run_id="m2:t0:0", task_id="t0", before=False, after=None, reason="it broke"),
    ]
    split = RepairedRuns(tuple(ids), experiments_of(lost, ids), rescoring_of(["t0"], judged))
    [repaired] = score_splits("run", audit, ("repaired",), FEW, repaired=split).splits
    assert board(repaired).complete == 5 and {row.tasks for row in board(repaired).rows} == {5}
    assert repaired.rescoring is not None
    assert "not re-scored: 1 run of 1 task (it broke)" in repaired.rescoring.sentence


@pytest.mark.parametrize("marks", ["1 1", " 11"])
def test_a_model_that_did_not_run_every_task_is_not_ranked(marks: str) -> None:
    found = score_splits("run", made("kkk", runs({"m1": "110", "m2": "010", "half": marks})), ("original",), FEW)
    assert not isinstance(found.runs, Undefined)
    assert [model.model for model in found.runs.models if not model.comparable] == ["half"]
    assert [model.model for model in found.models] == ["m1", "m2"]


def test_models_that_ran_one_domain_are_ranked_on_it() -> None:
    audit = made("kkdk", runs({"m1": "1110", "half": "01  ", "other": "  11"}), categories="aabb")
    assert [row.model for row in score_splits("run", audit, ("original",), FEW).models] == ["m1"]
    part = score_splits("run", part_of(audit, ["a"]), ("original", "clean"), FEW, domains=["a"])
    assert [row.model for row in part.models] == ["m1", "half"] and part.tasks == 2
    assert part.dropped == 0 and part.anchor == "library-v1-a"
    assert not isinstance(part.runs, Undefined) and [model.model for model in part.runs.models] == ["half", "m1"]
    with pytest.raises(AnalysisError, match="has no domain 'c'; there are: a, b"):
        part_of(audit, ["c"])
