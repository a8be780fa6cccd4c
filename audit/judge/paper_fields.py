"""The four fields that the audit paper's judges give, derived from a verdict."""

from agenthard.audit.judge.verdict import Issue, Verdict
from agenthard.taxonomy.finding import Severity
from agenthard.taxonomy.record import Record

_SEVERITIES = list(Severity)


class PaperFields(Record):
    """A verdict in the form of the audit paper."""

    reasoning: str
    """The way to the verdict."""
    reasoning_summary: str
    """What it rests on."""
    error_category: str | None
    """Category of the leading issue: the gravest, then the surest; None without an issue."""
    is_flawed: bool | None
    """Whether the task is flawed; None when the judge cannot tell."""


def paper_fields(verdict: Verdict) -> PaperFields:
    """Derive the paper's fields."""
    leading = min(verdict.issues, key=_rank, default=None)
    return PaperFields(
        reasoning=verdict.reasoning,
        reasoning_summary=leading.reasoning_summary if leading else verdict.because,
        error_category=leading.category if leading else None,
        is_flawed={"flawed": True, "not_flawed": False, "cannot_tell": None}[verdict.outcome],
    )


def _rank(issue: Issue) -> tuple[int, float]:
    return _SEVERITIES.index(issue.severity), -issue.confidence
