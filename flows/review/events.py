"""What reviewers do, as events: who, when, what, why, and about which content. Events are never changed or deleted."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal, cast
from uuid import UUID

from pydantic import AfterValidator, Field, ValidationError, field_validator, model_validator

from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.finding import Severity
from agenthard.taxonomy.record import Record

Kind = Literal["verdict", "finding_verdict", "adjudication", "undo", "assignment", "repair", "reveal", "skip"]
Target = Literal["task", "finding"]
Flaw = Literal["yes", "no", "cannot_tell"]
Answer = Literal["true", "arguable", "false"]
Key = tuple[Target, str]
"""What an event is about: a kind of target and its id."""


class ReviewError(AgentHardError):
    """An event cannot be stored or read; the message names the event and the reason."""

    code = "AH811"
    remedy = "Correct what the message names; nothing of the same request was stored."


def _storable(text: str) -> str:
    if "\0" in text:
        raise ValueError("a null character cannot be stored")
    return text


def _named(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank")
    return _storable(text)


Name = Annotated[str, Field(max_length=200), AfterValidator(_named)]
Id = Annotated[str, Field(max_length=2000), AfterValidator(_named)]
Reason = Annotated[str, Field(max_length=20_000), AfterValidator(_storable)]
Content = Annotated[str, Field(max_length=100), AfterValidator(_storable)]


class VerdictData(Record):
    """A reviewer's answer on a task."""

    flaw: Flaw
    """Whether the task is flawed; cannot_tell: context is missing."""
    category: Annotated[str, Field(max_length=200), AfterValidator(_storable)] | None = None
    """Category of the flaw."""
    severity: Severity | None = None
    """What the flaw does to the score."""
    confidence: Literal["low", "medium", "high"] | None = None
    """How sure the reviewer is."""
    reason: Reason = ""
    """Why."""
    blind: bool = True
    """Whether the reviewer had not seen what checks and judges say."""
    seconds: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """Time from opening the item to the verdict."""


class FindingVerdictData(Record):
    """A reviewer's answer on a finding; it applies to all tasks of the finding."""

    answer: Answer
    """true: the flaw is there; arguable: it depends; false: the finding is wrong."""
    reason: Reason = ""
    """Why."""
    seconds: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """Time from opening the item to the verdict."""


class AdjudicationData(Record):
    """The final answer on a target that reviewers disagree about."""

    flaw: Flaw | None = None
    """Answer on a task."""
    answer: Answer | None = None
    """Answer on a finding."""
    category: Annotated[str, Field(max_length=200), AfterValidator(_storable)] | None = None
    """Category of the flaw."""
    severity: Severity | None = None
    """What the flaw does to the score."""
    reason: Reason = ""
    """Why."""


class UndoData(Record):
    """Takes an earlier event back; taking back an undo brings its event back."""

    event: UUID
    """Id of the event."""


class AssignmentData(Record):
    """Gives an item to a reviewer."""

    reviewer: Name
    """Who is to review it."""
    queue: Annotated[str, Field(max_length=200), AfterValidator(_storable)] = ""
    """Named queue that it was assigned in."""


class RepairData(Record):
    """What a person decided about a proposed patch."""

    outcome: Literal["accepted", "rejected"]
    """The decision."""
    finding: Annotated[str, Field(max_length=200), AfterValidator(_storable)] = ""
    """Id of the finding that the patch repairs; empty = all findings on the task, for a rejection only."""
    patch: tuple[dict[str, Any], ...] = ()
    """JSON Patch (RFC 6902) as accepted, after edits."""
    reason: Reason = ""
    """Why."""


class RevealData(Record):
    """The reviewer has unfolded what checks and judges say; later verdicts on the item are not blind."""


class SkipData(Record):
    """The reviewer passed the item over."""

    reason: Reason = ""
    """Why."""


Data = (
    VerdictData | FindingVerdictData | AdjudicationData | UndoData | AssignmentData | RepairData | RevealData | SkipData
)

_DATA: Final[Mapping[Kind, type[Record]]] = {
    "verdict": VerdictData,
    "finding_verdict": FindingVerdictData,
    "adjudication": AdjudicationData,
    "undo": UndoData,
    "assignment": AssignmentData,
    "repair": RepairData,
    "reveal": RevealData,
    "skip": SkipData,
}
_TARGET: Final[Mapping[Kind, Target]] = {"verdict": "task", "finding_verdict": "finding"}
"""Kinds that only have one kind of target."""


class Event(Record):
    """Something that a reviewer did."""

    id: UUID
    """Made by the sender: an event that is sent twice is stored once."""
    seq: int | None = None
    """Place in the order of the store; None before it is stored."""
    at: datetime
    """When, in UTC."""
    by: Name
    """Reviewer."""
    run: Name
    """Name of the audit that was reviewed."""
    kind: Kind
    """What was done."""
    target: Target
    """What it is about."""
    target_id: Id
    """Id of the task or finding."""
    content_hash: Content = ""
    """Hash of the content that the reviewer saw; see `agenthard.audit.decisions.verdicts`."""
    data: dict[str, Any] = Field(default_factory=dict)
    """What the kind needs; `details` has it as a record."""

    @field_validator("data")
    @classmethod
    def _as_json(cls, data: dict[str, Any]) -> dict[str, Any]:
        try:
            read: dict[str, Any] = json.loads(json.dumps(data, allow_nan=False))
        except TypeError as error:
            raise ValueError("is not JSON") from error
        return read

    @field_validator("at")
    @classmethod
    def _in_utc(cls, at: datetime) -> datetime:
        if at.tzinfo is None:
            raise ValueError("has no time zone; write it in UTC, such as 2026-05-04T09:30:00Z")
        return at.astimezone(UTC)

    @model_validator(mode="after")
    def _consistent(self) -> "Event":
        wanted = _TARGET.get(self.kind, self.target)
        if self.target != wanted:
            raise ValueError(f"a {self.kind} is about a {wanted}, not a {self.target}")
        details = self.details
        if isinstance(details, AdjudicationData):
            given, missing = ("flaw", "answer") if self.target == "task" else ("answer", "flaw")
            if getattr(details, given) is None or getattr(details, missing) is not None:
                raise ValueError(f"an adjudication of a {self.target} needs `{given}`, and no `{missing}`")
        return self

    @property
    def details(self) -> Data:
        """``data`` as the record of the kind."""
        return cast("Data", _DATA[self.kind].model_validate(self.data))

    @property
    def key(self) -> Key:
        """What the event is about."""
        return self.target, self.target_id


def read_event(value: Mapping[str, Any], where: str) -> Event:
    """Validate an event from outside.

    Args:
        value: its fields.
        where: place for the message, such as ``verdicts.jsonl:3``.

    Raises:
        ReviewError: a field is missing, unknown or has another type.
    """
    try:
        return Event.model_validate(value)
    except ValidationError as error:
        raise ReviewError(f"{where}: {first_problem(error)}") from None


def first_problem(error: ValidationError) -> str:
    """Say which field is wrong and why, in one line without the value."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"]))
    return f"{place + ': ' if place else ''}{first['msg'].removeprefix('Value error, ')}"


def as_data(details: Record) -> dict[str, Any]:
    """Return the ``data`` of an event whose `details` are given; fields with their default are left out."""
    return details.model_dump(mode="json", exclude_defaults=True)
