from typing import Any

import pytest

from agenthard.audit.coverage import CoverageTable
from agenthard.audit.decisions.policy import Decision, load_policy
from agenthard.audit.judge.aggregate.panel import PanelIssue, PanelVerdict
from agenthard.audit.judge.verdict import CheckedIssue, CheckedVerdict, Issue
from agenthard.reports.alignment.answers import (
    audit_answers,
    lint_answers,
    panel_answers,
    unchecked_answers,
    verdict_answers,
)
from agenthard.taxonomy import Evidence, Finding, Severity, Tier
from agenthard.taxonomy.finding import Coverage, Status


def finding(identity: str, task: str, check: str = "lint-check", tier: Tier = Tier.CONFIRMED) -> Finding:
    return Finding(
        id=identity, check=check, check_version="1", category="too-lenient", severity=Severity.AFFECTS_SCORE, tier=tier,
        claim="c", task_ids=(task,), evidence=(Evidence(task_id=task, pointer="/id", quote=task),),
    )  # fmt: skip


def decision(task: str, action: Any, *ids: str) -> Decision:
    return Decision(task_id=task, action=action, reasons=(f"why {task}",), finding_ids=ids)


FAILED = CoverageTable.of(Coverage(task_id=t, check="c", status=Status.ERROR, reason="timed out") for t in ("b", "e"))
DECISIONS = [
    decision("a", "drop", "1"), decision("b", "review"), decision("c", "keep"), decision("d", "review", "2"),
    decision("e", "review", "3"),
]  # fmt: skip
FINDINGS = [finding("1", "a"), finding("2", "d"), finding("3", "e")]


@pytest.mark.parametrize(
    ("actions", "outcomes"),
    [
        (("drop", "review"), ["flagged", "error", "clean", "flagged", "flagged"]),
        (("drop",), ["flagged", "error", "clean", "clean", "error"]),
    ],
)
def test_an_error_is_never_a_flag_and_never_clean(actions: Any, outcomes: list[str]) -> None:
    found = audit_answers("audit", DECISIONS, FINDINGS, FAILED, actions).by_task
    assert [found[task].outcome for task in "abcde"] == outcomes
    assert found["a"].categories == ("too-lenient",)
    assert found["b"].reason == "c: timed out"


def test_lint_leaves_the_judge_and_its_errors_out() -> None:
    findings = [finding("1", "a"), finding("2", "b", "judge")]
    coverage = CoverageTable.of([Coverage(task_id="c", check="judge", status=Status.ERROR, reason="refused")])
    policy = load_policy()
    found = lint_answers("lint", policy, ["a", "b", "c"], findings, coverage)
    assert found.kind == "baseline"
    assert [found.by_task[task].outcome for task in "abc"] == ["flagged", "clean", "clean"]


def issue(category: str, standing: Any = "verified") -> CheckedIssue:
    said = Issue(
        category=category, claim=f"{category}!", reasoning_summary="", severity=Severity.AFFECTS_SCORE, confidence=1,
        evidence=(), fix="", patch=(),
    )  # fmt: skip
    return CheckedIssue(issue=said, standing=standing, quotes=())


def test_a_panel_abstains_and_its_overturned_issues_name_nothing() -> None:
    def panel(task: str, outcome: Any, *issues: PanelIssue) -> PanelVerdict:
        chance = None if outcome == "error" else 0.5
        return PanelVerdict(task_id=task, outcome=outcome, probability=chance, answered=1, asked=2, issues=issues)

    kept, gone = (
        PanelIssue(category=c, votes=1, of=1, best=issue(c), judges=("j",), rebuttal=r)
        for c, r in (("too-strict", "upheld"), ("too-lenient", "overturned"))
    )
    verdicts = [
        panel("a", "flawed", kept, gone),
        panel("b", "uncertain"),
        panel("c", "error"),
        panel("d", "not_flawed"),
    ]
    found = panel_answers("judge", verdicts)
    assert [answer.outcome for answer in found.by_task.values()] == ["flagged", "undecided", "error", "clean"]
    assert (found.by_task["a"].categories, found.by_task["a"].reason) == (("too-strict",), "too-strict!")
    assert [answer.flagged for answer in found.by_task.values()] == [True, None, None, False]
    outcomes = [answer.outcome for answer in found.flags_undecided("r").by_task.values()]
    assert outcomes == ["flagged", "flagged", "error", "clean"]


def test_each_judge_and_repetition_stands_by_itself() -> None:
    verdicts = [
        CheckedVerdict(
            task_id="a", judge="weak", outcome="flawed", issues=(issue("too-strict"), issue("x", "unverified"))
        ),
        CheckedVerdict(task_id="a", judge="weak", sample=1, outcome="cannot_tell"),
        CheckedVerdict(task_id="a", judge="strong", outcome="error", reason="refusal: no"),
    ]
    found = verdict_answers(verdicts)
    assert [answers.name for answers in found] == ["strong", "weak #1", "weak #2"]
    assert [answers.by_task["a"].outcome for answers in found] == ["error", "flagged", "undecided"]
    assert found[1].by_task["a"].categories == ("too-strict",)


def test_a_judge_as_it_said_needs_no_evidence() -> None:
    verdicts = [
        CheckedVerdict(task_id="a", judge="j", outcome="cannot_tell", issues=(issue("too-strict", "unverified"),)),
        CheckedVerdict(task_id="b", judge="j", outcome="cannot_tell"),
        CheckedVerdict(task_id="c", judge="j", outcome="error", reason="refusal"),
        CheckedVerdict(task_id="a", judge="j", sample=1, outcome="not_flawed"),
    ]
    (found,) = unchecked_answers(verdicts)
    assert (found.name, found.kind) == ("j, evidence unchecked", "baseline")
    assert [answer.outcome for answer in found.by_task.values()] == ["flagged", "undecided", "error"]
    assert found.by_task["a"].categories == ("too-strict",)
