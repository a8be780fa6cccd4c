from pathlib import Path

import pytest

from audit.decisions.policy import Override, Policy, PolicyError, Rule, decide, load_policy
from audit.detectors.base import DecidingKind
from taxonomy import Coverage, Evidence, Finding, Severity, Status, Tier

DECIDING: dict[str, DecidingKind] = {"call-schema": "schema"}


def finding(
    identity: str, *tasks: str, tier: Tier = Tier.CONFIRMED, severity: Severity = Severity.AFFECTS_SCORE
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
    )


def covered(task_id: str, status: Status = Status.CLEAN) -> Coverage:
    return Coverage(task_id=task_id, check="call-schema", status=status)


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
    decisions = {d.task_id: d for d in decide(load_policy(), ids, findings, [covered(i) for i in ids], DECIDING)}
    assert {i: d.action for i, d in decisions.items()} == {
        "a": "drop", "b": "drop", "c": "review", "d": "keep", "e": "keep", "f": "review", "g": "keep",
    }  # fmt: skip
    assert decisions["b"].finding_ids == ("1",)
    assert decisions["g"].reasons == ("1 of 1 checks ran, none found a flaw",)
    assert all(decision.reasons for decision in decisions.values())


def test_an_unfinished_check_is_never_clean() -> None:
    rows = [covered("a", Status.ERROR), covered("b", Status.NOT_CHECKED)]
    first, second = decide(load_policy(), ["a", "b"], [], rows, DECIDING)
    assert first.action == "review"
    assert "call-schema ended in an error" in first.reasons[0]
    assert second.reasons[0].startswith("0 of 1 checks ran")


def test_a_persons_decision_beats_every_rule() -> None:
    override = Override(action="keep", reason="the user allows both", by="M. Maintainer")
    policy = load_policy().model_copy(update={"overrides": {"a": override}})
    (decision,) = decide(policy, ["a"], [finding("1", "a")], [covered("a")], DECIDING)
    assert decision.action == "keep"
    assert decision.reasons == ("decided by M. Maintainer: the user allows both",)
    assert decision.finding_ids == ("1",)


def test_the_first_matching_rule_counts() -> None:
    rules = (Rule(action="keep", check="call-schema"), Rule(action="drop"))
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
