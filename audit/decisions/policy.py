"""The decision policy: which findings drop a task, which send it to review, and what people have overridden."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np
from pydantic import Field, field_validator

from agenthard.audit.coverage import RAN, CoverageTable
from agenthard.audit.decisions.judging import JudgingRules
from agenthard.audit.decisions.measured_precision import MeasuredPrecision
from agenthard.audit.decisions.support import NO_SUPPORT, Support, support
from agenthard.audit.decisions.verdicts import NO_VERDICTS, Verdicts, require_ids
from agenthard.audit.detectors.base import DecidingKind
from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.finding import Finding, Level, Severity, Status, Tier
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.yaml_text import load_own_yaml, load_record, parse_record

PolicyAction = Literal["keep", "drop", "review"]
RuleAction = PolicyAction | Literal["ticket"]
Action = PolicyAction | Literal["unchecked", "repair"]


class PolicyError(AgentHardError):
    """The policy file cannot be used; the message names the file and the place in it."""

    code = "AH201"
    remedy = "Correct the policy file at the place that the message names, or leave out `--policy` to use the default."


class Decision(Record):
    """The decision on one task, and why."""

    task_id: str
    """Task."""
    action: Action
    """keep, drop, review, or unchecked: no finding against the task, but no deciding check could run on it either.
    repair occurs only in a repaired split, for a task that a re-checked change put back."""
    reasons: tuple[str, ...]
    """One sentence per reason, worst first; never empty."""
    finding_ids: tuple[str, ...] = ()
    """Findings that led to it."""
    deciding_clean: int = 0
    """Deciding checks (schema, execution, judge) that ran on the task and found nothing."""
    deciding_ran: int = 0
    """Deciding checks that could run on the task; with 0, nothing shows that it is sound."""
    rests_on: tuple[DecidingKind, ...] = ()
    """Kinds of the deciding checks that ran."""


class DecisionRule(Record):
    """Findings that match every given field lead to the action. An absent field matches anything."""

    action: RuleAction
    """drop or review a matching task; keep = the finding is accepted as it is; ticket = the cause is one for the
    maintainers of the benchmark, and its tasks are kept."""
    check: str | None = None
    """Id of the detector."""
    category: str | None = None
    """Taxonomy category."""
    tier: Tier | None = None
    """How sure the finding is."""
    severity: Severity | None = None
    """What the flaw does to the score."""
    measured: MeasuredPrecision | None = None
    """The measurement behind the action, if there is one; decisions do not use it."""
    level: tuple[Level, ...] | None = None
    """Where the cause has to be fixed: one level, or a list."""
    decides: bool | None = None
    """Whether the cause decides the score of the task in a recorded run."""

    @field_validator("level", mode="before")
    @classmethod
    def _one_level(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str) else value

    def matches(self, finding: Finding, *, decides: bool = False) -> bool:
        """Tell whether the rule applies to ``finding``, given whether the finding decides the score of the task."""
        return (
            self.check in (None, finding.check)
            and self.category in (None, finding.category)
            and self.tier in (None, finding.tier)
            and self.severity in (None, finding.severity)
            and (self.level is None or finding.level in self.level)
            and self.decides in (None, decides)
        )


class Override(Record):
    """A person's decision on one task. It beats every rule."""

    action: PolicyAction
    """What the person decided."""
    reason: str
    """Why."""
    by: str
    """Who."""


class Policy(Record):
    """An ordered list of rules; the first that matches a finding counts, and a task takes its worst action."""

    version: str
    """Version of this policy, recorded with every split."""
    rules: tuple[DecisionRule, ...]
    """Rules in order."""
    incomplete: PolicyAction = "review"
    """What happens to a task on which a check ended in an error."""
    overrides: dict[str, Override] = Field(default_factory=dict)
    """People's decisions by task id."""
    judging: JudgingRules = JudgingRules()
    """When strong judges are asked, and how sure a judge's flaw must be to be reported."""

    def action_for(self, finding: Finding, task_id: str) -> PolicyAction:
        """Return what a finding means for one of its tasks; a ticket, or a finding that no rule matches, keeps it."""
        action = self._first(finding, decides=task_id in finding.decides)
        return "keep" if action == "ticket" else action

    def reviewed_action(self, finding: Finding, task_id: str, answer: str) -> PolicyAction:
        """Return what a finding means for one of its tasks once people have looked at it.

        A finding that people confirm counts as a confirmed one. A rule that sends the findings of its check to review
        has done its work then, so the rules for all checks apply. What is arguable or disputed goes to review, unless
        the finding would not matter even if it were confirmed.

        Args:
            finding: the finding.
            task_id: the task.
            answer: true, arguable, or disputed.
        """
        confirmed = finding.model_copy(update={"tier": Tier.CONFIRMED})
        action = self.action_for(confirmed, task_id)
        if action == "review":
            action = self.action_for(confirmed.model_copy(update={"check": ""}), task_id)
        return "review" if action == "drop" and answer != "true" else action

    def is_ticket(self, finding: Finding) -> bool:
        """Tell whether a finding is a shared cause that the policy does not simply accept."""
        return finding.level is not Level.TASK and self._first(finding, decides=False) != "keep"

    def _first(self, finding: Finding, *, decides: bool) -> RuleAction:
        return next((rule.action for rule in self.rules if rule.matches(finding, decides=decides)), "keep")


def default_policy_text() -> str:
    """Return the policy file that ships with AgentHard."""
    return resources.files("agenthard.audit.decisions").joinpath("policy.yaml").read_text(encoding="utf-8")


def load_policy(path: Path | None = None) -> Policy:
    """Read a policy file; without a path, the one that ships.

    Raises:
        PolicyError: when the file is missing, not YAML, or names unknown fields or values.
    """
    if path is None:
        return parse_record(
            default_policy_text(), Policy, error=PolicyError, name="the built-in policy", load=load_own_yaml
        )
    return load_record(path, Policy, error=PolicyError, what="policy", docs="docs/policy.md")


def require_overrides(policy: Policy, task_ids: Sequence[str]) -> None:
    """Check that the tasks of a policy's overrides exist.

    Args:
        policy: the policy.
        task_ids: all tasks, those that could not be read among them.

    Raises:
        VerdictError: one does not; the message names the nearest id.
    """
    require_ids("task", policy.overrides, task_ids, "overrides of the policy")


_ORDER: dict[PolicyAction, int] = {"drop": 0, "review": 1, "keep": 2}


def decide(
    policy: Policy,
    task_ids: Sequence[str],
    findings: Iterable[Finding],
    coverage: CoverageTable,
    deciding: Mapping[str, DecidingKind],
    verdicts: Verdicts = NO_VERDICTS,
) -> Sequence[Decision]:
    """Decide every task.

    Args:
        policy: the rules.
        task_ids: all tasks, in the benchmark's order.
        findings: all findings; one may touch many tasks.
        coverage: what each check did on each task.
        deciding: kind of each deciding check, by its id.
        verdicts: what people say. A verdict on a task decides it; one on a finding decides what the finding means.

    Returns:
        One decision per task, in the order of ``task_ids``. Each is made when it is read.
    """
    by_task: dict[str, list[tuple[PolicyAction, Finding]]] = {}
    for finding in findings:
        given = verdicts.findings.get(finding.id)
        if given is not None and given.outcome == "false":
            continue
        for task_id in finding.task_ids:
            if given is None:
                action = policy.action_for(finding, task_id)
            else:
                action = policy.reviewed_action(finding, task_id, given.outcome)
            by_task.setdefault(task_id, []).append((action, finding))
    return _Decisions(policy, task_ids, by_task, coverage, support(coverage, deciding), verdicts)


_KEPT = 50_000
"""Decisions that are kept; more are made again whenever they are read."""


class _Decisions(Sequence[Decision]):
    """Decisions that are made when they are read: those of a large benchmark would not fit into memory."""

    def __init__(
        self,
        policy: Policy,
        task_ids: Sequence[str],
        by_task: Mapping[str, list[tuple[PolicyAction, Finding]]],
        coverage: CoverageTable,
        supports: Sequence[Support],
        verdicts: Verdicts,
    ) -> None:
        self._policy, self._task_ids, self._by_task, self._verdicts = policy, task_ids, by_task, verdicts
        self._coverage, self._supports = coverage, supports
        self._rows, self._ran = (coverage.codes != 0).sum(axis=1), coverage.having(*RAN).sum(axis=1)
        failed = coverage.having(Status.ERROR)
        self._errors = {
            int(row): [coverage.checks[column] for column in np.flatnonzero(failed[row])]
            for row in np.flatnonzero(np.any(failed, axis=1))
        }

    def __len__(self) -> int:
        return len(self._task_ids)

    @overload
    def __getitem__(self, index: int) -> Decision: ...
    @overload
    def __getitem__(self, index: slice) -> list[Decision]: ...
    def __getitem__(self, index: int | slice) -> Decision | list[Decision]:
        if isinstance(index, slice):
            return [self._decide(task_id) for task_id in self._task_ids[index]]
        return self._decide(self._task_ids[index])

    def __iter__(self) -> Iterator[Decision]:
        return iter(self._all) if len(self) <= _KEPT else map(self._decide, self._task_ids)

    @cached_property
    def _all(self) -> tuple[Decision, ...]:
        return tuple(map(self._decide, self._task_ids))

    def _decide(self, task_id: str) -> Decision:
        found, row = self._by_task.get(task_id, []), self._coverage.row.get(task_id)
        if row is None:
            return _decide_one(self._policy, task_id, found, [], "0 of 0 checks ran", NO_SUPPORT, self._verdicts)
        checked = f"{self._ran[row]} of {self._rows[row]} checks ran"
        errors, based = self._errors.get(row, []), self._supports[row]
        return _decide_one(self._policy, task_id, found, errors, checked, based, self._verdicts)


def _decide_one(
    policy: Policy,
    task_id: str,
    found: list[tuple[PolicyAction, Finding]],
    errors: list[str],
    checked: str,
    based: Support,
    verdicts: Verdicts,
) -> Decision:
    rests = {"deciding_clean": based.clean, "deciding_ran": based.ran, "rests_on": based.kinds}
    given = verdicts.tasks.get(task_id)
    if given is not None:
        ids = tuple(finding.id for _, finding in found)
        reason = given.sentence if given.outcome == "disputed" else f"decided by people: {given.sentence}"
        return Decision(task_id=task_id, action=given.action, reasons=(reason,), finding_ids=ids, **rests)
    override = policy.overrides.get(task_id)
    if override is not None:
        ids = tuple(finding.id for _, finding in found)
        reason = f"decided by {override.by}: {override.reason}"
        return Decision(task_id=task_id, action=override.action, reasons=(reason,), finding_ids=ids, **rests)
    action: PolicyAction = min((action for action, _ in found), key=_ORDER.__getitem__, default="keep")
    if errors and _ORDER[policy.incomplete] < _ORDER[action]:
        action = policy.incomplete
    decisive = [finding for its_action, finding in found if its_action == action]
    reasons = [_reason(finding, verdicts) for finding in decisive if action != "keep"]
    if errors and action == policy.incomplete:
        reasons.append(f"not fully checked: {', '.join(sorted(errors))} ended in an error")
    if action == "keep":
        reasons = [f"{based.sentence}; {checked}{_left_aside(policy, decisive)}"]
    return Decision(
        task_id=task_id,
        action="unchecked" if action == "keep" and not based.ran else action,
        reasons=tuple(reasons),
        finding_ids=tuple(finding.id for finding in decisive),
        **rests,
    )


def _reason(finding: Finding, verdicts: Verdicts) -> str:
    given = verdicts.findings.get(finding.id)
    return f"{finding.check}: {finding.claim}" + (f" ({given.sentence})" if given else "")


def _left_aside(policy: Policy, findings: Sequence[Finding]) -> str:
    tickets = sum(map(policy.is_ticket, findings))
    accepted = len(findings) - tickets
    parts = [
        f"{tickets} shared cause{'s' if tickets > 1 else ''} left to tickets" if tickets else "",
        f"{accepted} finding{'s' if accepted > 1 else ''} that the policy accepts" if accepted else "",
    ]
    return "; " + ", ".join(filter(None, parts)) if findings else ", none found a flaw"


def is_confirmed_defect(finding: Finding) -> bool:
    """Tell whether a finding counts as a defect of the benchmark, which the exit code reports."""
    return finding.tier is Tier.CONFIRMED and finding.severity is not Severity.COSMETIC
