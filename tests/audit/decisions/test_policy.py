from pathlib import Path
from typing import Any

import pytest

from agenthard.audit.coverage import CoverageTable
from agenthard.audit.decisions.policy import DecisionRule, Override, Policy, PolicyError, decide, load_policy
from agenthard.audit.detectors.base import DecidingKind
from agenthard.taxonomy import Coverage, Evidence, Finding, Level, Severity, Status, Tier

DECIDING: dict[str, DecidingKind] = {"call-schema": "schema"}


def finding(
    identity: str, *tasks: str, tier: Tier = Tier.CONFIRMED, severity: Severity = Severity.AFFECTS_SCORE, **more: Any
) -> Finding:
    return Finding(
        id=identity,
        check="call-schema",
        check_version="1",
        category="malformed-tool-call",
        severity=severity,
        tier=tier,
        claim=f"claim {identity}",
        task_ids=tasks,
        evidence=(Evidence(task_id=tasks[0], pointer="/id", quote=tasks[0]),),
        **more,
    )


def covered(task_id: str, status: Status = Status.CLEAN, reason: str = "", check: str = "call-schema") -> Coverage:
    return Coverage(task_id=task_id, check=check, status=status, reason=reason)


def test_the_shipped_policy_drops_what_is_confirmed_and_moves_the_score() -> None:
    findings = [
        finding("1", "a", "b"),
        finding("2", "b", tier=Tier.SUSPECTED),
        finding("3", "c", severity=Severity.MAY_AFFECT_SCORE),
        finding("4", "d", tier=Tier.SIGNAL),
        finding("5", "e", severity=Severity.COSMETIC),
        finding("6", "f", tier=Tier.SUSPECTED),
    ]
    ids = list("abcdefg")
    decisions = {
        d.task_id: d for d in decide(load_policy(), ids, findings, CoverageTable.of(covered(i) for i in ids), DECIDING)
    }
    assert {i: d.action for i, d in decisions.items()} == {
        "a": "drop", "b": "drop", "c": "review", "d": "keep", "e": "keep", "f": "review", "g": "keep",
    }  # fmt: skip
    assert decisions["b"].finding_ids == ("1",)
    assert decisions["g"].reasons == (
        "clean by 1 of 1 deciding checks that could run (schema 1); 1 of 1 checks ran, none found a flaw",
    )
    assert all(decision.reasons for decision in decisions.values())


def test_an_unfinished_check_is_never_clean() -> None:
    rows = [covered("a", Status.ERROR), covered("b", Status.NOT_CHECKED, "nothing to compare")]
    first, second = decide(load_policy(), ["a", "b"], [], CoverageTable.of(rows), DECIDING)
    assert first.action == "review"
    assert "call-schema ended in an error" in first.reasons[0]
    assert second.action == "unchecked"
    assert second.reasons == (
        "no deciding check could run (schema: nothing to compare); 0 of 1 checks ran, none found a flaw",
    )


def test_a_persons_decision_beats_every_rule() -> None:
    override = Override(action="keep", reason="the user allows both", by="M. Maintainer")
    policy = load_policy().model_copy(update={"overrides": {"a": override}})
    (decision,) = decide(policy, ["a"], [finding("1", "a")], CoverageTable.of([covered("a")]), DECIDING)
    assert decision.action == "keep"
    assert decision.reasons == ("decided by M. Maintainer: the user allows both",)
    assert decision.finding_ids == ("1",)


def test_the_first_matching_rule_counts() -> None:
    rules = (DecisionRule(action="keep", check="call-schema"), DecisionRule(action="drop"))
    policy = Policy(version="t", rules=rules)
    assert policy.action_for(finding("1", "a"), "a") == "keep"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("version: '1'\nrules: [{action: burn}]", "rules/0/action"),
        ("version: '1'\nrules: []\ncolour: red", "colour"),
        ("rules: [", "not valid YAML"),
    ],
)
def test_a_wrong_policy_is_refused_with_the_place(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(text)
    with pytest.raises(PolicyError, match=message):
        load_policy(file)


def test_a_shared_cause_is_a_ticket_and_counts_only_where_it_decides_a_recorded_run() -> None:
    findings = [
        finding("1", "a", "b", level=Level.EVALUATOR, decides=("b",)),
        finding("2", "c", "a", level=Level.ENVIRONMENT, severity=Severity.MAY_AFFECT_SCORE),
        finding("3", "c", level=Level.SUITE, tier=Tier.SIGNAL),
    ]
    policy = load_policy()
    a, b, c = decide(policy, list("abc"), findings, CoverageTable.of(covered(i) for i in "abc"), DECIDING)
    assert (a.action, b.action, c.action) == ("keep", "drop", "keep")
    assert a.reasons[0].endswith("; 2 shared causes left to tickets")
    assert c.reasons[0].endswith("; 1 shared cause left to tickets, 1 finding that the policy accepts")
    assert [policy.is_ticket(found) for found in findings] == [True, True, False]


def test_a_user_can_choose_otherwise_by_a_rule() -> None:
    rules = (DecisionRule(action="review", level=Level.EVALUATOR), DecisionRule(action="keep", decides=False))
    policy = Policy(version="t", rules=rules)
    assert policy.action_for(finding("1", "a", level=Level.EVALUATOR), "a") == "review"
    assert policy.action_for(finding("1", "a", level=Level.SUITE), "a") == "keep"
    assert DecisionRule.model_validate({"action": "ticket", "level": ["suite", "task"]}).level == (
        Level.SUITE,
        Level.TASK,
    )
    assert not policy.is_ticket(finding("1", "a", level=Level.SUITE)), "what the policy accepts is no ticket"


def test_a_clean_result_says_what_it_rests_on() -> None:
    kinds: dict[str, DecidingKind] = {"call-schema": "schema", "gold-fails": "execution", "probe-passes": "execution"}
    rows = [
        covered("a"),
        covered("a", check="gold-fails"),
        covered("a", Status.NOT_CHECKED, "no path", check="probe-passes"),
        covered("a", check="damaged-text"),
        *(covered("b", Status.NOT_CHECKED, "no tools", check=check) for check in kinds),
        covered("b", check="damaged-text"),
    ]
    a, b = decide(load_policy(), ["a", "b"], [], CoverageTable.of(rows), kinds)
    assert (a.action, a.deciding_clean, a.deciding_ran, a.rests_on) == ("keep", 2, 2, ("schema", "execution"))
    assert a.reasons[0].startswith("clean by 2 of 2 deciding checks that could run (schema 1, execution 1); 3 of 4")
    assert (b.action, b.deciding_ran) == ("unchecked", 0)
    assert b.reasons[0].startswith("no deciding check could run (schema: no tools; execution: no tools)")
