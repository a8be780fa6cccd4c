"""Noting that a reviewer was shown what checks say: later verdicts are then not blind."""

from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import uuid4

from agenthard.flows.review.events import Event, Key
from agenthard.flows.review.web.rendering import Visit


def note_opened(visit: Visit, about: Sequence[Key]) -> None:
    """Store that a reviewer has seen what checks say about tasks or findings, once for each; readers leave no note."""
    run, by = visit.run, visit.user.name
    if not visit.user.reviews:
        return
    new = [key for key in about if all(event.by != by for event in run.history(key))]
    now = datetime.now(UTC)
    run.append(
        [
            Event(
                id=uuid4(),
                at=now,
                by=by,
                run=run.name,
                kind="reveal",
                target=key[0],
                target_id=key[1],
                content_hash=run.contents[key],
            )
            for key in new
        ]
    )
