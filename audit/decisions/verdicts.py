"""What people say about tasks and findings, as the strongest input of the decisions."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Literal

from pydantic import Field

from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.finding import Finding
from agenthard.taxonomy.record import Record

VerdictAction = Literal["keep", "drop", "review"]
ANSWERS: Final[Mapping[str, str]] = {
    "yes": "flawed",
    "no": "not flawed",
    "cannot_tell": "cannot tell",
    "true": "correct",
    "arguable": "arguable",
    "false": "not a flaw",
}
"""Answers on a task (yes, no, cannot_tell) and on a finding (true, arguable, false) in words."""
_ACTIONS: Final[Mapping[str, VerdictAction]] = {"yes": "drop", "no": "keep"}
LONGEST_REASON: Final = 300
"""Characters of a reviewer's reason in the reason of a decision; the store and findings.json have all."""


class VerdictError(AgentHardError):
    """A verdict or an override names a task or a finding that the audit does not have."""

    code = "AH207"
    remedy = "Correct the id; the message names the nearest one."


class PersonVerdict(Record):
    """What one person says."""

    by: str
    """Reviewer."""
    at: datetime
    """When."""
    answer: str
    """yes, no or cannot_tell on a task; true, arguable or false on a finding."""
    reason: str = ""
    """Why."""

    @property
    def when_and_why(self) -> str:
        """Day and reason, in one line."""
        reason = " ".join(self.reason.split())
        short = reason if len(reason) <= LONGEST_REASON else reason[:LONGEST_REASON].rstrip() + " …"
        return f"{self.at:%Y-%m-%d}{': ' + short if short else ''}"


class TargetVerdict(Record):
    """What people say about one task or finding."""

    answers: tuple[PersonVerdict, ...] = ()
    """The current verdict of each reviewer, by name."""
    final: PersonVerdict | None = None
    """The adjudication, if there is one."""

    @property
    def outcome(self) -> str:
        """The answer that counts, or "disputed"."""
        if self.final is not None:
            return self.final.answer
        answers = {each.answer for each in self.answers}
        return answers.pop() if len(answers) == 1 else "disputed"

    @property
    def sentence(self) -> str:
        """Who says what, when and why."""
        if self.final is not None:
            told = f"{ANSWERS[self.final.answer]}: adjudicated by {self.final.by} ({self.final.when_and_why})"
            others = ", ".join(f"{each.by} said {ANSWERS[each.answer]}" for each in self.answers)
            return f"{told}{'; ' + others if others else ''}"
        if self.outcome == "disputed":
            said = (f"{each.by} says {ANSWERS[each.answer]} ({each.when_and_why})" for each in self.answers)
            return f"disputed: {', '.join(said)}"
        return f"{ANSWERS[self.outcome]}: " + ", ".join(f"{each.by} ({each.when_and_why})" for each in self.answers)

    @property
    def action(self) -> VerdictAction:
        """What a verdict on a task means for it: drop, keep, or review where people disagree or cannot tell."""
        return _ACTIONS.get(self.outcome, "review")


class StaleVerdict(Record):
    """A verdict about content that has changed since, or that is gone: it is shown and does not count."""

    target: Literal["task", "finding"]
    """What it is about."""
    target_id: str
    """Id of the task or finding."""
    verdict: PersonVerdict
    """The verdict."""
    why: str
    """What has changed."""


class Verdicts(Record):
    """All verdicts on the tasks and findings of an audit."""

    tasks: dict[str, TargetVerdict] = Field(default_factory=dict)
    """By task id, in the benchmark's order."""
    findings: dict[str, TargetVerdict] = Field(default_factory=dict)
    """By finding id, in the order of the findings."""
    stale: tuple[StaleVerdict, ...] = ()
    """Verdicts that do not count."""
    rejected: dict[str, int] = Field(default_factory=dict)
    """Position of each finding that people rejected, among all findings of the audit."""

    def __bool__(self) -> bool:
        return bool(self.tasks or self.findings or self.stale)

    def rejects(self, finding_id: str) -> bool:
        """Tell whether people agree that a finding is not a flaw."""
        return finding_id in self.findings and self.findings[finding_id].outcome == "false"

    @property
    def reviewers(self) -> tuple[str, ...]:
        """Everyone whose verdict counts, sorted."""
        targets = (*self.tasks.values(), *self.findings.values())
        given = (each for target in targets for each in (*target.answers, *([target.final] if target.final else ())))
        return tuple(sorted({each.by for each in given}))


NO_VERDICTS: Final = Verdicts()
"""No person has said anything."""


def finding_content(finding: Finding) -> str:
    """Hash what a verdict on a finding is about: check, category, and each quote with its place in the task.

    The quote is the native text where the file has it. Line numbers and offsets are left out, so a verdict survives an
    update of the benchmark that moves a task within its file.

    Returns:
        16 hexadecimal digits.
    """
    parts = [finding.check, finding.category]
    for item in finding.evidence:
        quote = item.native.text if item.native else item.quote
        parts += [item.task_id, item.trajectory_id or "", item.pointer, quote]
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def require_ids(what: str, named: Iterable[str], known: Sequence[str], where: str) -> None:
    """Check that ids exist.

    Args:
        what: task or finding.
        named: ids to look up.
        known: ids of the audit.
        where: what names them, for the message.

    Raises:
        VerdictError: one does not exist; the message names the nearest one.
    """
    ids = set(known)
    unknown = [identity for identity in named if identity not in ids]
    if not unknown:
        return
    more = f" (and {len(unknown) - 1:,} more unknown ids)" if len(unknown) > 1 else ""
    raise VerdictError(f"{where}: the audit has no {what} {unknown[0]!r}{nearest(unknown[0], known)}{more}")


def nearest(identity: str, known: Sequence[str]) -> str:
    """Return a question that names the nearest known id; empty where none is near.

    >>> nearest("lib/1l", ["lib/1", "lib/11", "zoo/7"])
    "; did you mean 'lib/1'?"
    """
    from rapidfuzz import fuzz, process

    found: Any = process.extractOne(identity, known, scorer=fuzz.ratio, score_cutoff=60)
    return f"; did you mean {found[0]!r}?" if found else ""
