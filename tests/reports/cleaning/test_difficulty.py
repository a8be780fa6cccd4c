"""The hard split, and the split that each model is scored on."""

import numpy as np

from agenthard.audit.decisions.difficulty import DifficultyRule
from agenthard.audit.decisions.policy import Decision
from agenthard.audit.statistics import Estimate, ScoreMatrix, Undefined
from agenthard.reports.cleaning.difficulty import MOST_CELLS, HardSplit, item_map, select_hard_split
from agenthard.reports.cleaning.figure_data import (
    ItemMap,
)

RULE = DifficultyRule(threshold=0.6, min_category_share=0.1, min_models=2)


def split(rows: list[list[int | None]], rule: DifficultyRule = RULE, categories: str = "") -> HardSplit | Undefined:
    tasks = [f"t{i}" for i in range(len(rows[0]))]
    matrix = ScoreMatrix.from_array(rows, list("abcd")[: len(rows)], tasks)
    names = categories or "x" * len(tasks)
    return select_hard_split({task: names[i] for i, task in enumerate(tasks)}, matrix, rule)


def test_a_model_never_selects_the_tasks_it_is_scored_on() -> None:
    # t0: 2 of 3 solve it = .67 > .6: easy. t1: 1 of 3. t2: none: to review.
    found = split([[1, 0, 0], [1, 1, 0], [0, 0, 0]])
    assert isinstance(found, HardSplit)
    assert found.record.selected == ("t1",)
    assert [(task.task_id, task.verdict) for task in found.record.tasks] == [
        ("t0", "easy"),
        ("t1", "hard"),
        ("t2", "all_fail"),
    ]
    # Without a: t0 is solved by b only (1/2), t1 by b (1/2). Without b: t0 by a, t1 by no model (all fail).
    # Without c: t0 by both (easy), t1 by b.
    assert found.own_tasks == {"a": ("t0", "t1"), "b": ("t0",), "c": ("t1",)}
    assert found.record.cross_fitted == {"a": 2, "b": 1, "c": 1}
    assert "the tasks that the other 2 models select (1 to 2 tasks)" in found.record.sentence


def test_counts_add_up_to_the_cleaned_tasks() -> None:
    found = split([[1, 0, 0, None], [1, 1, 0, None], [0, 0, 0, 1]])
    assert isinstance(found, HardSplit)
    record = found.record
    assert (record.hard, record.kept_for_category, record.easy, record.all_fail, record.unknown) == (1, 0, 1, 1, 1)
    assert "1 have outcomes of fewer than 2 models" in record.sentence


def test_each_category_keeps_its_least_share() -> None:
    found = split([[1, 1, 0], [1, 1, 1], [1, 0, 0]], categories="yyx")
    assert isinstance(found, HardSplit)
    # Both tasks of y are easy (3/3 and 2/3 > .6); 10 % of two tasks is one: the one that fewer models solve.
    assert found.record.selected == ("t1", "t2")
    assert found.record.kept_for_category == 1


def test_too_few_models_and_no_hard_task_are_named() -> None:
    few = split([[1, 0], [0, 1]])
    assert isinstance(few, Undefined) and "2 model(s)" in few.reason and "needs 3" in few.reason
    none = split([[0, 0], [0, 0], [0, 0]])
    assert isinstance(none, Undefined) and "no issue-cleaned task is hard" in none.reason


def test_a_mis_keyed_task_discriminates_negatively_and_is_marked() -> None:
    skill = np.arange(12)[:, None]
    values = (skill >= np.arange(1, 11)[None, :]).astype(int)
    values[:, 4] = 1 - values[:, 4]
    tasks = [f"t{i}" for i in range(10)]
    matrix = ScoreMatrix.from_array(values, [f"m{i}" for i in range(12)], tasks)
    decisions = [Decision(task_id=t, action="drop" if t == "t4" else "keep", reasons=("why",)) for t in tasks]
    found = item_map(matrix, dict.fromkeys(tasks, "a"), decisions, {"t4"})
    assert isinstance(found, ItemMap) and found.method.startswith("2PL")
    points = {point.task_id: point for point in found.points}
    wrong = points["t4"].discrimination
    assert isinstance(wrong, Estimate) and wrong.value < 0
    assert points["t4"].flagged and points["t4"].decision == "drop" and not points["t3"].flagged
    assert found.models == 12 and found.left_out == 0


def test_large_and_repeated_matrices_fall_back_to_item_rest_and_say_why() -> None:
    n = MOST_CELLS // 2 + 1
    values = np.tile([1, 0], (2, n // 2 + 1))[:, :n]
    values[1, : n // 3] = 0
    tasks = [f"t{i}" for i in range(n)]
    decisions = [Decision(task_id=t, action="keep", reasons=("why",)) for t in tasks]
    found = item_map(ScoreMatrix.from_array(values, ["a", "b"], tasks), dict.fromkeys(tasks, "a"), decisions, ())
    assert isinstance(found, ItemMap) and "item-rest" in found.method and "40,000 scores" in found.method
