import json
from pathlib import Path

import pytest

from audit.decisions.policy import Decision
from reports.label_score import Label, LabelError, read_labels, score
from taxonomy import Evidence, Finding, Severity, Tier


def finding(check: str, *tasks: str) -> Finding:
    return Finding(
        id=check,
        check=check,
        check_version="1",
        category="too-lenient",
        severity=Severity.AFFECTS_SCORE,
        tier=Tier.CONFIRMED,
        claim="c",
        task_ids=tasks,
        evidence=(Evidence(task_id=tasks[0], pointer="/id", quote=tasks[0]),),
    )


def decided(**actions: str) -> list[Decision]:
    return [Decision(task_id=k, action=v, reasons=("r",)) for k, v in actions.items()]  # type: ignore[arg-type]


LABELS = [
    Label(task_id="a", flawed=True, severity="big", cluster="1"),
    Label(task_id="b", flawed=True, severity="small", cluster="1"),
    Label(task_id="c", flawed=False, cluster="2"),
    Label(task_id="d", flawed=False, cluster="3"),
    Label(task_id="z", flawed=True),
]
FINDINGS = [finding("x", "a", "c"), finding("y", "e")]
DECISIONS = decided(a="drop", b="keep", c="review", d="keep", e="drop")


def test_only_labelled_tasks_that_were_read_count() -> None:
    result = score(LABELS, "abcde", FINDINGS, DECISIONS)
    assert (result.labelled, result.flawed, result.not_in_run, result.base_rate) == (4, 2, 1, 0.5)
    rows = {row.name: row for row in result.rows}
    x = rows["x"]
    assert x.precision and x.recall
    # flagged a and c; labelled flawed a and b: precision 1/2, recall 1/2
    assert ((x.precision.k, x.precision.n), (x.recall.k, x.recall.n)) == ((1, 2), (1, 2))
    assert rows["dropped"].precision is not None
    assert (rows["dropped"].precision.k, rows["dropped"].precision.n) == (1, 1)
    everything = rows["flag everything"]
    assert everything.precision is not None
    assert everything.recall is not None
    assert (everything.precision.value, everything.recall.value) == (0.5, 1.0)
    random = rows["random, as many flagged"]
    # two of four tasks flagged at random: expected precision 2/4, expected recall 2/4
    assert (random.flagged, random.expected_precision, random.expected_recall) == (2, 0.5, 0.5)
    assert (result.recall_by_severity["big"].k, result.recall_by_severity["small"].k) == (1, 0)


def test_a_check_that_flags_no_labelled_task_has_no_precision() -> None:
    rows = {row.name: row for row in score(LABELS, "abcde", FINDINGS, DECISIONS).rows}
    assert rows["y"].precision is not None
    assert rows["y"].precision.value is None
    assert rows["y"].precision.low is None


def test_clusters_count_once_and_the_previous_release_is_a_baseline() -> None:
    before = decided(a="keep", b="review", c="keep", d="keep", e="keep")
    result = score(LABELS, "abcde", FINDINGS, DECISIONS, previous=before, by_cluster=True)
    # clusters 1 (flawed), 2, 3
    assert (result.unit, result.labelled, result.flawed) == ("cluster", 3, 1)
    rows = {row.name: row for row in result.rows}
    old = rows["previous release (dropped or review)"]
    assert old.precision is not None
    assert (old.precision.k, old.precision.n) == (1, 1)


def test_labels_are_read_with_their_domain(tmp_path: Path) -> None:
    file = tmp_path / "labels.jsonl"
    file.write_text(json.dumps({"domain": "airline", "task_id": 3, "flawed": True, "cluster": 4}) + "\n\n")
    assert read_labels(file) == [Label(task_id="airline/3", flawed=True, cluster="4")]


@pytest.mark.parametrize("line", ["{", '{"flawed": true}', '{"task_id": "a", "flawed": "yes"}', ""])
def test_wrong_labels_are_named_with_their_line(tmp_path: Path, line: str) -> None:
    file = tmp_path / "labels.jsonl"
    file.write_text(line + "\n")
    with pytest.raises(LabelError, match=r"labels\.jsonl"):
        read_labels(file)
