"""Why flags are wrong, what a second look finds, and flaws by category."""

from dataclasses import replace

import pytest

from agenthard.audit.statistics import Estimate, Result
from agenthard.reports.alignment.judge_errors import disagreements, failure_modes, second_look
from agenthard.reports.alignment.kinds import by_kind
from agenthard.reports.alignment.measures import Labelled, Settings
from agenthard.taxonomy.categories import builtin_taxonomy
from tests.reports.alignment.labelled import make_answers, make_labelled


def labelled(truth: str, **changes: dict[int, object]) -> Labelled:
    """Labelled tasks with some fields of some of them replaced: ``modes={3: ("ambiguity",)}``."""
    found = make_labelled(truth)
    tasks = [
        task.model_copy(update={name: by[i] for name, by in changes.items() if i in by})
        for i, task in enumerate(found.truth)
    ]
    return replace(found, truth=tuple(tasks))


def share(result: Result) -> tuple[float, int]:
    assert isinstance(result, Estimate), result
    return result.value, result.n


def test_modes_are_counted_where_the_judge_was_wrong() -> None:
    modes = {
        0: ("Ambiguity", "tired"),  # missed
        1: (),  # missed, not explained
        2: ("inference failure",),  # found: no error
        4: ("Inference_Failure", "ambiguity"),  # false alarm; ambiguity is no mode of those
        5: ("Missing context",),
    }
    found = failure_modes(make_answers("ccfcffe"), labelled("xxxooox", modes=modes))
    assert found.errors == {"false positive": 2, "false negative": 2}
    assert found.explained == {"false positive": 2, "false negative": 1}
    assert found.elsewhere == 1
    counted = {(row.error, row.mode): share(row.share) for row in found.rows if share(row.share)[0]}
    assert counted == {
        ("false positive", "inference-failure"): (0.5, 2),
        ("false positive", "missing-context"): (0.5, 2),
        ("false positive", "ambiguity"): (0.5, 2),
        ("false negative", "ambiguity"): (1, 1),
        ("false negative", "tired"): (1, 1),
    }
    assert [row.mode for row in found.rows if not row.of_the_paper] == ["ambiguity", "tired"]


def test_precision_is_given_before_and_after_the_second_look() -> None:
    given = labelled("xooooo", looked_again={1: True, 2: True, 5: True}, confirmed_later={1: True, 5: True})
    found = second_look(make_answers("ffffcc"), given)
    # 4 flags, 1 right at first; 2 of the 3 wrong ones looked at again, 1 confirmed. Task 5 was no flag.
    assert (found.wrong_at_first, found.looked_again, found.confirmed) == (3, 2, 1)
    assert (share(found.first), share(found.later)) == ((0.25, 4), (0.5, 4))


def test_disagreements_make_a_sheet() -> None:
    lines = disagreements(make_answers("ffccue"), labelled("xoxoxo", categories={2: ("too-strict",)}))
    assert [(line["task_id"], line["error"], line["labelled"]) for line in lines] == [
        ("t1", "false positive", "sound"),
        ("t2", "false negative", ["too-strict"]),
    ]
    assert lines[0]["said"] == "because f"
    assert all(line["confirmed_later"] is None and "flawed" not in line for line in lines)


def test_a_flaw_can_be_found_under_another_name() -> None:
    known = dict.fromkeys(range(5), True)
    given = labelled(
        "xxxxoo",
        categories={0: ("too-strict",), 1: ("too-strict",), 2: ("answer-leakage",)},
        components={0: ("evaluation",), 1: ("evaluation",), 2: ("evaluation",), 3: ("user",)},
        category_known={**known, 3: False},
        component_known=known,
    )
    answers = make_answers("fffcfc", categories={
        "t0": ("too-strict",), "t1": ("answer-leakage",), "t2": ("answer-leakage",),
        "t4": ("too-strict", "too-lenient"),
    })  # fmt: skip
    found = by_kind(answers, given, builtin_taxonomy(), Settings(resamples=100))
    assert (found.without_category, found.without_component) == (1, 0)
    rows = {row.name: row for row in found.rows}
    assert list(rows) == ["user", "evaluation", "too-lenient", "too-strict", "answer-leakage"]
    strict = rows["too-strict"]
    assert (share(strict.precision), share(strict.recall), share(strict.found_at_all)) == ((0.5, 2), (0.5, 2), (1, 2))
    assert (share(rows["evaluation"].precision), share(rows["evaluation"].recall)) == ((0.75, 4), (1, 3))
    assert share(rows["user"].recall) == pytest.approx((0, 1))
