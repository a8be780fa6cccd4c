"""What the events of a review add up to: current verdicts, disagreements, assignments. Reads no store and no clock."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from uuid import UUID

from agenthard.flows.review.events import (
    AdjudicationData,
    Event,
    FindingVerdictData,
    Key,
    UndoData,
    VerdictData,
)


@dataclass(frozen=True)
class ItemState:
    """What people have said about one task or finding."""

    verdicts: Mapping[str, Event] = field(default_factory=dict)
    """Current verdict of each reviewer, by name; stale ones are not among them."""
    adjudication: Event | None = None
    """The final verdict, if there is one."""
    assigned: frozenset[str] = frozenset()
    """Reviewers to whom the item is assigned."""
    revealed: frozenset[str] = frozenset()
    """Reviewers who have seen what checks and judges say."""
    skipped: frozenset[str] = frozenset()
    """Reviewers who passed it over and have given no verdict since."""
    repairs: Mapping[str, Event] = field(default_factory=dict)
    """The last decision about a patch, by the id of the finding that it repairs."""
    stale: tuple[Event, ...] = ()
    """Verdicts and adjudications about content that has changed since, or that is gone; they are shown and not used."""
    active: tuple[Event, ...] = ()
    """All events that no undo takes back, in order."""
    undone: frozenset[UUID] = frozenset()
    """Ids of the events that are taken back."""

    @property
    def answers(self) -> dict[str, str]:
        """Current answer of each reviewer: yes, no or cannot_tell on a task; true, arguable or false on a finding."""
        return {by: answer_of(event) for by, event in self.verdicts.items()}

    @property
    def split(self) -> bool:
        """Whether reviewers disagree and the item is not adjudicated."""
        return self.adjudication is None and len(set(self.answers.values())) > 1

    @property
    def answer(self) -> str | None:
        """The answer that counts: the adjudicated one, else the one that all reviewers gave; None without one."""
        if self.adjudication is not None:
            return answer_of(self.adjudication)
        answers = set(self.answers.values())
        return answers.pop() if len(answers) == 1 else None

    @property
    def reviewed(self) -> bool:
        """Whether there is a verdict that counts."""
        return bool(self.verdicts) or self.adjudication is not None


NOTHING = ItemState()
"""The state of an item without events."""


def answer_of(event: Event) -> str:
    """Return the answer of a verdict or an adjudication.

    Raises:
        ValueError: for an event of another kind.
    """
    details = event.details
    if isinstance(details, VerdictData):
        return details.flaw
    if isinstance(details, FindingVerdictData):
        return details.answer
    if isinstance(details, AdjudicationData):
        return details.flaw or details.answer or ""
    raise ValueError(f"event {event.id} is a {event.kind} and holds no answer")


class ReviewState:
    """A fold of events. More events can be added; only the items that they are about are folded again."""

    def __init__(self, events: Iterable[Event] = (), contents: Mapping[Key, str] | None = None) -> None:
        """Fold events.

        Args:
            events: events in the order of the store.
            contents: hash of each task and finding as it is now. A verdict about other content, or about what is not
                here, is stale. None = no verdict is stale.
        """
        self._contents = contents
        self._events: dict[Key, list[Event]] = {}
        self._items: dict[Key, ItemState] = {}
        self.seq = 0
        """Place of the last event; 0 without events."""
        self.add(events)

    def add(self, events: Iterable[Event]) -> None:
        """Add later events; one that is known is left out."""
        for event in events:
            if event.seq is not None and event.seq <= self.seq:
                continue
            self.seq = event.seq or self.seq
            self._events.setdefault(event.key, []).append(event)
            self._items.pop(event.key, None)

    def item(self, key: Key) -> ItemState:
        """Return the state of one task or finding."""
        if key not in self._items:
            if key not in self._events:
                return NOTHING
            self._items[key] = self._fold(key)
        return self._items[key]

    def items(self) -> Iterator[tuple[Key, ItemState]]:
        """Yield every item that has events, in the order of its first event."""
        return ((key, self.item(key)) for key in self._events)

    def history(self, key: Key) -> tuple[Event, ...]:
        """Return all events about one task or finding, in order, with those that were taken back."""
        return tuple(self._events.get(key, ()))

    def events(self) -> Iterator[Event]:
        """Yield all events by item, those of one item in order."""
        for events in self._events.values():
            yield from events

    @property
    def reviewers(self) -> tuple[str, ...]:
        """Everyone with a current verdict, sorted."""
        return tuple(sorted({by for _, item in self.items() for by in item.verdicts}))

    def _fold(self, key: Key) -> ItemState:
        events = self._events[key]
        undone = taken_back(events)
        active = tuple(event for event in events if event.id not in undone and event.kind != "undo")
        stale = tuple(event for event in active if self._is_stale(event))
        verdicts, skipped = dict[str, Event](), set[str]()
        repairs, adjudication = dict[str, Event](), None
        for event in active:
            if event.kind in ("verdict", "finding_verdict"):
                verdicts[event.by] = event
                skipped.discard(event.by)
            elif event.kind == "adjudication":
                adjudication = event
            elif event.kind == "repair":
                repairs[str(event.data.get("finding", ""))] = event
            elif event.kind == "skip":
                skipped.add(event.by)
        return ItemState(
            verdicts={by: event for by, event in sorted(verdicts.items()) if event not in stale},
            adjudication=adjudication if adjudication not in stale else None,
            assigned=frozenset(str(event.data["reviewer"]) for event in active if event.kind == "assignment"),
            revealed=frozenset(event.by for event in active if event.kind == "reveal"),
            skipped=frozenset(skipped),
            repairs=repairs,
            stale=tuple(event for event in stale if event in (*verdicts.values(), adjudication)),
            active=active,
            undone=frozenset(undone),
        )

    def _is_stale(self, event: Event) -> bool:
        if self._contents is None or event.kind not in ("verdict", "finding_verdict", "adjudication"):
            return False
        return event.content_hash != self._contents.get(event.key)


def taken_back(events: Iterable[Event]) -> set[UUID]:
    """Return the ids of the events of one item that are taken back, undos among them.

    From the last event to the first: an undo that no later one takes back takes its event back.
    """
    found = set[UUID]()
    for event in reversed(list(events)):
        if event.kind == "undo" and event.id not in found:
            details = event.details
            assert isinstance(details, UndoData)
            found.add(details.event)
    return found


def fold(events: Iterable[Event], contents: Mapping[Key, str] | None = None) -> ReviewState:
    """Fold events into a state; the arguments are those of `ReviewState`."""
    return ReviewState(events, contents)
