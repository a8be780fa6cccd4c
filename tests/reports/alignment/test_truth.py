import json
from pathlib import Path
from typing import Any

import pytest

from agenthard.reports.alignment.truth import Names, consensus, read_label_set
from agenthard.reports.labels import Label, LabelError
from agenthard.taxonomy.categories import builtin_taxonomy

NAMES = Names(builtin_taxonomy(), {"wrong key": "incorrect-tool-call"})


def write(path: Path, *rows: Any) -> Path:
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def test_sheets_of_several_annotators_are_read_together(tmp_path: Path) -> None:
    ann = write(
        tmp_path / "ann.jsonl",
        {"task_id": 3, "domain": "airline", "flawed": True, "category": "Too strict", "cluster": 7},
        {"task_id": "a", "flawed": None, "annotator": None},
        {"task_id": "b", "flawed": False, "annotator": "cem"},
        {"task_id": "airline/3", "flawed": False},
    )
    look = write(
        tmp_path / "look.jsonl",
        {"task_id": "airline/3", "confirmed_later": True, "mode": "Missing context"},
        {"task_id": "b", "confirmed_later": None, "mode": None},
    )
    found = read_label_set([ann, look])
    assert found.labels == (
        Label(task_id="airline/3", flawed=False, annotator="ann"),
        Label(task_id="b", flawed=False, annotator="cem"),
    )
    assert (found.open, found.replaced, found.annotators) == (2, 1, ("ann", "cem"))
    assert [(line.task_id, line.annotator, line.confirmed_later) for line in found.second_looks] == [
        ("airline/3", "look", True)
    ]
    truth = consensus(found.labels, NAMES, found.second_looks).tasks[0]
    assert (truth.looked_again, truth.confirmed_later, truth.modes) == (True, True, ("Missing context",))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("{", "line 1: not valid JSON"),
        ("[1]", "line 1: expected a JSON object"),
        ({"flawed": True}, "line 1: KeyError: 'task_id'"),
        ({"task_id": "a"}, "KeyError: 'flawed'"),
        ({"task_id": "a", "flawed": "yes"}, "not true or false"),
        ({"task_id": "a", "flawed": True, "confirmed_later": 1}, "confirmed_later is 1"),
        ({"task_id": "a", "flawed": None}, "no labels; 1 lines are not filled in"),
    ],
)
def test_what_is_no_label_is_named_with_its_line(tmp_path: Path, row: Any, message: str) -> None:
    with pytest.raises(LabelError, match=message):
        read_label_set([write(tmp_path / "labels.jsonl", row)])


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(LabelError, match=r"nix\.jsonl: cannot read"):
        read_label_set([tmp_path / "nix.jsonl"])


def test_the_majority_counts_and_a_tie_for_nothing() -> None:
    def label(task: str, who: str, flawed: bool, category: str | None = None, component: str | None = None) -> Label:
        return Label(task_id=task, flawed=flawed, annotator=who, category=category, component=component)

    found = consensus(
        [
            label("a", "x", True, "Wrong Key"),
            label("a", "y", True, "Ambiguous instruction"),
            label("a", "z", False),
            label("b", "x", True),
            label("b", "y", False),
            label("c", "x", True, "vagueness", "Evaluation System"),
            label("d", "x", False, "too-strict"),
        ],
        NAMES,
    )
    assert found.tied == ("b",)
    a, c, d = found.tasks
    assert (a.flawed, a.annotators, a.categories) == (True, 3, ("ambiguous-instruction", "incorrect-tool-call"))
    assert a.components == ("ground_truth", "user")
    assert (c.categories, c.category_known, c.components, c.component_known) == ((), False, ("evaluation",), True)
    assert (d.flawed, d.categories, d.category_known) == (False, (), True)


def test_a_mapping_to_no_category_is_refused() -> None:
    with pytest.raises(ValueError, match="'x' is mapped to 'y'"):
        Names(builtin_taxonomy(), {"x": "y"})


@pytest.mark.corpora
def test_labels_of_the_corpora_are_read_as_they_are(corpora: Path) -> None:
    for path in sorted((corpora / "labels_dev").glob("*.jsonl")):
        found = read_label_set([path])
        assert len(found.labels) == len(path.read_text(encoding="utf-8").splitlines())
        truth = consensus(found.labels, NAMES).tasks
        assert all(task.category_known and task.component_known for task in truth), path.name
        assert any(task.flawed for task in truth)
