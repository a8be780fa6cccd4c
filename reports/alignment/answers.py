"""The answers of an audit, a panel or one judge on each task, in one form."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from agenthard.audit.coverage import CoverageTable
from agenthard.audit.decisions.policy import Action, Decision, Policy, decide
from agenthard.audit.judge.aggregate.panel import PanelVerdict
from agenthard.audit.judge.verdict import CheckedVerdict
from agenthard.taxonomy.finding import Finding, Status
from agenthard.taxonomy.record import Record

JUDGE_CHECK = "judge"
"""Check id of a judge's findings and coverage."""

Outcome = Literal["flagged", "clean", "undecided", "error"]
"""undecided: it abstained, or could not tell; error: it failed. Neither counts as flagged or as clean."""


class Answer(Record):
    """The answer on one task."""

    outcome: Outcome
    """Flagged, clean, or no verdict."""
    categories: tuple[str, ...] = ()
    """Categories of the flaws it was flagged for, sorted."""
    probability: float | None = None
    """Probability of a flaw, when the judge gives one."""
    reason: str = ""
    """First reason of a flag, or why the verdict is missing."""

    @property
    def flagged(self) -> bool | None:
        """True or False; None without a verdict."""
        return {"flagged": True, "clean": False}.get(self.outcome)


class Answers(Record):
    """All answers of one way of flagging."""

    name: str
    """What tables call it."""
    kind: Literal["audit", "judge", "baseline"]
    """Whether it comes from rules and judge together, from a judge alone, or serves as a baseline."""
    by_task: dict[str, Answer]
    """Answers by task id; an absent task was not asked about."""

    def named(self, name: str) -> "Answers":
        """Return the same answers under another name."""
        return self.model_copy(update={"name": name})

    def flags_undecided(self, name: str) -> "Answers":
        """Return the same answers with the undecided tasks flagged, because they go to review as well."""
        as_flag = {"outcome": "flagged"}
        by_task = {k: v.model_copy(update=as_flag) if v.outcome == "undecided" else v for k, v in self.by_task.items()}
        return self.model_copy(update={"name": name, "by_task": by_task})


def audit_answers(
    name: str,
    decisions: Sequence[Decision],
    findings: Sequence[Finding],
    coverage: CoverageTable,
    actions: Iterable[Action] = ("drop", "review"),
) -> Answers:
    """Derive the answers from an audit's decisions.

    Args:
        name: what tables call it.
        decisions: one per task.
        findings: the findings that decisions name.
        coverage: what each check did; a task that is not flagged, and on which a check failed, is an error.
        actions: decisions that flag a task. A review caused only by an error flags nothing.
    """
    failed: dict[str, str] = {}
    for task in coverage.tasks_having(Status.ERROR):
        row = next(row for row in coverage.of_task(task) if row.status is Status.ERROR)
        failed[task] = f"{row.check}: {row.reason}"
    category = {finding.id: finding.category for finding in findings}
    wanted = set(actions)
    by_task = {}
    for decision in decisions:
        task, reason = decision.task_id, decision.reasons[0]
        if decision.action in wanted and (decision.finding_ids or task not in failed):
            named = {category[identity] for identity in decision.finding_ids if identity in category}
            by_task[task] = Answer(outcome="flagged", categories=tuple(sorted(named)), reason=reason)
        elif task in failed:
            by_task[task] = Answer(outcome="error", reason=failed[task])
        else:
            by_task[task] = Answer(outcome="clean")
    return Answers(name=name, kind="audit", by_task=by_task)


def lint_answers(
    name: str, policy: Policy, task_ids: Sequence[str], findings: Sequence[Finding], coverage: CoverageTable
) -> Answers:
    """Decide again without the judge's findings and without the overrides of people.

    Args:
        name: what tables call it.
        policy: policy of the audit.
        task_ids: all tasks.
        findings: all findings.
        coverage: what each check did.
    """
    own = [finding for finding in findings if finding.check != JUDGE_CHECK]
    rows = coverage.without(JUDGE_CHECK)
    decisions = list(decide(policy.model_copy(update={"overrides": {}}), task_ids, own, rows, {}))
    return audit_answers(name, decisions, own, rows).model_copy(update={"kind": "baseline"})


def panel_answers(name: str, verdicts: Iterable[PanelVerdict]) -> Answers:
    """Read the answers of a panel; issues that a rebuttal overturned name no category."""
    outcomes: Mapping[str, Outcome] = {"flawed": "flagged", "not_flawed": "clean", "uncertain": "undecided"}
    by_task = {}
    for verdict in verdicts:
        standing = [issue for issue in verdict.issues if issue.rebuttal != "overturned"]
        by_task[verdict.task_id] = Answer(
            outcome=outcomes.get(verdict.outcome, "error"),
            categories=tuple(sorted({issue.category for issue in standing})),
            probability=verdict.probability,
            reason=verdict.reason or (standing[0].best.issue.claim if standing else ""),
        )
    return Answers(name=name, kind="judge", by_task=by_task)


def unchecked_answers(verdicts: Iterable[CheckedVerdict]) -> list[Answers]:
    """Read each judge's raw answer, before its quotes were checked: an issue with failed evidence flags as well.

    This is the usual judge with one prompt and one answer.

    Args:
        verdicts: verdicts of any number of judges; repetitions are left out.
    """
    found = verdict_answers(
        verdict.model_copy(
            update={
                "outcome": "flawed" if verdict.issues else verdict.outcome,
                "issues": tuple(issue.model_copy(update={"standing": "verified"}) for issue in verdict.issues),
            }
        )
        for verdict in verdicts
        if not verdict.sample
    )
    return [a.model_copy(update={"name": f"{a.name}, evidence unchecked", "kind": "baseline"}) for a in found]


def verdict_answers(verdicts: Iterable[CheckedVerdict]) -> list[Answers]:
    """Read the answers of each judge and sample by itself, in order of their names.

    Args:
        verdicts: verdicts of any number of judges.
    """
    outcomes: Mapping[str, Outcome] = {"flawed": "flagged", "not_flawed": "clean", "cannot_tell": "undecided"}
    found: dict[tuple[str, int], dict[str, Answer]] = {}
    for verdict in verdicts:
        standing = verdict.standing
        found.setdefault((verdict.judge, verdict.sample), {})[verdict.task_id] = Answer(
            outcome=outcomes.get(verdict.outcome, "error"),
            categories=tuple(sorted({checked.issue.category for checked in standing})),
            reason=verdict.reason or (standing[0].issue.claim if standing else ""),
        )
    several = {judge for judge, sample in found if sample}
    return [
        Answers(name=f"{judge}{f' #{sample + 1}' if judge in several else ''}", kind="judge", by_task=by_task)
        for (judge, sample), by_task in sorted(found.items())
    ]
