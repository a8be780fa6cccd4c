"""From what a page sends to events: who may do it, whether it is blind, about which content; stored once."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from pydantic import Field, ValidationError

from agenthard.flows.errors import CommandError
from agenthard.flows.review.events import Event, Id, Kind, RepairData, ReviewError, Target, VerdictData, first_problem
from agenthard.flows.review.repairs import read_patch
from agenthard.flows.review.web.access import User
from agenthard.flows.review.web.open_run import OpenRun
from agenthard.taxonomy.record import Record

MOST_EVENTS = 5000
"""Events of one request."""
_FOR_ADMINS: tuple[Kind, ...] = ("adjudication", "assignment")


class NotAllowedError(ReviewError):
    """The person may not do this."""

    code = "AH813"
    remedy = "Ask an admin of the review; the users file gives the roles."


class Sent(Record):
    """What a page sends; the server adds who, when, the run and the content that the person saw."""

    id: UUID
    """Made by the page, which sends the same again until it is acknowledged."""
    kind: Kind
    """What was done."""
    target: Target
    """What it is about."""
    target_id: Id
    """Id of the task or finding."""
    data: dict[str, Any] = Field(default_factory=dict)
    """What the kind needs."""
    listed_by_checks: bool = False
    """Whether the person came from a list that is filtered by what checks say."""


def read_sent(body: Any) -> list[Sent]:
    """Validate the body of a request: a list of what was done.

    Raises:
        ReviewError: it is not such a list; the message names place and reason.
    """
    if not isinstance(body, list) or not 0 < len(body) <= MOST_EVENTS:
        raise ReviewError(f"send a list of 1 to {MOST_EVENTS:,} events")
    found = []
    for number, item in enumerate(body):
        try:
            found.append(Sent.model_validate(item))
        except ValidationError as error:
            raise ReviewError(f"event {number}: {first_problem(error)}") from None
    return found


def record(run: OpenRun, user: User, sent: Sequence[Sent]) -> list[Event]:
    """Store what a person did, all or nothing; what is stored already is returned as it is stored.

    Args:
        run: the audit.
        user: who did it.
        sent: what was done.

    Returns:
        The stored events, in order.

    Raises:
        NotAllowedError: the person may not do this.
        ReviewError: an event is not valid, or its id belongs to another one.
        CommandError: the audit has no such task or finding.
    """
    run.refresh()
    events = [_known(run, user, item) or _new(run, user, item) for item in sent]
    return run.append(events)


def _known(run: OpenRun, user: User, item: Sent) -> Event | None:
    """Return the event that an earlier request with the same id stored."""
    stored = run.stored(item.id)
    if stored is None:
        return None
    if (stored.by, stored.kind, stored.key) != (user.name, item.kind, (item.target, item.target_id)):
        raise ReviewError(f"event {item.id}: another event with this id is stored; give each a new UUID")
    return stored


def _new(run: OpenRun, user: User, item: Sent) -> Event:
    run.require((item.target, item.target_id))
    _require_allowed(run, user, item)
    try:
        event = Event(
            id=item.id,
            at=datetime.now(UTC),
            by=user.name,
            run=run.name,
            kind=item.kind,
            target=item.target,
            target_id=item.target_id,
            content_hash=run.contents[item.target, item.target_id],
            data={**item.data, **_added(run, user, item)},
        )
    except ValidationError as error:
        raise ReviewError(f"event {item.id}: {first_problem(error)}") from None
    _require_category(run, event)
    _require_finding(run, event)
    return event


def _require_allowed(run: OpenRun, user: User, item: Sent) -> None:
    if not user.reviews:
        raise NotAllowedError(f"{user.name} has the role {user.role}, which decides nothing")
    if item.kind in _FOR_ADMINS and not user.administers:
        raise NotAllowedError(f"only an admin may send the event {item.kind!r}; {user.name} is a {user.role}")
    if item.kind == "undo":
        undone = run.stored(_undone(item.data))
        if undone is not None and undone.by != user.name and not user.administers:
            raise NotAllowedError(f"{undone.target_id}: this was decided by {undone.by}; only they or an admin undo it")
        if undone is not None and undone.kind == "reveal":
            raise ReviewError(f"{undone.target_id}: what was seen cannot be undone")


def _undone(data: Mapping[str, Any]) -> UUID:
    try:
        return UUID(str(data.get("event")))
    except ValueError:
        raise ReviewError("an undo needs the id of an event in `data.event`") from None


def _require_category(run: OpenRun, event: Event) -> None:
    category = event.data.get("category")
    if category is not None and category not in {each.id for each in run.taxonomy.categories}:
        raise CommandError(f"event {event.id}: no category {category!r}; `agenthard taxonomy` lists them")


def _require_finding(run: OpenRun, event: Event) -> None:
    """Check that a decision about a repair names a finding on its task."""
    if isinstance(event.details, RepairData):
        run.require(("finding", event.details.finding))
        if event.target_id not in run.findings[event.details.finding].task_ids:
            raise ReviewError(f"event {event.id}: the finding {event.details.finding} is not about {event.target_id}")


def _added(run: OpenRun, user: User, item: Sent) -> dict[str, Any]:
    """Return what the server knows better than the page: whether a verdict is blind, which values a patch has."""
    patch = item.data.get("patch")
    if item.kind == "repair" and isinstance(patch, str):
        return {"patch": read_patch(patch)}
    return {"blind": _is_blind(run, user, item)} if item.kind == "verdict" else {}


def _is_blind(run: OpenRun, user: User, item: Sent) -> bool:
    """A verdict is blind when nothing of the checks was shown before, or when it only adds words to one that was."""
    earlier = run.item(("task", item.target_id)).verdicts.get(user.name)
    if earlier is not None and isinstance(earlier.details, VerdictData):
        same = all(earlier.data.get(name) == item.data.get(name) for name in ("flaw", "category", "severity"))
        return earlier.details.blind and same
    return not item.listed_by_checks and not run.has_seen(user.name, item.target_id)
