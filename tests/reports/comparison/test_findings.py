"""New, persisted, flipped, fixed, no longer checked, and suppressed."""

from datetime import date

from agenthard.audit.decisions.policy import Action, Decision
from agenthard.audit.decisions.suppressions import SuppressedFinding
from agenthard.reports.comparison.findings import AuditDelta, compare_decisions, compare_findings
from agenthard.taxonomy.finding import Finding, Severity, Tier
from tests.reports.cleaning.small import finding

DELTA = AuditDelta(
    versions_before={"call-schema": "1", "old-check": "1", "moved": "1"},
    versions_after={"call-schema": "1", "new-check": "1", "moved": "2"},
    tasks_before=frozenset({"t0", "t1", "t2", "gone"}),
    tasks_after=frozenset({"t0", "t1", "t2", "added"}),
    changed_tasks=frozenset({"t1"}),
)
SAME: dict[str, tuple[Action, Action]] = {"t0": ("drop", "drop"), "t1": ("keep", "keep"), "t2": ("keep", "keep")}


def test_new_findings_carry_what_can_explain_them() -> None:
    after = [
        finding(1, "t0", check="new-check"),
        finding(2, "t0", check="moved"),
        finding(3, "t0", "t1"),
        finding(4, "added"),
        finding(5, "t2", severity=Severity.COSMETIC),
    ]
    found = compare_findings([], after, DELTA, SAME, lambda check, task: True)
    causes = {change.claim: change.cause for change in found.new}
    assert causes == {
        "Flaw 1.": "check",
        "Flaw 2.": "check",
        "Flaw 3.": "task",
        "Flaw 4.": "task_set",
        "Flaw 5.": "other",
    }
    assert found.new[-1].claim == "Flaw 5.", "the least severe comes last"
    assert (found.persisted, found.fixed, found.flipped, found.unchecked) == (0, (), (), ())


def test_a_finding_is_fixed_only_when_its_check_looked_again() -> None:
    before = [finding(1, "t1"), finding(2, "t0", check="old-check"), finding(3, "t2")]
    looked = {("call-schema", "t1")}
    found = compare_findings(before, [], DELTA, SAME, lambda check, task: (check, task) in looked)
    assert [change.claim for change in found.fixed] == ["Flaw 1."]
    assert found.fixed[0].cause == "task"
    assert sorted(change.claim for change in found.unchecked) == ["Flaw 2.", "Flaw 3."]


def test_a_finding_flips_when_severity_tier_or_decision_change() -> None:
    before = [finding(1, "t0"), finding(2, "t1"), finding(3, "t2")]
    after = [finding(1, "t0", tier=Tier.SUSPECTED, severity=Severity.COSMETIC), finding(2, "t1"), finding(3, "t2")]
    decided: dict[str, tuple[Action, Action]] = {**SAME, "t2": ("keep", "drop")}
    found = compare_findings(before, after, DELTA, decided, lambda check, task: True)
    assert found.persisted == 1
    assert {change.id: change.changes for change in found.flipped} == {
        before[0].id: ("severity: affects_score → cosmetic", "tier: confirmed → suspected"),
        before[2].id: ("decision on t2: keep → drop",),
    }


def test_a_suppressed_finding_is_neither_fixed_nor_unchecked() -> None:
    def accepted(*findings: Finding) -> list[SuppressedFinding]:
        return [SuppressedFinding(finding=each, reason="agreed", until=date(2030, 1, 31)) for each in findings]

    before = [finding(1, "t0"), finding(2, "t1", "t2"), finding(3, "t0"), finding(5, "t0")]
    after = [finding(2, "t2"), finding(4, "t1")]
    old, new = accepted(finding(4, "t1"), finding(5, "t1")), accepted(finding(1, "t0"), finding(2, "t1"))
    found = compare_findings(
        before, after, DELTA, SAME, lambda check, task: True, old, [*new, *accepted(finding(5, "t1"))]
    )
    assert [(change.claim, change.task_ids, change.changes) for change in found.suppressed] == [
        ("Flaw 1.", ("t0",), ("agreed (until 2030-01-31)",)),
        ("Flaw 2.", ("t1",), ("agreed (until 2030-01-31)",)),
    ]
    assert [change.claim for change in found.fixed] == ["Flaw 3.", "Flaw 5."], "5 was suppressed in t1 all the time"
    assert [(change.claim, change.changes) for change in found.new] == [
        ("Flaw 4.", ("was suppressed: agreed (until 2030-01-31)",))
    ]


def test_decisions_of_common_tasks_are_compared() -> None:
    def decided(**actions: Action) -> list[Decision]:
        return [Decision(task_id=task, action=action, reasons=(f"why {task}",)) for task, action in actions.items()]

    found = compare_decisions(decided(a="keep", b="drop", gone="drop"), decided(b="keep", a="keep", new="drop"))
    assert [(c.task_id, c.before, c.after, c.reasons) for c in found] == [("b", "drop", "keep", ("why b",))]
