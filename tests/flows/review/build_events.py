"""Events for tests, one second apart."""

from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any
from uuid import UUID, uuid4

from agenthard.flows.review.events import Event

_SECONDS = count()


def made(
    kind: str, target_id: str, by: str = "ann", *, target: str = "task", content: str = "c1", **data: Any
) -> Event:
    at = datetime(2026, 5, 4, 9, 30, tzinfo=UTC) + timedelta(seconds=next(_SECONDS))
    return Event.model_validate(
        {
            "id": str(uuid4()),
            "at": at,
            "by": by,
            "run": "demo",
            "kind": kind,
            "target": target,
            "target_id": target_id,
            "content_hash": content,
            "data": data,
        }
    )


def verdict(task: str, flaw: str = "yes", by: str = "ann", content: str = "c1", **data: Any) -> Event:
    return made("verdict", task, by, content=content, flaw=flaw, **data)


def finding_verdict(finding: str, answer: str, by: str = "ann", content: str = "c1", **data: Any) -> Event:
    return made("finding_verdict", finding, by, target="finding", content=content, answer=answer, **data)


def undo(event: Event, by: str = "ann") -> Event:
    return made("undo", event.target_id, by, target=event.target, event=str(event.id))


def numbered(*events: Event) -> list[Event]:
    return [event.model_copy(update={"seq": number}) for number, event in enumerate(events, start=1)]


def ids(events: list[Event]) -> list[UUID]:
    return [event.id for event in events]
