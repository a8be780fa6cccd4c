"""What people say decides: on tasks, on findings, when they disagree."""

from datetime import UTC, datetime

import pytest

from agenthard.audit.coverage import CoverageTable
from agenthard.audit.decisions.policy import Decision, Override, Policy, decide, load_policy, require_overrides
from agenthard.audit.decisions.verdicts import (
    PersonVerdict,
    TargetVerdict,
    VerdictError,
    Verdicts,
    finding_content,
    require_ids,
)
from agenthard.taxonomy.finding import Coverage, Evidence, Finding, Level, NativeText, Severity, Status, Tier

POLICY = load_policy()


def said(**answers: str) -> TargetVerdict:
    at = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)
    return TargetVerdict(
        answers=tuple(PersonVerdict(by=by, at=at, answer=answer, reason="because") for by, answer in answers.items())
    )


def adjudicated(answer: str, **answers: str) -> TargetVerdict:
    final = PersonVerdict(by="cem", at=datetime(2026, 5, 6, tzinfo=UTC), answer=answer, reason="read twice")
    return said(**answers).model_copy(update={"final": final})


def finding(
    tier: Tier = Tier.SUSPECTED,
    severity: Severity = Severity.AFFECTS_SCORE,
    level: Level = Level.TASK,
    check: str = "call-schema",
) -> Finding:
    return Finding(
        id="f1",
        check=check,
        check_version="1",
        category="malformed-tool-call",
        severity=severity,
        tier=tier,
        level=level,
        claim="It is wrong",
        task_ids=("a", "b"),
        evidence=(Evidence(task_id="a", pointer="/user", quote="x"),),
    )


def decided(found: Finding, verdicts: Verdicts, policy: Policy = POLICY, status: Status = Status.CLEAN) -> Decision:
    rows = [Coverage(task_id=task, check="call-schema", status=status, reason="r") for task in ("a", "b")]
    return decide(policy, ["a", "b"], [found], CoverageTable.of(rows), {"call-schema": "schema"}, verdicts)[0]


@pytest.mark.parametrize(
    ("verdict", "action", "reason"),
    [
        (said(ann="yes"), "drop", "decided by people: flawed: ann (2026-05-04: because)"),
        (said(ann="no", bob="no"), "keep", "ann (2026-05-04: because), bob (2026-05-04: because)"),
        (said(ann="cannot_tell"), "review", "decided by people: cannot tell: ann"),
        (said(ann="yes", bob="no"), "review", "disputed: ann says flawed (2026-05-04: because), bob says not flawed"),
        (
            adjudicated("no", ann="yes", bob="no"),
            "keep",
            "adjudicated by cem (2026-05-06: read twice); ann said",
        ),
    ],
)
@pytest.mark.parametrize("tier", [Tier.CONFIRMED, Tier.SIGNAL])
def test_a_verdict_on_a_task_decides_it(verdict: TargetVerdict, action: str, reason: str, tier: Tier) -> None:
    found = decided(finding(tier), Verdicts(tasks={"a": verdict}))
    assert found.action == action and reason in found.reasons[0] and found.finding_ids == ("f1",)


def test_a_verdict_beats_an_override_and_a_failed_check() -> None:
    policy = POLICY.model_copy(update={"overrides": {"a": Override(action="drop", reason="old", by="zoe")}})
    assert decided(finding(), Verdicts(), policy).action == "drop"
    assert decided(finding(), Verdicts(tasks={"a": said(ann="no")}), policy, Status.ERROR).action == "keep"


@pytest.mark.parametrize(
    ("found", "answer", "action"),
    [
        (finding(), "true", "drop"),
        (finding(), "false", "keep"),
        (finding(Tier.CONFIRMED), "arguable", "review"),
        (finding(Tier.CONFIRMED), "false", "keep"),
        (finding(Tier.SIGNAL), "true", "drop"),
        (finding(Tier.SIGNAL), "arguable", "review"),
        (finding(Tier.SIGNAL, check="all-fail"), "true", "drop"),
        (finding(Tier.SIGNAL, check="gold-order"), "true", "keep"),
        (finding(severity=Severity.MAY_AFFECT_SCORE), "true", "review"),
        (finding(severity=Severity.COSMETIC), "true", "keep"),
        (finding(severity=Severity.COSMETIC), "arguable", "keep"),
        (finding(level=Level.ENVIRONMENT), "true", "keep"),
        (finding(level=Level.ENVIRONMENT), "arguable", "keep"),
    ],
)
def test_a_verdict_on_a_finding_decides_what_it_means(found: Finding, answer: str, action: str) -> None:
    decision = decided(found, Verdicts(findings={"f1": said(ann=answer)}))
    assert decision.action == action
    if action != "keep":
        assert "ann (2026-05-04: because)" in decision.reasons[0]


def test_a_finding_that_people_disagree_about_goes_to_review() -> None:
    decision = decided(finding(Tier.CONFIRMED), Verdicts(findings={"f1": said(ann="true", bob="false")}))
    assert decision.action == "review"
    assert "disputed: ann says correct (2026-05-04: because), bob says not a flaw" in decision.reasons[0]


def test_the_reason_of_a_reviewer_stays_one_short_line() -> None:
    one = PersonVerdict(by="ann", at=datetime(2026, 5, 4, tzinfo=UTC), answer="no", reason="a\n\n b\t" + "x" * 900)
    assert one.when_and_why.startswith("2026-05-04: a b xxx") and len(one.when_and_why) < 320


def test_unknown_ids_are_refused_with_the_nearest_one() -> None:
    policy = POLICY.model_copy(update={"overrides": {"parcels/1l": Override(action="drop", reason="r", by="zoe")}})
    with pytest.raises(VerdictError, match=r"no task 'parcels/1l'; did you mean 'parcels/11'\?"):
        require_overrides(policy, ["parcels/11", "library/4"])
    with pytest.raises(VerdictError, match=r"no finding 'zzz' \(and 1 more unknown ids\)"):
        require_ids("finding", ["zzz", "yyy"], ["abc"], "here")
    require_ids("finding", ["abc"], ["abc"], "here")


def test_content_changes_with_the_quoted_bytes_and_not_with_the_line() -> None:
    found = finding()

    def quoted(text: str, line: int) -> str:
        native = NativeText(file="tasks.jsonl", line=line, start=line * 100, end=line * 100 + 5, text=text)
        item = found.evidence[0].model_copy(update={"native": native})
        return finding_content(found.model_copy(update={"evidence": (item,)}))

    assert quoted("hello", 1) == quoted("hello", 9) != quoted("help!", 1)
    assert finding_content(found) == finding_content(found.model_copy(update={"claim": "Other words"}))
