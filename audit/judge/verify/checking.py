"""From what a judge said to what is left of it: quotes searched, issues settled, patches checked again."""

from collections.abc import Sequence

from agenthard.audit.judge.context.material import Material
from agenthard.audit.judge.judged import Judged
from agenthard.audit.judge.verify.checked import CheckedIssue, CheckedVerdict
from agenthard.audit.judge.verify.gate import check_evidence
from agenthard.audit.judge.verify.patching import recheck
from agenthard.audit.judge.verify.settling import settle
from agenthard.audit.repair.recheck import TaskChecker, TaskState
from agenthard.taxonomy.finding import Coverage, Finding
from agenthard.taxonomy.task import AgentTask


def check_verdict(
    judged: Judged,
    task: AgentTask,
    material: Material,
    findings: Sequence[Finding] = (),
    coverage: Sequence[Coverage] = (),
    checker: TaskChecker | None = None,
) -> CheckedVerdict:
    """Look at a judge's verdict with code.

    An error stays an error. A flawed verdict of whose issues none stands is cannot_tell: the judge may be right, and
    showed nothing.

    Args:
        judged: the question and its outcome.
        task: the task.
        material: what the judge was shown.
        findings: what the audit found.
        coverage: what each check did.
        checker: re-checks patches; None leaves every patch out, with that as its reason.

    Raises:
        ValueError: The verdict, the material and the task are not of one task.
    """
    if not judged.task_id == task.id == material.task_id:
        raise ValueError(f"verdict on {judged.task_id}, material of {material.task_id}, task {task.id}: not one task")
    if judged.verdict is None:
        error = f"{judged.error.kind}: {judged.error.message}" if judged.error else ""
        return _verdict(judged, "error", (), error)
    settled = [
        settle(task, issue, findings, coverage)
        for issue in check_evidence(judged.verdict, material, task, judged.lookups)
    ]
    issues = tuple(_with_patches(task, settled, checker))
    if judged.verdict.outcome == "flawed" and not any(i.standing in ("verified", "proved") for i in issues):
        reasons = "; ".join(f"{i.issue.category} is {i.standing}: {i.reason}" for i in issues)
        return _verdict(judged, "cannot_tell", issues, f"none of its issues stands: {reasons}")
    return _verdict(judged, judged.verdict.outcome, issues, judged.verdict.because)


def _verdict(judged: Judged, outcome: str, issues: tuple[CheckedIssue, ...], reason: str) -> CheckedVerdict:
    return CheckedVerdict.model_validate(
        {
            "task_id": judged.task_id,
            "judge": judged.judge,
            "sample": judged.sample,
            "outcome": outcome,
            "issues": issues,
            "reason": reason,
        }
    )


def _with_patches(
    task: AgentTask, issues: Sequence[CheckedIssue], checker: TaskChecker | None
) -> Sequence[CheckedIssue]:
    if checker is None:
        return [_unchecked(issue) if issue.issue.patch else issue for issue in issues]
    before: TaskState | None = None
    if any(issue.issue.patch and issue.standing in ("verified", "proved") for issue in issues):
        before = checker.check(task)
    return [recheck(task, issue, checker, before) for issue in issues]


def _unchecked(issue: CheckedIssue) -> CheckedIssue:
    return issue.model_copy(update={"patch_reason": "patches were not checked again"})
