import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from scipy.special import expit

from agenthard.audit.decisions.difficulty import DifficultyRule, cross_fitted, select_hard

MODELS = [f"m{i}" for i in range(16)]


def outcomes(**passed: int) -> dict[str, dict[str, float]]:
    """Each task is passed by its first k models."""
    return {task: {m: float(i < k) for i, m in enumerate(MODELS)} for task, k in passed.items()}


def test_nearly_all_means_more_than_fourteen_of_sixteen() -> None:
    scores = outcomes(a=16, b=15, c=14, d=1, e=0)
    judged = select_hard(dict.fromkeys("abcde", "x"), scores, MODELS, DifficultyRule())
    assert [(t.task_id, t.verdict) for t in judged] == [
        ("a", "easy"), ("b", "easy"), ("c", "hard"), ("d", "hard"), ("e", "all_fail"),
    ]  # fmt: skip
    assert judged[2].solved == 14 / 16


def test_a_tenth_of_each_category_stays_hardest_first() -> None:
    tasks = {f"t{i}": "easy ones" for i in range(20)} | {"u": "other"}
    scores = outcomes(**{f"t{i}": 16 for i in range(20)}, u=3)
    scores |= outcomes(t7=15)
    judged = {t.task_id: t.verdict for t in select_hard(tasks, scores, MODELS, DifficultyRule())}
    # 20 tasks: ceil(0.1 * 20) = 2 stay: the hardest (t7), then the first in order (t0)
    assert [task for task, verdict in judged.items() if verdict == "kept_for_category"] == ["t0", "t7"]
    assert judged["u"] == "hard"


def test_few_outcomes_are_unknown_and_missing_cells_do_not_count_as_failures() -> None:
    scores = {"a": {m: 1.0 for m in MODELS[:4]}, "b": {m: 1.0 for m in MODELS[:5]}}
    a, b, c = select_hard(dict.fromkeys("abc", "x"), scores, MODELS, DifficultyRule(min_category_share=0))
    assert (a.verdict, a.models, a.solved) == ("unknown", 4, None)
    assert (b.verdict, b.models, b.solved) == ("easy", 5, 1.0)
    assert (c.verdict, c.models) == ("unknown", 0)


def test_a_model_never_selects_the_tasks_it_is_reported_on() -> None:
    tasks = dict.fromkeys("ab", "x")
    scores = {"a": dict.fromkeys(MODELS, 1.0) | {"m0": 0.0}, "b": dict.fromkeys(MODELS, 0.0) | {"m1": 1.0}}
    rule = DifficultyRule(threshold=0.94, min_category_share=0)
    chosen = cross_fitted(tasks, scores, MODELS, rule)
    # 15/16 = .9375 is hard for all; without m0 it is 15/15, easy. Without m1, task b is all-fail.
    assert chosen["m0"] == ("b",)
    assert chosen["m1"] == ("a",)
    flipped = {task: {**row, "m0": 1 - row["m0"]} for task, row in scores.items()}
    assert cross_fitted(tasks, flipped, MODELS, rule)["m0"] == chosen["m0"]


@given(st.lists(st.integers(0, 16), min_size=1, max_size=30), st.floats(0, 1))
def test_the_safeguard_holds_whenever_enough_tasks_are_easy_or_hard(passed: list[int], share: float) -> None:
    tasks = {f"t{i}": "x" for i in range(len(passed))}
    scores = outcomes(**{f"t{i}": k for i, k in enumerate(passed)})
    judged = select_hard(tasks, scores, MODELS, DifficultyRule(min_category_share=share))
    selected = sum(t.selected for t in judged)
    available = sum(k > 0 for k in passed)
    assert selected >= min(available, share * len(passed) - 1e-9)


def test_parameters_are_shares() -> None:
    with pytest.raises(ValidationError):
        DifficultyRule(threshold=14)


def ladder(seed: int = 0, tasks: int = 60) -> dict[str, dict[str, float]]:
    """Tasks at rising difficulty, on which better models pass; the last ten are coin tosses."""
    rng = np.random.default_rng(seed)
    ability, hardness = np.linspace(-2, 2, len(MODELS)), np.linspace(-2, 2, tasks)
    p = expit(2 * (ability[:, None] - hardness))
    p[:, -10:] = 0.5
    passed = rng.random(p.shape) < p
    return {f"t{j}": {m: float(passed[i, j]) for i, m in enumerate(MODELS)} for j in range(tasks)}


def test_by_information_the_tasks_stay_that_tell_most_about_a_range() -> None:
    scores = ladder()
    tasks = dict.fromkeys(scores, "x")

    def chosen(low: float, high: float) -> list[int]:
        rule = DifficultyRule(by="information", abilities=(low, high), keep=0.25)
        judged = select_hard(tasks, scores, MODELS, rule)
        assert {task.verdict for task in judged} <= {"hard", "less_informative", "all_fail"}
        least = min(task.information or 0 for task in judged if task.selected)
        assert all((task.information or 0) <= least for task in judged if not task.selected)
        return [int(task.task_id[1:]) for task in judged if task.selected]

    weak, strong = chosen(0, 0.3), chosen(0.7, 1)
    assert len(weak) == len(strong) == 15
    assert np.mean(weak) + 8 < np.mean(strong), "harder tasks tell more about better models"
    assert sum(i >= 50 for i in weak) <= 3, "coin tosses tell little"


def test_by_information_as_many_tasks_stay_as_by_share() -> None:
    scores = ladder(1)
    tasks = dict.fromkeys(scores, "x")
    by_share, by_information = (
        select_hard(tasks, scores, MODELS, DifficultyRule(by=by, threshold=0.6)) for by in ("share", "information")
    )
    assert sum(t.selected for t in by_share) == sum(t.selected for t in by_information)
    assert [t.solved for t in by_share] == [t.solved for t in by_information]


def test_by_information_categories_keep_their_most_informative_tasks() -> None:
    scores = ladder(2)
    tasks = {task: "easy" if int(task[1:]) < 20 else "other" for task in scores}
    rule = DifficultyRule(by="information", abilities=(0.8, 1), keep=0.1, min_category_share=0.2)
    judged = [task for task in select_hard(tasks, scores, MODELS, rule) if tasks[task.task_id] == "easy"]
    kept = [task.information or 0 for task in judged if task.selected]
    assert len(kept) >= 4 and min(kept) >= max(task.information or 0 for task in judged if not task.selected)


def test_models_without_differences_select_nothing_by_information() -> None:
    scores = {f"t{i}": {m: float((i + j) % 2) for j, m in enumerate(MODELS)} for i in range(10)}
    rule = DifficultyRule(by="information", min_category_share=0)
    assert not any(task.selected for task in select_hard(dict.fromkeys(scores, "x"), scores, MODELS, rule))


@pytest.mark.parametrize("ends", [(0.5, 0.5), (0.9, 0.1), (-0.1, 1), (0, 1.1)])
def test_a_range_of_abilities_rises_within_the_models(ends: tuple[float, float]) -> None:
    with pytest.raises(ValidationError, match="two rising shares"):
        DifficultyRule(abilities=ends)
