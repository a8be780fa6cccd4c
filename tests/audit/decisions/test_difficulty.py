import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

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
