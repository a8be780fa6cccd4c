"""What people decided about patches: accepted ones go into the repaired split, rejected ones are left out."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from agenthard.audit.decisions.repaired_split import Acceptance, RepairedSplitManifest
from agenthard.audit.repair.proposals import Patch, Proposal
from agenthard.audit.repair.repairs import Repair, TaskRepair
from agenthard.flows.review.events import Event, Key, RepairData, ReviewError, first_problem
from agenthard.flows.review.state import ReviewState
from agenthard.taxonomy.finding import Finding
from agenthard.taxonomy.record import Record

_PATCH = TypeAdapter(list[dict[str, Any]])
_NEEDED = {"add": ("path", "value"), "replace": ("path", "value"), "test": ("path", "value"), "remove": ("path",)}
"""Members of each operation; the others move or copy, from somewhere."""


class DecidedRepair(Record):
    """What a person decided about the repair of a finding in a task."""

    task_id: str
    """Task."""
    finding_id: str
    """Finding; empty for a rejection of every repair of the task."""
    outcome: Literal["accepted", "rejected"]
    """The decision."""
    by: str
    """Who decided."""
    at: datetime
    """When, in UTC."""
    reason: str = ""
    """Why, in the words of the person."""
    patch: tuple[dict[str, Any], ...] = ()
    """JSON Patch against the task record, as accepted."""
    refused: str = ""
    """Why an accepted patch is not in the repaired split; empty when it is."""

    @property
    def sentence(self) -> str:
        """Who accepted or rejected it, when and why."""
        return f"{self.outcome} by {self.by}, {self.at:%Y-%m-%d %H:%M} UTC{f': {self.reason}' if self.reason else ''}"

    def refuse(self, why: str) -> "DecidedRepair":
        """Return the same with the reason why it is not used."""
        return self.model_copy(update={"refused": why})


def read_patch(text: str) -> Patch:
    """Read a JSON Patch that a person wrote.

    Raises:
        ReviewError: it is not a list of operations of RFC 6902; the message says where.
    """
    try:
        operations = _PATCH.validate_json(text)
    except ValidationError as error:
        raise ReviewError(f"not a JSON Patch: {first_problem(error)}") from None
    return checked_patch(operations)


def checked_patch(operations: Sequence[dict[str, Any]]) -> Patch:
    """Check that operations are those of RFC 6902.

    Raises:
        ReviewError: there is none, or one lacks a member; the message says which.
    """
    if not operations:
        raise ReviewError("the patch has no operation")
    for number, operation in enumerate(operations):
        needed = _NEEDED.get(str(operation.get("op")), ("path", "from"))
        lacking = [name for name in ("op", *needed) if name not in operation]
        places = [operation[name] for name in ("path", "from") if name in operation]
        if lacking or not all(isinstance(place, str) for place in places):
            raise ReviewError(f"operation {number} of the patch needs {', '.join(lacking) or 'a text as path'}")
    return tuple(operations)


def decided_repairs(
    state: ReviewState, contents: Mapping[Key, str], findings: Mapping[str, Finding]
) -> list[DecidedRepair]:
    """Return the last decision about the repair of each finding in each task; those that cannot be used say why.

    Args:
        state: the review.
        contents: hash of each task as it is now.
        findings: findings that the audit counts, by id.
    """
    events = [event for (what, _), item in state.items() if what == "task" for event in item.repairs.values()]
    return [_decided(event, contents, findings) for event in events]


def _decided(event: Event, contents: Mapping[Key, str], findings: Mapping[str, Finding]) -> DecidedRepair:
    details = event.details
    assert isinstance(details, RepairData)
    made = DecidedRepair(
        task_id=event.target_id,
        finding_id=details.finding,
        outcome=details.outcome,
        by=event.by,
        at=event.at,
        reason=details.reason,
        patch=details.patch,
    )
    if made.outcome == "rejected":
        return made
    now = contents.get(event.key)
    if now is None:
        return made.refuse("the audit does not have the task any more")
    if now != event.content_hash:
        return made.refuse("the task has changed since; try the patch again and accept it")
    finding = findings.get(made.finding_id)
    if finding is None or made.task_id not in finding.task_ids:
        return made.refuse("the audit does not have the finding, or people rejected it")
    try:
        checked_patch(made.patch)
    except ReviewError as error:
        return made.refuse(str(error))
    return made


def with_decisions(
    proposals: Sequence[Proposal], decided: Sequence[DecidedRepair], findings: Mapping[str, Finding]
) -> list[Proposal]:
    """Put accepted patches in the place of what checks propose, and leave out what people rejected.

    Args:
        proposals: what checks propose.
        decided: what people decided.
        findings: findings by id.

    Returns:
        Accepted patches first: where two changes of a task overlap, the first counts.
    """
    settled = {(each.task_id, each.finding_id) for each in decided if not each.refused}
    accepted = [each for each in decided if each.outcome == "accepted" and not each.refused]
    rest = [
        each
        for each in proposals
        if (each.task_id, each.finding_id) not in settled and (each.task_id, "") not in settled
    ]
    return [*(Proposal.of(findings[each.finding_id], each.task_id, each.patch) for each in accepted), *rest]


def acceptances(decided: Sequence[DecidedRepair], together: Sequence[TaskRepair]) -> dict[str, list[Acceptance]]:
    """Return who accepted the changes of each task, by task; tasks without an accepted patch are left out."""
    found: dict[str, list[Acceptance]] = {}
    for each in _made(decided, together):
        acceptance = Acceptance(finding_id=each.finding_id, by=each.by, at=each.at, reason=each.reason)
        found.setdefault(each.task_id, []).append(acceptance)
    return found


def with_outcomes(
    decided: Sequence[DecidedRepair],
    repairs: Sequence[Repair],
    together: Sequence[TaskRepair],
    split: RepairedSplitManifest,
) -> list[DecidedRepair]:
    """Say of each accepted patch that is not in the split why it is not.

    Args:
        decided: what people decided.
        repairs: what trying the patches gave.
        together: changes by task.
        split: the repaired split.
    """
    tried = {(each.proposal.task_id, each.proposal.finding_id): each for each in repairs}
    made = {(each.task_id, each.finding_id) for each in _made(decided, together)}
    repaired = {task.task_id for task in split.repaired}
    removed = {each.task_id: each.reasons for each in (*split.dropped, *split.under_review, *split.unchecked)}

    def told(each: DecidedRepair) -> DecidedRepair:
        key = each.task_id, each.finding_id
        if each.refused or each.outcome == "rejected":
            return each
        if not tried[key].accepted:
            return each.refuse(tried[key].reason)
        if key not in made:
            return each.refuse(
                "another accepted patch of the task changes the same place, or does not go with this one"
            )
        if each.task_id not in repaired:
            return each.refuse(f"the task is still decided otherwise: {'; '.join(removed.get(each.task_id, ()))}")
        return each

    return [told(each) for each in decided]


def _made(decided: Sequence[DecidedRepair], together: Sequence[TaskRepair]) -> list[DecidedRepair]:
    made = {(each.task_id, finding) for each in together for finding in each.made_for}
    return [
        each
        for each in decided
        if each.outcome == "accepted" and not each.refused and (each.task_id, each.finding_id) in made
    ]
