"""What a panel of judges says of one task, all verdicts together."""

from typing import Literal

from pydantic import Field

from agenthard.audit.judge.verify.checked import CheckedIssue
from agenthard.taxonomy.record import Record


class PanelIssue(Record):
    """A flaw that at least one judge sees and whose evidence stands."""

    category: str
    """Taxonomy category."""
    votes: int
    """Verdicts that name this category with standing evidence."""
    of: int
    """Verdicts given: refusals and other errors are not among them."""
    best: CheckedIssue
    """The issue with the best standing, then the highest confidence, then the first in order of judge and sample."""
    judges: tuple[str, ...]
    """Judges that see it, in order."""
    rebuttal: Literal["none", "upheld", "overturned", "error"] = "none"
    """What a second question that defends the task made of it."""
    rebuttal_reason: str = ""
    """Why it was upheld or overturned, or the error."""


class PanelVerdict(Record):
    """The panel's word on one task."""

    task_id: str
    """Task."""
    outcome: Literal["flawed", "not_flawed", "uncertain", "error"]
    """uncertain: within the band, or nobody could tell; error: no judge gave a verdict."""
    probability: float | None = Field(ge=0, le=1)
    """Probability of a flaw by the aggregation in use; None without a verdict."""
    answered: int
    """Verdicts given (k)."""
    asked: int
    """Verdicts asked for (N)."""
    issues: tuple[PanelIssue, ...] = ()
    """Flaws, by votes and then by confidence."""
    reason: str = ""
    """Why it is uncertain or an error."""
