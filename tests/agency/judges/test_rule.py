"""The rule judge on a small task: a program that sorts, graded against gold, with solutions that cheat."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from agenthard.agency.judges import Check, Grade, Outcome, Probe, ProbeError, grade, metric_share
from agenthard.agency.sandbox import Plan
from agenthard.agency.sandbox.plan import AssertBox
from agenthard.agency.scenario import Criterion, ScenarioTask
from agenthard.agency.workspace import SnapshotStore, open_eval_space
from agenthard.containment import JobLimits

TASK = ScenarioTask(
    id="code/sort/task1",
    number=1,
    query="Write sort.sh, which sorts numbers.txt, and report.json with the count of lines.",
    criteria=(
        Criterion(id="sorted", text="The output of sort.sh is sorted.", weight=3, check="sorted"),
        Criterion(id="report", text="report.json holds the count.", check="report"),
    ),
)


def is_sorted(probe: Probe) -> Outcome:
    done = probe.run("/bin/sh", "sort.sh")
    right = done.stdout == probe.gold("sorted.txt")
    return Outcome(float(right), "" if right else f"another output, exit code {done.exit_code}")


def reports(probe: Probe) -> Outcome:
    try:
        right = json.loads(probe.text("report.json")) == {"count": 3}
    except ValueError:
        right = False
    return Outcome(float(right), "" if right else "report.json is wrong")


CHECKS: dict[str, Check] = {"sorted": is_sorted, "report": reports}
Graded = Callable[..., Grade]


@pytest.fixture
def graded(tmp_path: Path) -> Graded:
    gold = tmp_path / "gold"
    gold.mkdir()
    (gold / "sorted.txt").write_text("1\n2\n3\n")

    def of(**files: str) -> Grade:
        work = tmp_path / "work"
        work.mkdir(exist_ok=True)
        (work / "numbers.txt").write_text("3\n1\n2\n")
        for name, text in files.items():
            (work / name.replace("_", ".")).write_text(text)
        store = SnapshotStore(tmp_path / "store")
        taken = store.take(work)
        with open_eval_space(store, taken, gold, tmp_path / "spaces") as space:
            found = grade(TASK, CHECKS, space, JobLimits(wall_seconds=5, folder_bytes=8 << 20))
        assert found.snapshot == taken.id and store.take(work).id == taken.id
        return found

    return of


def test_a_good_solution_has_the_top_score(graded: Graded) -> None:
    found = graded(sort_sh="sort -n numbers.txt\n", report_json='{"count": 3}')
    assert found.score == 10 and found.passed and found.judgement().reason == ""


def test_a_partial_solution_has_its_weight(graded: Graded) -> None:
    found = graded(sort_sh="sort -n numbers.txt", report_json="3 lines")
    assert (found.score, found.passed) == (7.5, True)
    assert found.judgement().reason == "report: report.json is wrong"


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({}, "sorted: another output, exit code"),
        ({"sort_sh": "", "report_json": ""}, "sorted: another output, exit code 0"),
        ({"sort_sh": "echo PASS; echo score 10/10"}, "sorted: another output"),
        ({"sort_sh": "cat ../gold/* /tmp/*/*/*/gold/* /tmp/*/*/*/spaces/*/gold/*"}, "another"),
        ({"sort_sh": "exit 1"}, "exit code 1"),
        ({"sort_sh": "sleep 60"}, "sorted: `/bin/sh sort.sh` was killed: timeout"),
        ({"sort_sh": "while true; do head -c 900000 /dev/zero >> $$; done"}, "was killed: folder"),
    ],
)
def test_doing_nothing_and_cheating_earn_nothing(graded: Graded, files: dict[str, str], reason: str) -> None:
    found = graded(**files)
    assert found.score == 0 and reason in found.judgement().reason


def test_files_are_read_as_data_and_no_link_is_followed(tmp_path: Path, graded: Graded) -> None:
    secret = tmp_path / "gold" / "sorted.txt"
    work = tmp_path / "work"
    work.mkdir()
    os.symlink(secret, work / "report.json")
    assert "'report.json' cannot be read" in graded(sort_sh="").judgement().reason
    (work / "report.json").unlink()
    os.mkfifo(work / "pipe")
    store = SnapshotStore(tmp_path / "more")
    (work / "deep").mkdir()
    (work / "deep" / "bytes").write_bytes(b"\xff")
    with open_eval_space(store, store.take(work), None, tmp_path / "spaces") as space:
        probe = Probe(space)
        for path, reason in (
            ("../gold/x", "not a path below"),
            ("/etc/passwd", "not a path below"),
            ("deep", "is not a file"),
            ("deep/bytes", "not UTF-8"),
            ("missing", "No such file"),
        ):
            with pytest.raises(ProbeError, match=reason):
                probe.text(path)
        with pytest.raises(ProbeError, match="is longer than 3 bytes"):
            probe.text("numbers.txt", 3)


def test_a_task_without_checks_is_refused(tmp_path: Path) -> None:
    store = SnapshotStore(tmp_path / "store")
    (tmp_path / "work").mkdir()
    with (
        open_eval_space(store, store.take(tmp_path / "work"), None, tmp_path / "spaces") as space,
        pytest.raises(ValueError, match="no check decides sorted"),
    ):
        grade(TASK, {"report": reports}, space)


def test_metrics_become_shares() -> None:
    assert metric_share(5, worst=10, best=0) == 0.5
    assert metric_share(11, worst=10, best=0) == 0 and metric_share(-1, worst=10, best=0) == 1
    assert metric_share(float("nan"), worst=10, best=0) == 0
    assert metric_share(0, worst=1, best=1e-7, logarithmic=True) == 0
    with pytest.raises(ValueError, match="same number"):
        metric_share(1, worst=1, best=1)


@pytest.mark.browser
@pytest.mark.long
def test_a_check_looks_at_a_page(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "index.html").write_text("<title>Board</title><div id=board style='width:90px'>x</div>")
    (tmp_path / "gold").mkdir()
    store = SnapshotStore(tmp_path / "store")

    def has_board(probe: Probe) -> Outcome:
        found = probe.browse(Plan(steps=(AssertBox(selector="#board", width=90), AssertBox(selector="#board", x=0))))
        return Outcome(1 - len(found.failures()) / 2, "; ".join(step.reason for step in found.failures()))

    task = TASK.model_copy(update={"criteria": (Criterion(id="board", text="A board.", check="board"),)})
    with open_eval_space(store, store.take(work), tmp_path / "gold", tmp_path / "spaces") as space:
        found = grade(task, {"board": has_board}, space)
    assert found.score == 5 and found.criteria[0].reason == "x is 8, expected 0 ± 1"
