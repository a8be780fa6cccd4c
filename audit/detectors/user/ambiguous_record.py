"""Check: a request that fits two items of the user's records, of which the gold takes one."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.knowledge import scalars_in
from agenthard.audit.detectors.support.sharing import shared_cause
from agenthard.audit.detectors.support.text import squash, words
from agenthard.audit.evidence import quote
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.task import AgentTask, ToolCall

_STATE = "/environment/state"
_CHOOSING = frozenset(
    "all both every everything each any either latest recent first last oldest newest earlier later cheapest cheaper "
    "expensive price most least other another remaining".split()
)
_SHORTEST_WORD = 4


@dataclass(frozen=True)
class _Item:
    record: str
    """Id of the record that holds it."""
    at: str
    """JSON Pointer into the task."""
    data: dict[str, Any]
    mates: frozenset[str]
    """Names of the other items of the record."""


class AmbiguousRecord(TaskDetector):
    """When the user owns two items of one kind, the user's text tells which one the gold takes.

    Looked at are gold calls that name a record of the shared state (an order) and, by id, items in it that have a name.
    A rival is an item of the same name in a record of the same table with the same owner and status, which no gold call
    takes. The text sets the two apart when it names the record, an option of the item that the rival lacks, or another
    item of the record that the rival's record lacks, or when it chooses by word ("both", "the cheaper one", "latest").

    Flagged: "I want to return the bookshelf", where two delivered orders hold a bookshelf and the gold returns one.
    Not flagged: "the bookshelf in the order with the jigsaw"; "the glass bookshelf".

    It only orders the review queue: the simulator may know more, or the text may choose in words not listed.
    """

    id = "ambiguous-record"
    title = "Requests that fit two of the user's items"
    version = "1"
    category = "ambiguous-instruction"
    severity = Severity.MAY_AFFECT_SCORE
    tier = Tier.SIGNAL
    why = "The request is carried out as well with the other item, and then the final state differs from the gold's."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Only gold calls on a shared state can be checked."""
        if not any(task.ground_truth.turns):
            return "the ground truth holds no calls"
        return None if isinstance(task.environment.state, dict) else "no shared state is part of the files"

    def inspect(self, task: AgentTask) -> Iterator[Hit]:
        """Yield one hit per item with a rival."""
        texts = [text for _, text in task.user_texts()]
        stems = {word for text in texts for word in words(text)}
        if stems & _CHOOSING:
            return
        said = "\n".join(squash(text) for text in texts)
        taken = {(item.record, item.at) for _, call in task.gold_calls() for item in _items_taken(task, call)}
        for pointer, call in task.gold_calls():
            for item in _items_taken(task, call):
                if squash(item.record) in said:
                    continue
                for rival in _rivals(task, item):
                    if (rival.record, rival.at) in taken or _set_apart(item, rival, said, stems):
                        continue
                    name = item.data["name"]
                    yield Hit(
                        claim=f"The user asks for one {name!r} and has two that fit, in {item.record} and in "
                        f"{rival.record}; the gold call of {call.name!r} takes the first.",
                        evidence=(
                            quote(task, pointer, note="the gold call"),
                            quote(task, item.at, note="what it takes"),
                            quote(task, rival.at, note="what fits as well"),
                        ),
                        fix="Say in the request which one is meant.",
                        cause=shared_cause(task, call.name, item.record, name),
                    )
                    break


def _items_taken(task: AgentTask, call: ToolCall) -> Iterator[_Item]:
    given = {text for text in scalars_in(call.arguments)}
    for table, rows in task.environment.state.items():
        for key in sorted(given & rows.keys()) if isinstance(rows, dict) else ():
            for item in _items(rows[key], key, join(_STATE, table, key)):
                ids = {value for name, value in item.data.items() if name.endswith("id") and isinstance(value, str)}
                if given & ids:
                    yield item


def _items(record: Any, key: str, at: str) -> Iterator[_Item]:
    for member, listed in record.items() if isinstance(record, dict) else ():
        items = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
        names = [item.get("name") for item in items]
        for i, item in enumerate(listed if items else ()):
            if isinstance(item, dict) and isinstance(item.get("name"), str):
                mates = frozenset(name for name in names if isinstance(name, str) and name != item["name"])
                yield _Item(key, join(at, member, i), item, mates)


def _rivals(task: AgentTask, item: _Item) -> Iterator[_Item]:
    table = item.at.removeprefix(f"{_STATE}/").split("/")[0]
    rows = task.environment.state[table]
    record = rows[item.record]
    owners = [name for name in record if name.endswith("user_id") or name.endswith("owner_id") or name == "customer_id"]
    for key, other in rows.items():
        if owners and isinstance(other, dict) and all(other.get(n) == record.get(n) for n in (*owners, "status")):
            for candidate in _items(other, key, join(_STATE, table, key)):
                if candidate.data["name"] == item.data["name"] and candidate.at != item.at:
                    yield candidate


def _set_apart(item: _Item, rival: _Item, said: str, stems: set[str]) -> bool:
    own = {squash(text) for text in scalars_in(item.data)} - {squash(text) for text in scalars_in(rival.data)}
    if any(text and text in said for text in own):
        return True
    mates = {word for name in item.mates - rival.mates for word in words(name) if len(word) >= _SHORTEST_WORD}
    return any(mate[:_SHORTEST_WORD] == word[:_SHORTEST_WORD] for mate in mates for word in stems)
