"""Which runs are compared."""

import pytest

from agenthard.audit.statistics import Undefined
from agenthard.reports.cleaning.inputs import AnalysisError, CleaningInput
from agenthard.reports.cleaning.runs import ChosenRuns, choose_runs, require_comparable
from tests.reports.cleaning.small import made, runs


def choose(found: CleaningInput, wanted: str | None = None, min_verdicts: float = 0.0) -> ChosenRuns:
    chosen = choose_runs(found.experiments, found.categories, wanted, clustered=False, min_verdicts=min_verdicts)
    assert isinstance(chosen, ChosenRuns)
    return chosen


def test_only_models_that_attempted_every_task_are_compared_and_the_others_are_listed() -> None:
    found = made("kkkk", runs({"half": "11  ", "all": "10x0", "best": "1110"}), categories="aabb")
    chosen = choose(found)
    assert chosen.used.comparable == ("all", "best")
    assert chosen.used.models[2].reason == "attempted 2 of 4 tasks (a 2/2, b 0/2)"
    # A run with an infrastructure error is an attempt without a verdict.
    assert [(m.model, m.attempted, m.scored, m.errors) for m in chosen.used.models][0] == ("all", 4, 3, 1)


def test_rows_are_ordered_by_score_on_complete_tasks_and_both_readings_share_the_order() -> None:
    # Complete tasks are t0, t1, t3: b passes 3, a passes 2. As failures: t2 fails for a.
    chosen = choose(made("kkkk", runs({"a": "11x0", "b": "1111"})))
    assert chosen.missing.models == chosen.failures.models == ("b", "a")
    assert chosen.missing.coverage == (7, 8)
    assert chosen.failures.coverage == (8, 8)
    assert chosen.has_errors


def test_a_model_with_too_few_verdicts_would_cost_all_others_their_tasks() -> None:
    found = made("kkkk", runs({"broken": "1xxx", "a": "1100", "b": "1010"}))
    assert len(choose(found).missing.complete_tasks().tasks) == 1
    chosen = choose(found, min_verdicts=0.8)
    assert chosen.used.comparable == ("a", "b")
    assert "verdict on 1 of 4 tasks only" in chosen.used.models[2].reason
    assert "broken" in chosen.used.sentence
    assert not chosen.has_errors


def test_the_experiment_with_most_comparable_models_is_the_default_and_experiments_are_never_mixed() -> None:
    found = made(
        "kkk",
        [
            *runs({"a": "110", "b": "100", "c": "000"}, "paper"),
            *runs({"a": "111", "d": "1  ", "e": "1  ", "f": "1  "}, "others"),
        ],
    )
    chosen = choose(found)
    assert chosen.used.experiment == "paper"
    assert "most comparable models; 1 other experiment not mixed in" in chosen.used.sentence
    sizes = [(e.name, e.models, e.complete_models) for e in chosen.used.experiments]
    assert sizes == [("others", 4, 1), ("paper", 3, 3)]
    assert choose(found, "others").used.comparable == ("a",)
    with pytest.raises(AnalysisError, match="no experiment 'paprr' among the runs; there are: others, paper"):
        choose(found, "paprr")


def test_runs_with_one_trial_number_count_as_further_trials() -> None:
    found = made("kk", [*runs({"a": "10"}), *runs({"a": "11"})])
    matrix = choose(found).missing
    assert matrix.runs.tolist() == [[2, 2]]
    assert matrix.passed.tolist() == [[2, 1]]


def test_without_runs_and_without_a_comparable_model_there_is_a_reason() -> None:
    empty = made("kk")
    chosen = choose_runs(empty.experiments, empty.categories, None, clustered=False, min_verdicts=0.8)
    assert isinstance(chosen, Undefined) and "no runs" in chosen.reason
    partial = made("kkkk", runs({"m": "11  ", "n": "1   "}), categories="aabb")
    reason = require_comparable(choose(partial), partial.experiments, partial.categories)
    assert isinstance(reason, Undefined)
    assert "m attempted 2 of 4 tasks (a 2/2, b 0/2), and no other did more" in reason.reason
    assert "1 model attempted all of a, which can be audited alone (--domain a)" in reason.reason
