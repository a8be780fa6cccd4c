"""Findings that the maintainers of a benchmark have accepted until a day, each with a reason."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date
from typing import Any, Self

from pydantic import Field, ValidationError, model_validator

from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.finding import Finding
from agenthard.taxonomy.record import Record


class SuppressionError(AgentHardError):
    """A suppression is incomplete, or names something that the audit does not have; the message says what."""

    code = "AH206"
    remedy = "Correct the suppression in the configuration file or the call, or remove it."


class Suppression(Record):
    """One finding, or what one check finds in one task, that does not count until a day."""

    finding: str | None = None
    """Id of the finding."""
    check: str | None = None
    """Id of the check; with ``task``, in place of ``finding``."""
    task: str | None = None
    """Id of the task."""
    reason: str = Field(min_length=1)
    """Why it is accepted."""
    until: date
    """Last day on which it does not count."""

    @model_validator(mode="after")
    def _one_target(self) -> Self:
        if (self.finding is None) == (self.check is None or self.task is None) or (self.check is None) != (
            self.task is None
        ):
            raise ValueError("give either finding, or check and task")
        return self

    @property
    def target(self) -> str:
        """What it names, in words."""
        return f"finding {self.finding}" if self.finding else f"{self.check} in {self.task}"

    @property
    def words(self) -> str:
        """What it names, with reason and last day."""
        return f"{self.target}: {self.reason} (until {self.until})"


class SuppressedFinding(Record):
    """A finding, or its part in some tasks, that does not count."""

    finding: Finding
    """The finding with the tasks that are suppressed."""
    reason: str
    """Why it is accepted."""
    until: date | None
    """Last day on which it does not count; None where people have rejected the finding."""

    @property
    def because(self) -> str:
        """Reason and last day."""
        return f"{self.reason} (until {self.until})" if self.until else self.reason

    @property
    def words(self) -> str:
        """The finding with its tasks, reason and last day, in one line."""
        first, *others = self.finding.task_ids or ("no task",)
        tasks = f"{first} and {len(others):,} more" if others else first
        return f"{self.finding.id} {self.finding.check} in {tasks}: {self.because}"


def read_suppressions(given: Iterable[Suppression | Mapping[str, Any]]) -> tuple[Suppression, ...]:
    """Return suppressions that are given as records, or as objects with the keys of the configuration file.

    Raises:
        SuppressionError: one has an unknown key, a wrong value, or names no target.
    """
    found = []
    for number, each in enumerate(given):
        try:
            found.append(Suppression.model_validate(each))
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, (number, *first["loc"])))
            raise SuppressionError(
                f"suppressions.{place}: {first['msg'].removeprefix('Value error, ')}; give finding (or check and "
                "task), reason, and until as a day"
            ) from error
    return tuple(found)


def suppress(
    findings: Iterable[Finding], suppressions: Sequence[Suppression], today: date
) -> tuple[list[Finding], list[SuppressedFinding]]:
    """Take the suppressed findings out of an audit's findings.

    A suppression of a check in one task takes this task out of a finding that touches others too. Suppressions whose
    last day has passed do nothing.

    Returns:
        The findings that count, and those that do not.
    """
    valid = [each for each in suppressions if each.until >= today]
    by_id = {each.finding: each for each in valid if each.finding}
    by_task = {(each.check, each.task): each for each in valid if each.check}
    counting, suppressed = list[Finding](), list[SuppressedFinding]()
    for finding in findings:
        whole = by_id.get(finding.id)
        if whole is not None:
            suppressed.append(SuppressedFinding(finding=finding, reason=whole.reason, until=whole.until))
            continue
        named = {task: by_task[finding.check, task] for task in finding.task_ids if (finding.check, task) in by_task}
        for task, each in named.items():
            part = _only(finding, {task})
            suppressed.append(SuppressedFinding(finding=part, reason=each.reason, until=each.until))
        if not named or len(named) < len(finding.task_ids):
            counting.append(_only(finding, set(finding.task_ids) - named.keys()) if named else finding)
    return counting, suppressed


def _only(finding: Finding, tasks: Collection[str]) -> Finding:
    return finding.model_copy(
        update={
            "task_ids": tuple(task for task in finding.task_ids if task in tasks),
            "decides": tuple(task for task in finding.decides if task in tasks),
        }
    )


def expired(suppressions: Iterable[Suppression], today: date) -> list[Suppression]:
    """Return the suppressions whose last day has passed: what they name counts again."""
    return [each for each in suppressions if each.until < today]


def require_known(
    suppressions: Iterable[Suppression], checks: Collection[str], tasks: Collection[str], source: str
) -> None:
    """Check that the checks and tasks of suppressions exist.

    Raises:
        SuppressionError: one does not.
    """
    for each in suppressions:
        if each.check is not None and each.check not in checks:
            raise SuppressionError(
                f"suppression of {each.target}: no check {each.check!r}; `agenthard checks` lists them"
            )
        if each.task is not None and each.task not in tasks:
            raise SuppressionError(f"suppression of {each.target}: {source} has no task {each.task!r}")


def require_found(suppressions: Iterable[Suppression], findings: Iterable[Finding]) -> None:
    """Check that the findings of suppressions were found.

    Raises:
        SuppressionError: one was not.
    """
    found = {finding.id for finding in findings}
    missing = [each.finding for each in suppressions if each.finding is not None and each.finding not in found]
    if missing:
        raise SuppressionError(
            f"suppressed findings that the audit does not have: {', '.join(missing)}; remove them (they are fixed), or "
            "correct the ids"
        )
