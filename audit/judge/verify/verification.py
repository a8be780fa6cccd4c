"""Verify a verdict with code: find every quote, let checks and execution decide issues, check patches again.

An issue whose evidence is found is proved or refuted by the first rule of its category that can decide it. Otherwise it
stays verified, with the reason why it is not settled. A rule decides only what it observed: an opinion about what the
user meant is neither refuted nor proved by a replay.

========================  =====================================================  =====================================
category                  proved                                                 refuted
========================  =====================================================  =====================================
any                       a confirmed finding of the audit in this category
                          quotes the same place
malformed-tool-call       `call-schema` flags the cited call                     the check ran and flags nothing of the
                                                                                 call, which runs; only where the claim
                                                                                 is about the schema, and no prose of
                                                                                 the documentation is quoted
redundant-tool-call       replayed without the cited call: the evaluator         it is a read that is not scored; a
                          passes, the state is the same, no later call lacks     later call has a value that only its
                          a value; or `gold-changes-nothing` flags it            response tells; or it is said to have
                                                                                 no effect, and the state differs
                                                                                 without it. Never where it is said
                                                                                 that no one wants the call
incorrect-tool-call       `gold-fails` flags the cited call                      it says that the call fails, and the
                                                                                 call succeeds in the replay
insufficient-toolset      `call-schema`: the gold names a tool not offered       it names a missing tool: it is offered
environment-drift         `gold-nondeterministic`: two replays differ
unreachable-score         `gold-rejected`: the evaluator rejects the gold        it says so, and the evaluator accepts
too-lenient               it says that doing nothing passes, and the evaluator   it says so, and the evaluator does not
                          passes it; it may affect the score                     pass it, or no call is expected
too-strict                `right-answer-rejected` at the cited place             its patch accepts another answer, and
                                                                                 the evaluator passes that already
========================  =====================================================  =====================================

The severity of what a check proved is that of the check.
"""

from collections.abc import Callable, Sequence

from agenthard.audit.detectors.base import SuiteDetector
from agenthard.audit.detectors.registry import detectors
from agenthard.audit.execution.environment import ExecutionError, UnavailableError
from agenthard.audit.judge.context.material import Material
from agenthard.audit.judge.verdict import CheckedIssue, CheckedVerdict, Judged
from agenthard.audit.judge.verify.evidence import check_evidence, same_place
from agenthard.audit.judge.verify.patches import recheck
from agenthard.audit.judge.verify.readings import carried_out
from agenthard.audit.judge.verify.rules import (
    Case,
    Ruling,
    alternative_passes,
    call_fails,
    doing_nothing,
    gold_accepted,
    named_tool,
    needed,
    schema,
)
from agenthard.audit.repair.recheck import TaskChecker, TaskState
from agenthard.audit.shards import check_shard
from agenthard.taxonomy.finding import Coverage, Finding, Status, Tier
from agenthard.taxonomy.task import AgentTask


def check_verdict(
    judged: Judged,
    task: AgentTask,
    material: Material,
    findings: Sequence[Finding] = (),
    coverage: Sequence[Coverage] = (),
    checker: TaskChecker | None = None,
) -> CheckedVerdict:
    """Verify a judge's verdict with code.

    An error stays an error. A flawed verdict without a verified issue is cannot_tell: the judge may be right, but
    showed no evidence.

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
        carried_out(task, settle(task, issue, findings, coverage))
        for issue in check_evidence(judged.verdict, material, task, judged.lookups)
    ]
    issues = tuple(_with_patches(task, settled, checker))
    if judged.verdict.outcome == "flawed" and not any(i.standing in ("verified", "proved") for i in issues):
        reasons = "; ".join(f"{i.issue.category} is {i.standing}: {i.reason}" for i in issues)
        return _verdict(judged, "cannot_tell", issues, f"none of its issues is verified: {reasons}")
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


Rule = Callable[[Case], Ruling | None]
"""Rules on a case; None when it has nothing to say of it."""

RULES: dict[str, tuple[Rule, ...]] = {
    "malformed-tool-call": (schema,),
    "redundant-tool-call": (needed,),
    "incorrect-tool-call": (call_fails,),
    "insufficient-toolset": (named_tool,),
    "unreachable-score": (gold_accepted,),
    "too-lenient": (doing_nothing,),
    "too-strict": (alternative_passes,),
}


def settle(
    task: AgentTask, issue: CheckedIssue, findings: Sequence[Finding] = (), coverage: Sequence[Coverage] = ()
) -> CheckedIssue:
    """Let checks and execution decide an issue whose evidence is verified.

    Args:
        task: the task.
        issue: an issue after the evidence gate; one that is not verified is returned as it is.
        findings: what the audit found.
        coverage: what each check did.

    Returns:
        The issue, proved or refuted with what was observed, or verified with the reason why it is not settled.
    """
    if issue.standing != "verified":
        return issue
    case = Case(task, issue)
    left_open = []
    for rule in (lambda each: agreement(each, findings, coverage), *RULES.get(issue.issue.category, ())):
        try:
            ruling = rule(case)
        except (UnavailableError, ExecutionError) as error:
            ruling = Ruling("open", str(error))
        if ruling is None:
            continue
        if ruling.standing != "open":
            known = {"severity": ruling.severity, "proof": ruling.proof}
            return issue.model_copy(update={"standing": ruling.standing, "reason": ruling.reason, **known})
        left_open.append(ruling.reason)
    return issue.model_copy(update={"reason": f"not settled: {left_open[-1]}"}) if left_open else issue


DECIDED_BY: dict[str, tuple[str, ...]] = {
    "malformed-tool-call": ("call-schema",),
    "insufficient-toolset": ("call-schema",),
    "incorrect-tool-call": ("gold-fails",),
    "redundant-tool-call": ("gold-changes-nothing",),
    "environment-drift": ("gold-nondeterministic",),
    "unreachable-score": ("gold-rejected",),
    "too-strict": ("right-answer-rejected",),
}
"""Checks that are asked about an issue of a category even when the audit did not run them."""


def agreement(case: Case, findings: Sequence[Finding], coverage: Sequence[Coverage]) -> Ruling | None:
    """Prove an issue that a confirmed check of its category shares: both quote the same place of the same task.

    The check looks at this task again, because a finding that many tasks share quotes only one of them. One that ended
    in an error here is not asked.

    Args:
        case: the issue.
        findings: what the audit found.
        coverage: what each check did.
    """
    task, category = case.task, case.issue.issue.category
    confirmed = [f for f in findings if f.tier is Tier.CONFIRMED and f.category == category and task.id in f.task_ids]
    for finding in confirmed:
        own = [e for e in finding.evidence if e.task_id == task.id and e.trajectory_id is None]
        if own and same_place(own, case.issue):
            said = f"{finding.check} finds it too: {finding.claim}"
            return Ruling("proved", said, finding.severity, finding.proof)
    failed = {row.check for row in coverage if row.task_id == task.id and row.status is Status.ERROR}
    asked = {*DECIDED_BY.get(category, ()), *(finding.check for finding in confirmed)} - failed
    for check in detectors():
        if check.id not in asked or isinstance(check, SuiteDetector):
            continue
        for item in check_shard([task], {}, [check]).hits:
            hit = item.hit
            if (hit.tier or check.tier) is Tier.CONFIRMED and (hit.category or check.category) == category:
                if same_place(hit.evidence, case.issue):
                    said = f"{check.id} finds it too: {hit.claim}"
                    return Ruling("proved", said, hit.severity or check.severity, hit.proof)
    return None
