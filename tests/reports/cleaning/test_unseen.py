"""What a hard split costs and gains on unseen models, and information by ability: simulated and real tables."""

from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit

from agenthard.audit.decisions.difficulty import DifficultyRule
from agenthard.audit.statistics import ScoreMatrix, Undefined, read_matrix
from agenthard.reports.cleaning.figure_data import SeparabilityCurve, separability_curve
from agenthard.reports.cleaning.information import InformationCurves, information_curves
from agenthard.reports.cleaning.inputs import AnalysisSettings
from agenthard.reports.cleaning.splits import Split, SplitName, describe_split
from agenthard.reports.cleaning.unseen import UnseenModels, judge_on_unseen

SETTINGS = AnalysisSettings(draws=200, resamples=100)


def simulated(models: int = 14, tasks: int = 160, easy: int = 0) -> ScoreMatrix:
    """Outcomes of models on tasks, of which the first are solved by nearly all."""
    rng = np.random.default_rng(2)
    hardness = rng.normal(0, 1, tasks)
    hardness[:easy] = -6
    values = rng.random((models, tasks)) < expit(1.5 * (rng.normal(0, 1, models)[:, None] - hardness))
    return ScoreMatrix.from_array(values.astype(int), [f"m{i}" for i in range(models)], [f"t{i}" for i in range(tasks)])


def judged(matrix: ScoreMatrix, settings: AnalysisSettings = SETTINGS) -> UnseenModels:
    found = judge_on_unseen(dict.fromkeys(matrix.tasks, "x"), matrix, None, settings)
    assert not isinstance(found, Undefined), found
    return found


def test_leaving_out_tasks_that_all_solve_gains_per_task_and_costs_nothing() -> None:
    found = judged(simulated(easy=80))
    row = found.rows[0]
    signal, pairs = row.figure("signal"), row.figure("significant")
    assert row.published and signal.verdict == "above" and pairs.chosen > pairs.random
    assert "more than chance gives, so each task counts for more" in row.sentence
    assert f"from {pairs.everything:.1f} % on all 160 issue-cleaned tasks to {pairs.chosen:.1f} %" in row.sentence
    assert (found.models, found.folds, found.repetitions) == (14, 2, 20)


def test_the_rule_of_the_report_comes_first_and_others_to_choose_from_follow() -> None:
    rule = DifficultyRule(by="information", abilities=(0.2, 0.9), keep=0.4)
    found = judged(simulated(), SETTINGS.model_copy(update={"difficulty": rule}))
    assert [row.published for row in found.rows] == [True] + [False] * (len(found.rows) - 1)
    assert found.rows[0].rule == rule and found.rows[0].most == 64
    assert {row.rule.by for row in found.rows[1:]} == {"share", "information"}
    assert found == judged(simulated(), SETTINGS.model_copy(update={"difficulty": rule})), "equal input, equal numbers"


def test_too_few_models_and_gaps_everywhere_have_a_reason() -> None:
    few = judge_on_unseen(dict.fromkeys(simulated(6).tasks, "x"), simulated(6), None, SETTINGS)
    assert isinstance(few, Undefined) and "6 models cannot be parted" in few.reason
    gaps = ScoreMatrix.from_array(np.array([[1, None], [None, 1]], dtype=object), ["a", "b"], ["t0", "t1"])
    none = judge_on_unseen(dict.fromkeys(gaps.tasks, "x"), gaps, None, SETTINGS)
    assert isinstance(none, Undefined) and "0 task(s)" in none.reason


def splits_of(matrix: ScoreMatrix, **tasks: tuple[str, ...]) -> list[Split]:
    names: dict[str, SplitName] = {"initial": "initial", "cleaned": "cleaned", "hard": "hard"}
    return [
        describe_split(names[name], ids, review=0, initial=len(matrix.tasks), matrix=matrix.keep(ids))
        for name, ids in tasks.items()
    ]


def test_information_of_a_split_is_the_sum_of_its_tasks() -> None:
    matrix = simulated()
    splits = splits_of(matrix, initial=matrix.tasks, cleaned=matrix.tasks[:100], hard=matrix.tasks[100:])
    found = information_curves(matrix, splits, DifficultyRule())
    assert isinstance(found, InformationCurves)
    whole, first, rest = (np.array(curve.values) for curve in found.curves)
    assert whole == pytest.approx(first + rest)
    assert found.curves[0].in_range == pytest.approx(found.curves[1].in_range + found.curves[2].in_range)
    assert found.low == pytest.approx(float(np.median(list(found.models.values()))))
    assert "of the information with 62.5 % of the tasks" in found.sentence


def test_every_split_is_judged_by_a_band_at_its_own_size() -> None:
    matrix = simulated()
    splits = splits_of(matrix, initial=matrix.tasks, cleaned=matrix.tasks[:151], hard=matrix.tasks[:7])
    parts = [(split, matrix.keep(split.task_ids)) for split in splits]
    curve = separability_curve(matrix, parts, None, SETTINGS)
    assert isinstance(curve, SeparabilityCurve)
    assert {mark.n for mark in curve.marks} <= {point.n for point in curve.points}


@pytest.mark.corpora
def test_on_tau_bench_a_hard_split_costs_pairs_and_shows_no_gain(corpora: Path) -> None:
    matrix = read_matrix(corpora / "trajectories" / "tau1_paper_reward_matrix.json")
    matrix = matrix.complete_models()
    half = SETTINGS.model_copy(update={"difficulty": DifficultyRule(threshold=0.5)})
    row = judged(matrix, half).rows[0]
    pairs, signal = row.figure("significant"), row.figure("signal")
    assert pairs.chosen < pairs.everything and signal.verdict == "within"
    assert "no more than chance gives, so no gain per task is shown" in row.sentence


@pytest.mark.corpora
@pytest.mark.long
def test_on_bfcl_hard_tasks_tell_more_each_and_less_in_total(corpora: Path) -> None:
    matrix = read_matrix(corpora / "bfcl_v1_results" / "bfcl_v1_results_2024-08-11.csv.gz").complete_models()
    rows = judged(matrix).rows
    assert all(row.figure("signal").verdict == "above" for row in rows)
    assert all(row.figure("significant").chosen < row.figure("significant").everything for row in rows)
    by_share, by_information = rows[:2]
    assert by_information.figure("signal").chosen > by_share.figure("signal").chosen
