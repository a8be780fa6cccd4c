"""Measured precision of signals, which the rules of a policy state as the reason for their action."""

from typing import TYPE_CHECKING, Literal

from pydantic import Field, model_validator

from agenthard.audit.statistics.intervals import wilson
from agenthard.taxonomy.record import Record

if TYPE_CHECKING:
    from agenthard.audit.decisions.policy import Policy


class MeasuredPrecision(Record):
    """How often the tasks that a check flags are labelled flawed; counted on labelled tasks only."""

    flagged: int = Field(ge=0)
    """Labelled tasks that the check flags."""
    flawed: int = Field(ge=0)
    """Those of them that are labelled flawed."""
    comparable: int = Field(ge=0)
    """Labelled tasks that the check could have flagged."""
    comparable_flawed: int = Field(ge=0)
    """Those of them that are labelled flawed: the precision of flagging at random."""
    labels: str
    """Which label sets."""
    data: Literal["development", "held-out"]
    """development: the checks were developed on these labels."""

    @model_validator(mode="after")
    def _counts(self) -> "MeasuredPrecision":
        if not (
            self.flawed <= self.flagged <= self.comparable and self.flawed <= self.comparable_flawed <= self.comparable
        ):
            raise ValueError("flawed ≤ flagged ≤ comparable and flawed ≤ comparable_flawed ≤ comparable must hold")
        return self

    @property
    def interval(self) -> tuple[float, float]:
        """Return the 95 % Wilson interval of the precision; the whole range where nothing was flagged."""
        return wilson(self.flawed, self.flagged) if self.flagged else (0.0, 1.0)

    @property
    def earns_review(self) -> bool:
        """Tell whether the lower end of the precision exceeds the share of flawed tasks among comparable tasks."""
        return self.comparable > 0 and self.interval[0] > self.comparable_flawed / self.comparable


def measured_table(policy: "Policy") -> str:
    """Write the measured rules of a policy as a Markdown table, for docs/policy.md."""
    lines = [
        "| signal | action | precision [95 % Wilson] | flawed among comparable tasks | labels | data |",
        "|---|---|---|---|---|---|",
    ]
    for rule in policy.rules:
        if rule.measured is not None:
            found = rule.measured
            low, high = found.interval
            share = f"{found.flawed / found.flagged:.2f} [{low:.2f}, {high:.2f}]" if found.flagged else "undefined"
            among = f"{found.comparable_flawed}/{found.comparable}"
            base = f" = {found.comparable_flawed / found.comparable:.2f}" if found.comparable else ""
            lines.append(
                f"| {rule.check} | {rule.action} | {found.flawed}/{found.flagged} = {share} | {among}{base} "
                f"| {found.labels} | {found.data} |"
            )
    return "\n".join(lines) + "\n"
