"""The cascade of a judging: which tasks the second tier is asked about, and what each stage decided and cost."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agenthard.audit.decisions.judging import Escalation, JudgingRules
from agenthard.audit.decisions.policy import load_policy
from agenthard.audit.judge.aggregate.panel import PanelVerdict, why_second
from agenthard.audit.judge.settings import Judge, JudgeSettings
from agenthard.flows.audited_run import read_decisions
from agenthard.flows.judging.inputs import AuditInputs
from agenthard.models.ledger import Total
from agenthard.reports.kit.markdown import md, table
from agenthard.taxonomy.record import Record

PURPOSES = {
    "first": "judge: first tier",
    "second": "judge: second tier",
    "votes": "judge: votes on readings",
    "defence": "judge: defence",
}
"""Purpose of a request in the ledger, by the stage that it belongs to."""


@dataclass(frozen=True)
class Cascade:
    """The rule by which tasks go from the first tier to the second."""

    judges: JudgeSettings
    """The panel."""
    escalation: Escalation
    """The rule of the policy."""
    dropped: frozenset[str] = frozenset()
    """Tasks that the audit drops; the second tier is not asked about them unless the policy says so."""

    @classmethod
    def of(cls, judges: JudgeSettings, inputs: AuditInputs) -> "Cascade":
        """Read the rule from the policy of the audit, and which tasks the audit drops."""
        dropped = (decision.task_id for decision in read_decisions(inputs.folder.root) if decision.action == "drop")
        return cls(judges, rules_of(inputs).escalation, frozenset(dropped))

    @property
    def first(self) -> tuple[Judge, ...]:
        """Judges that are asked about every task."""
        return tuple(judge for judge in self.judges.judges if judge.tier == "first")

    @property
    def second(self) -> tuple[Judge, ...]:
        """Judges that are asked about some tasks."""
        return tuple(judge for judge in self.judges.judges if judge.tier == "second")

    def why_second(self, first: PanelVerdict) -> str:
        """Say why the second tier is asked about a task, from what the first says; empty where it is not."""
        if not self.second or (first.task_id in self.dropped and not self.escalation.dropped_by_rules):
            return ""
        return why_second(first, self.escalation)


def rules_of(inputs: AuditInputs) -> JudgingRules:
    """Return what the policy of the audit says of judges."""
    policy = inputs.audited.settings.policy
    return load_policy(Path(policy) if policy else None).judging


class StageRow(Record):
    """What one stage of the cascade decided and cost."""

    stage: str
    """rules, first tier, second tier, proof, votes on readings, defence, or undecided."""
    tasks: int
    """Tasks that it decided."""
    outcomes: dict[str, int]
    """Aggregate verdicts on them; for the rules, tasks that the audit drops."""
    requests: int = 0
    """Replies that were paid for; those of a proof belong to the tier that reported the flaw."""
    cached: int = 0
    """Replies from the cache."""
    prompt_tokens: int = 0
    """Tokens of its prompts."""
    completion_tokens: int = 0
    """Tokens of its replies."""
    cost: float | None = None
    """What they cost; None without a request, or where a model has no price."""


class CascadeAccount(Record):
    """The stages of a judging."""

    escalation: Escalation
    """The rule of escalation."""
    escalated: dict[str, int]
    """Tasks that went to the second tier, by reason."""
    stages: tuple[StageRow, ...]
    """In order."""


def account(cascade: Cascade, panels: Mapping[str, PanelVerdict], costs: Sequence[Total]) -> CascadeAccount:
    """Count what each stage decided, and what it cost.

    Args:
        cascade: The rule.
        panels: Aggregate verdicts after all defences, by task.
        costs: Sums of the ledger by purpose.
    """
    by_stage: dict[str, list[str]] = {"rules": ["drop" for task_id in panels if task_id in cascade.dropped]}
    for stage in ("first tier", "second tier", "proof", "votes on readings", "defence", "undecided"):
        by_stage[stage] = []
    for task_id, panel in panels.items():
        if task_id not in cascade.dropped:
            by_stage[panel.stage or "undecided"].append(panel.outcome)
    spent = {purpose.removeprefix("judge: "): _of(costs, purpose) for purpose in PURPOSES.values()}
    rows = [
        StageRow.model_validate(
            {"stage": stage, "tasks": len(outcomes), "outcomes": dict(sorted(Counter(outcomes).items()))}
            | spent.get(stage, {})
        )
        for stage, outcomes in by_stage.items()
    ]
    reasons = Counter(panel.escalated for panel in panels.values() if panel.escalated)
    return CascadeAccount(escalation=cascade.escalation, escalated=dict(sorted(reasons.items())), stages=tuple(rows))


def _of(costs: Iterable[Total], purpose: str) -> dict[str, float | int | None]:
    own = [total for total in costs if total.purpose == purpose]
    prices = [total.cost for total in own if total.answered]
    return {
        "requests": sum(total.answered for total in own),
        "cached": sum(total.cached for total in own),
        "prompt_tokens": sum(total.prompt_tokens for total in own),
        "completion_tokens": sum(total.completion_tokens for total in own),
        "cost": sum(price for price in prices if price is not None) if prices and None not in prices else None,
    }


def account_table(account: CascadeAccount) -> str:
    """Write the account as Markdown."""
    rows = [
        [
            md(row.stage),
            str(row.tasks),
            ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in row.outcomes.items()),
            f"{row.requests} ({row.cached} cached)",
            f"{row.prompt_tokens:,} + {row.completion_tokens:,}",
            "" if row.cost is None else f"{row.cost:.4f}",
        ]
        for row in account.stages
    ]
    reasons = ", ".join(f"{name} {count}" for name, count in account.escalated.items()) or "none"
    head = ["decided by", "tasks", "verdicts", "requests", "tokens", "cost"]
    rule = account.escalation
    return (
        f"{table(head, rows)}\n\nAsked of the second tier: {reasons}. The rule of the policy: "
        f"{', '.join(rule.when)}; grave is {', '.join(rule.grave)}; sure from {rule.sure:g}; "
        f"tasks that the rules drop are {'asked about too' if rule.dropped_by_rules else 'not asked about'}.\n"
    )
