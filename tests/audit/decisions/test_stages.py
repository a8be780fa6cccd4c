"""Decisions after each stage: rules, then execution, then the judge, then people."""

import hashlib
from collections.abc import Sequence

from agenthard.audit.coverage import CoverageTable
from agenthard.audit.decisions.policy import Decision, Override, decide, load_policy
from agenthard.audit.decisions.stages import CheckStage, StageDecisions, decide_by_stage, stage_of
from agenthard.audit.detectors.registry import detector
from agenthard.audit.judge.aggregate.findings import JudgeCheck
from agenthard.taxonomy.finding import Evidence, Finding, Severity, Status, Tier

TASKS = ("t0", "t1", "t2", "t3")
STAGES: dict[str, CheckStage] = {"call-schema": "rules", "gold-fails": "execution", "judge": "judge"}


def finding(check: str, task: str, tier: Tier = Tier.CONFIRMED) -> Finding:
    return Finding(
        id=hashlib.sha256(f"{check} {task}".encode()).hexdigest()[:12],
        check=check,
        check_version="1",
        category="malformed-tool-call",
        severity=Severity.AFFECTS_SCORE,
        tier=tier,
        claim="Wrong.",
        task_ids=(task,),
        evidence=(Evidence(task_id=task, pointer="/user", quote="x"),),
    )


def coverage(**ran: str) -> CoverageTable:
    """Make a table: one character per task, . clean, ! error, space not checked."""
    checks = {name.replace("_", "-"): marks for name, marks in ran.items()}
    table = CoverageTable(TASKS, list(checks))
    kinds = {".": Status.CLEAN, "!": Status.ERROR, " ": Status.NOT_CHECKED}
    for column, marks in enumerate(checks.values()):
        for row, mark in enumerate(marks):
            table.set(row, column, kinds[mark], "" if mark == "." else "why")
    return table


def rows(found: Sequence[StageDecisions]) -> list[tuple[str, tuple[str, ...] | None, int]]:
    return [(each.stage, each.kept, each.checked) for each in found]


FINDINGS = [finding("call-schema", "t0"), finding("gold-fails", "t1"), finding("judge", "t2")]


def final(findings: Sequence[Finding], table: CoverageTable) -> Sequence[Decision]:
    return decide(load_policy(), TASKS, findings, table, {})


def test_each_stage_adds_its_own_findings() -> None:
    table = coverage(call_schema="....", gold_fails="... ", judge="..  ")
    found = decide_by_stage(load_policy(), TASKS, FINDINGS, table, STAGES, final(FINDINGS, table))
    assert rows(found)[:2] == [("rules", ("t1", "t2", "t3"), 4), ("execution", ("t2", "t3"), 3)]
    judged = final(FINDINGS, table)
    assert found[2].kept == tuple(d.task_id for d in judged if d.action != "drop")
    assert [each.review for each in found][2] == sum(d.action == "review" for d in judged)
    assert [each.note for each in found] == [
        "",
        "Checks of this stage ran on 3 of 4 tasks.",
        "Checks of this stage ran on 2 of 4 tasks.",
    ]


def test_the_last_stage_is_what_the_audit_decided() -> None:
    table = coverage(call_schema="....", gold_fails="....")
    decided = final(FINDINGS[:2], table)
    found = decide_by_stage(load_policy(), TASKS, FINDINGS[:2], table, STAGES, decided)
    assert [each.stage for each in found] == ["rules", "execution", "judge"]
    assert found[1].kept == tuple(d.task_id for d in decided if d.action != "drop")


def test_a_stage_that_checked_nothing_says_why() -> None:
    table = coverage(call_schema="....", gold_fails="    ")
    found = decide_by_stage(load_policy(), TASKS, FINDINGS[:1], table, STAGES, final(FINDINGS[:1], table))
    assert [each.reason for each in found] == [
        "",
        "none of its 1 checks could run on any task",
        "no model has judged the tasks; `agenthard judge run` asks for verdicts",
    ]


def test_people_are_a_stage_where_they_change_what_stays() -> None:
    table = coverage(call_schema="....")
    policy = load_policy()
    by_hand = policy.model_copy(update={"overrides": {"t0": Override(action="keep", reason="fine", by="Ann")}})
    decided = decide(by_hand, TASKS, FINDINGS[:1], table, {})
    found = decide_by_stage(by_hand, TASKS, FINDINGS[:1], table, STAGES, decided)
    assert (rows(found)[0], rows(found)[-1]) == (("rules", ("t1", "t2", "t3"), 4), ("people", TASKS, 1))


def test_checks_belong_to_the_stage_of_what_they_do() -> None:
    assert stage_of(JudgeCheck()) == "judge"
    assert {stage_of(detector(name)) for name in ("gold-fails", "gold-redundant", "unread-state")} == {"execution"}
    assert {stage_of(detector(name)) for name in ("call-schema", "all-fail")} == {"rules"}
