"""Proposals tried on a native benchmark of the library desk, with its environment and evaluator."""

from pathlib import Path
from typing import Any

import pytest

from agenthard.audit.detectors.ground_truth import GoldFails
from agenthard.audit.detectors.registry import detectors
from agenthard.audit.repair.issue_text import code, fenced, issue_text
from agenthard.audit.repair.proposals import Proposal, propose
from agenthard.audit.repair.recheck import TaskChecker, TaskState
from agenthard.audit.repair.repairs import Repair, RepairRunner
from agenthard.audit.sources.base import Quarantine, Version
from agenthard.audit.sources.native import Native
from agenthard.taxonomy import AgentTask, Finding, Severity, Tier
from tests.library import call, desk_task, lend

pytestmark = pytest.mark.usefixtures("library_desk")

TASKS = (
    desk_task(
        *(lend("b9", "bea"), lend("b9", "ada"), call("leave_note", text=41938)),
        id="lib/0",
        says="Lend b9 to bea, else to ada. Leave a note: 41938.",
    ),
    desk_task(call("leave_note", text=41938), id="lib/1", says="Leave a note that says 41938."),
    desk_task(
        lend("b9", "bea"), lend("b7", "bea"), lend("b9", "ada"), id="lib/2", says="b7 for bea; b9 to bea or ada."
    ),
    desk_task(call("leave_note", text="41938"), id="lib/3", says="A note is to be left, saying 41938."),
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "benchmark"
    folder.mkdir()
    (folder / "tasks.jsonl").write_text("".join(task.model_dump_json(exclude={"origins"}) + "\n" for task in TASKS))
    return folder


@pytest.fixture
def tasks(root: Path) -> dict[str, AgentTask]:
    quarantine = Quarantine()
    found = {task.id: task for task in Native(root).tasks(quarantine)}
    assert not quarantine.items
    return found


@pytest.fixture
def checker(tasks: dict[str, AgentTask]) -> TaskChecker:
    return TaskChecker("native", list(tasks.values()), detectors())


@pytest.fixture
def workshop(root: Path, tasks: dict[str, AgentTask], checker: TaskChecker) -> RepairRunner:
    return RepairRunner(root, Native, list(tasks.values()), checker)


def found(looked: TaskState, check: str) -> Finding:
    return next(finding for finding in looked.findings if finding.check == check)


def proposal(finding: Finding, task_id: str, *patch: dict[str, Any]) -> Proposal:
    return Proposal(
        finding_id=finding.id,
        check=finding.check,
        category=finding.category,
        tier=finding.tier,
        severity=finding.severity,
        task_id=task_id,
        claim=finding.claim,
        patch=patch,
    )


def tried(workshop: RepairRunner, *proposals: Proposal) -> list[Repair]:
    return workshop.try_all(proposals, lambda _: None)


def test_a_value_of_another_type_is_repaired(
    workshop: RepairRunner, checker: TaskChecker, tasks: dict[str, AgentTask], root: Path
) -> None:
    before = (root / "tasks.jsonl").read_bytes()
    task = tasks["lib/1"]
    finding = found(checker.check(task), "call-schema")
    check = next(detector for detector in detectors() if detector.id == finding.check)
    [repair] = tried(workshop, propose("native", finding, task, check))  # type: ignore[arg-type]
    assert repair.accepted, repair.reason
    assert repair.recheck and repair.recheck.gone == (finding.id,)
    assert repair.recheck.after.accepted and not repair.recheck.after.not_replayed
    assert '"text":41938' in repair.diff and '"text":"41938"' in repair.diff
    assert (root / "tasks.jsonl").read_bytes() == before
    [together] = workshop.combine([repair])
    with workshop.copy_with(together.edits) as copy:
        read = {each.id: each for each in copy.tasks(Quarantine())}
    assert [each.arguments for _, each in read["lib/1"].gold_calls()] == [{"text": "41938"}]
    assert {key: read[key] for key in read if key != "lib/1"} == {key: tasks[key] for key in tasks if key != "lib/1"}


def test_a_failed_call_that_is_repeated_is_left_out(
    workshop: RepairRunner, checker: TaskChecker, tasks: dict[str, AgentTask]
) -> None:
    task = tasks["lib/2"]
    finding = found(checker.check(task), "gold-fails")
    offered = propose("native", finding, task, GoldFails())
    assert offered.patch == ({"op": "remove", "path": "/ground_truth/turns/0/0"},)
    [repair] = tried(workshop, offered)
    assert repair.accepted, repair.reason
    assert repair.recheck and (repair.recheck.before.failing_calls, repair.recheck.after.failing_calls) == (1, 0)


@pytest.mark.parametrize(
    ("task_id", "operation", "reason"),
    [
        ("lib/1", {"op": "replace", "path": "/ground_truth/turns/0/0/arguments/text", "value": 6}, "still found"),
        ("lib/1", {"op": "remove", "path": "/ground_truth/turns/0/0"}, "new|no longer"),
        ("lib/1", {"op": "replace", "path": "/environment/policy", "value": ""}, "shared"),
        ("lib/1", {"op": "replace", "path": "/ground_truth/turns", "value": 7}, "no longer be read"),
        ("lib/1", {"op": "remove", "path": "/ground_truth/turns/5"}, "does not fit"),
    ],
)
def test_what_is_no_improvement_is_rejected(
    workshop: RepairRunner,
    checker: TaskChecker,
    tasks: dict[str, AgentTask],
    task_id: str,
    operation: dict[str, Any],
    reason: str,
) -> None:
    finding = found(checker.check(tasks[task_id]), "call-schema")
    [repair] = tried(workshop, proposal(finding, task_id, operation))
    assert not repair.accepted
    assert any(part in repair.reason for part in reason.split("|")), repair.reason


def test_a_repair_that_makes_a_duplicate_is_rejected(
    workshop: RepairRunner, checker: TaskChecker, tasks: dict[str, AgentTask]
) -> None:
    finding = found(checker.check(tasks["lib/1"]), "call-schema")
    same = [
        {"op": "replace", "path": "/ground_truth/turns/0/0/arguments/text", "value": "41938"},
        {"op": "replace", "path": "/user/turns", "value": tasks["lib/3"].model_dump(mode="json")["user"]["turns"]},
    ]
    [repair] = tried(workshop, proposal(finding, "lib/1", *same))
    assert not repair.accepted and "duplicate-task finds something new" in repair.reason


def test_repairs_of_one_task_go_together(
    workshop: RepairRunner, checker: TaskChecker, tasks: dict[str, AgentTask]
) -> None:
    looked = checker.check(tasks["lib/0"])
    fails, schema = found(looked, "gold-fails"), found(looked, "call-schema")
    note = {"op": "replace", "path": "/ground_truth/turns/0/2/arguments/text", "value": "41938"}
    first = {"op": "remove", "path": "/ground_truth/turns/0/0"}
    repairs = tried(workshop, proposal(fails, "lib/0", first), proposal(schema, "lib/0", note))
    assert [repair.reason for repair in repairs] == ["", ""]
    [together] = workshop.combine(repairs)
    assert set(together.finding_ids) == {fails.id, schema.id}
    [edit] = together.edits
    assert [operation["op"] for operation in edit.patch] == ["replace", "remove"]


def test_of_repairs_of_the_same_place_the_first_is_made(
    workshop: RepairRunner, checker: TaskChecker, tasks: dict[str, AgentTask]
) -> None:
    finding = found(checker.check(tasks["lib/1"]), "call-schema")
    at = "/ground_truth/turns/0/0/arguments/text"
    [first] = tried(workshop, proposal(finding, "lib/1", {"op": "replace", "path": at, "value": "41938"}))
    other = proposal(finding, "lib/1", {"op": "replace", "path": at, "value": "41939"})
    [together] = workshop.combine([first, first.model_copy(update={"proposal": other})])
    assert together.edits == first.edits


def test_text_of_the_benchmark_cannot_break_out_of_the_issue(root: Path, tasks: dict[str, AgentTask]) -> None:
    evil = "x\n```\n# Owned ````\n<script>@everyone"
    assert fenced(evil).startswith("`````text\n") and fenced(evil).endswith("\n`````")
    assert code("a``b\n# c") == "``` a``b # c ```"
    finding = Finding(
        id="f1",
        check="call-schema",
        check_version="1",
        category="malformed-tool-call",
        severity=Severity.COSMETIC,
        tier=Tier.CONFIRMED,
        claim=evil,
        fix=evil,
        task_ids=("lib/1",),
        evidence=({"task_id": "lib/1", "pointer": "/user/turns/0/0/content", "quote": evil},),
    )
    repair = Repair(proposal=proposal(finding, "lib/1"), accepted=True, diff=evil)
    version = Version(label="v`1`", content_hash="abc", files=1)
    text = issue_text(Native(root), version, finding, tasks["lib/1"], [repair], ["all-fail"])
    outside, fence = [], ""
    for line in text.splitlines():
        ticks = line[: len(line) - len(line.lstrip("`"))]
        if not fence and len(ticks) >= 3 and "`" not in line[len(ticks) :]:
            fence = ticks
        elif fence and line.strip() == fence:
            fence = ""
        elif not fence:
            outside.append(line)
    assert not fence
    assert "Owned" not in "".join(outside) and "script" not in "".join(outside)
    assert "`tasks.jsonl` line 2" in text and "abc" in text and "please say so" in text


def test_checks_that_need_runs_are_left_out(checker: TaskChecker, tasks: dict[str, AgentTask]) -> None:
    looked = checker.check(tasks["lib/3"])
    assert looked.gold.accepted and looked.gold.failing_calls == 0
    assert {row.check for row in looked.coverage}.isdisjoint(checker.left_out)
