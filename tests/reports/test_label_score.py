import json
from pathlib import Path
from typing import Any

import pytest

from agenthard.audit.decisions.policy import Decision
from agenthard.reports.alignment.truth import Names
from agenthard.reports.label_causes import CauseRow, Causes
from agenthard.reports.label_score import LabelScore, score
from agenthard.reports.labels import Label, LabelError, LabelFile, read_labels
from agenthard.taxonomy import Evidence, Finding, Severity, Tier
from agenthard.taxonomy.categories import load_taxonomy


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


def compare(labels: list[Label], *args: Any, unlabelled: tuple[str, ...] = (), **options: Any) -> LabelScore:
    given = LabelFile(labels=tuple(labels), unlabelled=unlabelled)
    return score(given, *args, names=Names(load_taxonomy()), **options)


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
    result = compare(LABELS, "abcde", FINDINGS, DECISIONS)
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
    rows = {row.name: row for row in compare(LABELS, "abcde", FINDINGS, DECISIONS).rows}
    assert rows["y"].precision is not None
    assert rows["y"].precision.value is None
    assert rows["y"].precision.low is None


def test_clusters_count_once_and_the_previous_release_is_a_baseline() -> None:
    before = decided(a="keep", b="review", c="keep", d="keep", e="keep")
    result = compare(LABELS, "abcde", FINDINGS, DECISIONS, previous=before, by_cluster=True)
    # clusters 1 (flawed), 2, 3
    assert (result.unit, result.labelled, result.flawed) == ("cluster", 3, 1)
    rows = {row.name: row for row in result.rows}
    old = rows["previous release (dropped or review)"]
    assert old.precision is not None
    assert (old.precision.k, old.precision.n) == (1, 1)


def test_labels_are_read_with_their_domain(tmp_path: Path) -> None:
    file = tmp_path / "labels.jsonl"
    file.write_text(json.dumps({"domain": "airline", "task_id": 3, "flawed": True, "cluster": 4}) + "\n\n")
    assert read_labels(file).labels == (Label(task_id="airline/3", flawed=True, cluster="4"),)


@pytest.mark.parametrize(
    "line", ["{", "[]", '{"task_id": "a", "flawed": null}', '{"flawed": true}', '{"task_id": "a", "flawed": "yes"}', ""]
)
def test_wrong_labels_are_named_with_their_line(tmp_path: Path, line: str) -> None:
    file = tmp_path / "labels.jsonl"
    file.write_text(line + "\n")
    with pytest.raises(LabelError, match=r"labels\.jsonl"):
        read_labels(file)


def test_null_is_unlabelled_and_counts_nowhere(tmp_path: Path) -> None:
    file = tmp_path / "labels.jsonl"
    lines = [{"task_id": "a", "flawed": True}, {"domain": "d", "task_id": 1, "flawed": None}]
    file.write_text("\n".join(map(json.dumps, lines)))
    given = read_labels(file)
    assert [label.task_id for label in given.labels] == ["a"]
    assert given.unlabelled == ("d/1",)
    decisions = [Decision(task_id=task, action="drop", reasons=("r",)) for task in ("a", "d/1")]
    result = score(given, ["a", "d/1"], [], decisions, names=Names(load_taxonomy()))
    assert (result.labelled, result.unlabelled, result.not_in_run) == (1, 1, 0)
    assert result.rows[0].precision is not None
    assert (result.rows[0].precision.k, result.rows[0].precision.n) == (1, 1)


def test_every_row_says_whether_the_checks_were_developed_on_the_labels() -> None:
    assert {row.data for row in compare(LABELS, "abcde", FINDINGS, DECISIONS).rows} == {"development"}
    assert {row.data for row in compare(LABELS, "abcde", FINDINGS, DECISIONS, data="held-out").rows} == {"held-out"}


def cause_row(causes: Causes, name: str, grain: str) -> CauseRow:
    return next(row for row in causes.rows if (row.name, row.grain) == (name, grain))


def test_another_cause_is_a_miss_and_a_false_alarm() -> None:
    labels = [
        Label(task_id="a", flawed=True, component="ground_truth", category="Incorrect tool calls", places=("/id",)),
        Label(task_id="b", flawed=True, component="evaluation", category="too strict", places=("/user",)),
        Label(task_id="c", flawed=False),
        Label(task_id="d", flawed=True, component="moon", category="eclipse", places=("crater",)),
    ]
    found = [finding("x", "a", "b", "c"), finding("y", "d")]
    found[0] = found[0].model_copy(update={"category": "too-lenient"})
    decisions = [
        Decision(task_id="a", action="drop", reasons=("r",), finding_ids=("x",)),
        Decision(task_id="b", action="review", reasons=("r",), finding_ids=("x",)),
        Decision(task_id="c", action="review", reasons=("r",), finding_ids=("x",)),
        Decision(task_id="d", action="review", reasons=("r",), finding_ids=("y",)),
    ]
    causes = compare(labels, "abcd", found, decisions).causes
    # too-lenient is of the component evaluation: right for b, wrong for a, false for c; d cannot be compared
    component = cause_row(causes, "dropped or review", "component")
    assert (component.precision.k, component.precision.n) == (1, 3)
    assert (component.recall.k, component.recall.n) == (1, 2)
    assert component.elsewhere == 1
    category = cause_row(causes, "dropped or review", "category")
    assert (category.precision.k, category.recall.k, category.recall.n) == (0, 0, 2)
    # x quotes /id of task a only
    place = cause_row(causes, "x", "place")
    assert (place.precision.k, place.precision.n, place.recall.k, place.recall.n) == (1, 3, 1, 2)
    assert cause_row(causes, "dropped", "component").precision.n == 1
    assert causes.not_comparable == {"component": 1, "category": 1, "place": 1}
    assert causes.unknown_words == {"category: eclipse": 1, "component: moon": 1, "place: crater": 1}


def test_a_flag_of_any_member_with_its_own_cause_counts_for_the_cluster() -> None:
    labels = [
        Label(task_id="a", flawed=True, cluster="1", category="too-strict"),
        Label(task_id="b", flawed=True, cluster="1", category="too-lenient"),
    ]
    decisions = [Decision(task_id="b", action="drop", reasons=("r",), finding_ids=("x",))]
    causes = compare(labels, "ab", [finding("x", "b")], decisions, by_cluster=True).causes
    row = cause_row(causes, "dropped", "category")
    assert (row.precision.k, row.precision.n, row.recall.k, row.recall.n) == (1, 1, 1, 1)


@pytest.mark.corpora
@pytest.mark.parametrize(
    ("name", "truth", "labelled", "flawed", "with_place"),
    [
        ("tau1_airline", "flawed", 50, 29, 0),
        ("tau2_airline", "flawed", 50, 27, 0),
        ("bfcl_v3_multi_turn_even", "flawed_strict", 400, 112, 70),
    ],
)
def test_the_development_labels_speak_the_taxonomys_words(
    corpora: Path, name: str, truth: str, labelled: int, flawed: int, with_place: int
) -> None:
    given = read_labels(corpora / "labels_dev" / f"{name}.jsonl", truth)
    ids = [label.task_id for label in given.labels]
    result = score(given, ids, [], [], names=Names(load_taxonomy()))
    assert (result.labelled, result.unlabelled, result.flawed) == (labelled, 0, flawed)
    assert result.causes.not_comparable["component"] == 0
    assert all(word.startswith("place: ") for word in result.causes.unknown_words)
    assert result.causes.not_comparable["place"] == flawed - with_place
