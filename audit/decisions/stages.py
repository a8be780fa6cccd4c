"""What would be decided after each stage of an audit: rules, then execution, then the judge, then people.

Decisions are a function of findings, so they are taken again with the findings of the first stages only. Nothing is
checked again.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

from agenthard.audit.coverage import RAN, CoverageTable
from agenthard.audit.decisions.policy import Decision, Policy, decide
from agenthard.audit.detectors.base import Detector
from agenthard.taxonomy.finding import Finding
from agenthard.taxonomy.record import Record

CheckStage = Literal["rules", "execution", "judge"]
DecidingStage = Literal["rules", "execution", "judge", "people"]
CHECK_STAGES: tuple[CheckStage, ...] = ("rules", "execution", "judge")
NOT_ASKED: dict[CheckStage, str] = {
    "rules": "no rule was asked to check the tasks",
    "execution": "no check that executes something was asked to check the tasks",
    "judge": "no model has judged the tasks; `agenthard judge run` asks for verdicts",
}


class StageDecisions(Record):
    """What the findings up to one stage leave of the benchmark."""

    stage: DecidingStage
    """Stage."""
    kept: tuple[str, ...] | None
    """Tasks that are not dropped, in the benchmark's order; None when the stage checked no task."""
    review: int = 0
    """Tasks in ``kept`` that wait for a person."""
    checked: int
    """Tasks on which a check of this stage ran; for people, the tasks on which their decision differs."""
    of: int
    """Tasks there are."""
    reason: str = ""
    """Why the stage checked no task; empty when it did."""

    @property
    def note(self) -> str:
        """State how much of the benchmark the stage has seen; empty when all of it."""
        if self.kept is None or self.stage == "people" or self.checked == self.of:
            return ""
        return f"Checks of this stage ran on {self.checked:,} of {self.of:,} tasks."


def stage_of(check: Detector) -> CheckStage:
    """Return the stage to which a check belongs.

    Args:
        check: the check.
    """
    if check.deciding == "judge":
        return "judge"
    return "execution" if check.executes or check.deciding == "execution" else "rules"


def decide_by_stage(
    policy: Policy,
    task_ids: Sequence[str],
    findings: Sequence[Finding],
    coverage: CoverageTable,
    stages: Mapping[str, CheckStage],
    final: Sequence[Decision],
) -> tuple[StageDecisions, ...]:
    """Decide every task again after each stage.

    A stage sees the findings of its own checks and of all stages before it. Overrides of the policy and verdicts of
    people come last: where they change what stays, a stage of their own shows it.

    Args:
        policy: the rules.
        task_ids: all tasks, in the benchmark's order.
        findings: the findings of all checks, those that people reject among them.
        coverage: what each check did on each task.
        stages: stage of each check, by its id; a check that is not named counts as a rule.
        final: the decisions of the audit, in the order of ``task_ids``.

    Returns:
        Rules, execution and judge, in this order, and people where their decisions differ.
    """
    by_rules = policy.model_copy(update={"overrides": {}})
    rows: list[StageDecisions] = []
    seen: set[str] = set()
    kept = tuple(task_ids)
    for stage in CHECK_STAGES:
        mine = [check for check in coverage.checks if stages.get(check, "rules") == stage]
        checked = _ran_on(coverage, mine)
        seen |= set(mine)
        if not checked:
            rows.append(StageDecisions(stage=stage, kept=None, checked=0, of=len(task_ids), reason=_why(stage, mine)))
            continue
        decisions = decide(
            by_rules,
            task_ids,
            [finding for finding in findings if finding.check in seen],
            coverage.without(*(check for check in coverage.checks if check not in seen)),
            {},
        )
        rows.append(_row(stage, decisions, checked))
        kept = rows[-1].kept or ()
    last = _row("people", final, 0)
    differs = set(last.kept or ()) ^ set(kept)
    return (*rows, last.model_copy(update={"checked": len(differs)})) if differs else tuple(rows)


def _row(stage: DecidingStage, decisions: Sequence[Decision], checked: int) -> StageDecisions:
    return StageDecisions(
        stage=stage,
        kept=tuple(each.task_id for each in decisions if each.action != "drop"),
        review=sum(each.action == "review" for each in decisions),
        checked=checked,
        of=len(decisions),
    )


def _ran_on(coverage: CoverageTable, checks: Sequence[str]) -> int:
    if not checks:
        return 0
    columns = [coverage.column[check] for check in checks]
    return int(coverage.having(*RAN)[:, columns].any(axis=1).sum())


def _why(stage: CheckStage, checks: Sequence[str]) -> str:
    if not checks:
        return NOT_ASKED[stage]
    return f"none of its {len(checks)} checks could run on any task"
