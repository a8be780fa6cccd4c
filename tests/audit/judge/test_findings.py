"""What a panel says, as findings and coverage beside those of all checks."""

from typing import Any

import pytest

from agenthard.audit.conclude import conclude
from agenthard.audit.coverage import CoverageTable
from agenthard.audit.decisions.policy import decide, load_policy
from agenthard.audit.judge.aggregate.findings import JudgeCheck, judge_results, to_findings
from agenthard.audit.judge.aggregate.panel import PanelVerdict, combine
from agenthard.audit.judge.context.passages import gather
from agenthard.audit.judge.verdict import CheckedVerdict
from agenthard.audit.judge.verify.verification import check_verdict
from agenthard.taxonomy import AgentTask, Severity, Status, Tier
from tests.audit.judge.saying import call_at, flawed, judged, says
from tests.audit.judge.verdicts import panel
from tests.library import call, desk_task, lend, library_desk

pytestmark = pytest.mark.usefixtures(library_desk.__name__)

SAID = "/user/turns/0/0/content"
WRONG = says("incorrect-tool-call", "b8 is lent.", (SAID, "Lend b7"), (call_at(0), "b8"), fix="Lend b7.")
IDLE = says("redundant-tool-call", "It is overwritten.", (call_at(1), '"one"'))


def task(number: int = 0, **changes: Any) -> AgentTask:
    calls = (lend("b8"), call("leave_note", text="one"), call("leave_note", text="two"))
    return desk_task(*calls, says="Lend b7 to ada.", id=f"lib/{number}", **changes)


def word(subject: AgentTask, *issues: Any, **changes: Any) -> PanelVerdict:
    """The word of a panel of one judge, with changes."""
    verdict: CheckedVerdict = check_verdict(judged(subject, flawed(*issues)), subject, gather(subject))
    return combine([verdict], panel("m")).model_copy(update=changes)


def test_what_is_verified_is_suspected_and_what_is_proved_confirmed() -> None:
    findings, row = to_findings(task(), word(task(), WRONG, IDLE))
    by_category = {finding.category: finding for finding in findings}
    wrong, idle = by_category["incorrect-tool-call"], by_category["redundant-tool-call"]
    assert (wrong.tier, wrong.severity, wrong.claim, wrong.fix) == (
        Tier.SUSPECTED,
        Severity.AFFECTS_SCORE,
        "b8 is lent.",
        "Lend b7.",
    )
    assert [(item.pointer, item.quote) for item in wrong.evidence] == [(SAID, "Lend b7"), (call_at(0), "b8")]
    assert wrong.measures == {"votes": 1, "of": 1, "confidence": 0.9, "asked": 1, "probability": 1.0}
    assert (idle.tier, idle.severity) == (Tier.CONFIRMED, Severity.COSMETIC)
    assert "[proved: without leave_note a run gets full score" in idle.why
    assert (row.status, row.check) == (Status.FLAGGED, "judge")
    again, _ = to_findings(task(), word(task(), IDLE, WRONG))
    assert {finding.id for finding in again} == {finding.id for finding in findings}


@pytest.mark.parametrize(
    ("changes", "tier"),
    [
        ({"outcome": "flawed"}, Tier.SUSPECTED),
        ({"outcome": "uncertain", "reason": "within the band"}, Tier.SIGNAL),
        ({"outcome": "not_flawed"}, None),
    ],
)
def test_how_sure_the_panel_is(changes: dict[str, Any], tier: Tier | None) -> None:
    findings, row = to_findings(task(), word(task(), WRONG, **changes))
    assert [finding.tier for finding in findings] == ([tier] if tier else [])
    assert row.status is (Status.FLAGGED if tier else Status.CLEAN)


def test_what_a_defence_overturns_is_a_signal_unless_it_is_proved() -> None:
    verdict = word(task(), WRONG, IDLE)
    told = {"rebuttal": "overturned", "rebuttal_reason": "b8 is a copy of b7"}
    verdict = verdict.model_copy(update={"issues": tuple(i.model_copy(update=told) for i in verdict.issues)})
    findings, _ = to_findings(task(), verdict)
    assert {finding.category: finding.tier for finding in findings} == {
        "incorrect-tool-call": Tier.SIGNAL,
        "redundant-tool-call": Tier.CONFIRMED,
    }
    assert "[a defence of the task: overturned: b8 is a copy of b7]" in findings[0].why + findings[1].why


@pytest.mark.parametrize(
    ("changes", "status", "reason"),
    [
        ({"outcome": "not_flawed"}, Status.CLEAN, ""),
        ({"outcome": "not_flawed", "answered": 2}, Status.CLEAN, "2 of 3 verdicts"),
        (
            {"outcome": "uncertain", "reason": "none tells"},
            Status.NOT_CHECKED,
            "3 of 3 verdicts, and they do not tell: none tells",
        ),
        ({"outcome": "error", "answered": 0, "reason": "refusal"}, Status.ERROR, "0 of 3 verdicts: refusal"),
    ],
)
def test_coverage(changes: dict[str, Any], status: Status, reason: str) -> None:
    values = {"task_id": "lib/0", "probability": None, "answered": 3, "asked": 3}
    findings, row = to_findings(task(), PanelVerdict(**{**values, **changes}))
    assert (findings, row.status, row.reason) == ([], status, reason)


def test_a_verdict_on_another_version_of_the_task_is_an_error() -> None:
    old = word(task(), WRONG)
    changed = task().model_copy(update={"user": desk_task(says="Lend b8 to ada.").user})
    findings, row = to_findings(changed, old)
    assert (findings, row.status) == ([], Status.ERROR)
    assert row.reason.startswith("the verdict is on another version of the task: the quote is not at")
    with pytest.raises(ValueError, match="a verdict on lib/0 says nothing of lib/1"):
        to_findings(task(1), old)


def test_variants_share_a_finding_where_their_quotes_are_the_same() -> None:
    tasks = [task(number, cluster="base") for number in (1, 2)] + [task(3, cluster="other"), task(4)]
    panels = {each.id: word(each, WRONG) for each in tasks[:3]}
    findings, coverage = conclude("library", [t.id for t in tasks], [judge_results(tasks, panels)], [JudgeCheck()])
    assert [finding.task_ids for finding in findings] == [("lib/1", "lib/2"), ("lib/3",)]
    assert [row.status.value for row in coverage] == ["flagged", "flagged", "flagged", "not_checked"]
    alone, _ = to_findings(task(1, cluster="base"), panels["lib/1"])
    assert alone[0].id == findings[0].id


@pytest.mark.parametrize(
    ("panels", "action"),
    [
        (lambda t: word(t, WRONG), "review"),
        (lambda t: word(t, WRONG, outcome="uncertain", reason="band"), "review"),
        (lambda t: word(t, IDLE), "keep"),
        (lambda t: PanelVerdict(task_id=t.id, outcome="error", probability=None, answered=0, asked=1), "review"),
    ],
)
def test_what_the_policy_makes_of_it(panels: Any, action: str) -> None:
    subject = task()
    findings, row = to_findings(subject, panels(subject))
    [decision] = decide(load_policy(), [subject.id], findings, CoverageTable.of([row]), {"judge": "judge"})
    assert decision.action == action
