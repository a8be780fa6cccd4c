"""Write the demo's escape rooms: generated and proved, then one made wrong in each known way, with the answer key."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

from agenthard.audit.faults.operator import Operator, Sound
from agenthard.escape.audit_task import INSTANCE, task_of
from agenthard.escape.faults import OPERATORS
from agenthard.escape.generator import Parameters, generate
from agenthard.escape.room import Instance
from agenthard.escape.storage import SUITES, from_data
from agenthard.flows.demo.benchmark import ANSWER_KEY, KeyEntry

ROOMS = Parameters(sizes=(8,), rooms=(2 * len(OPERATORS),), seed=7)
"""Twice as many rooms as there are kinds of flaws: at least half stay sound."""
CHANGES = {
    "room-wrong-gold": "another answer than the exit gives",
    "room-missing-hint": "the hint of a parameter is gone",
    "room-two-sources-for-one-hint": "two values bear the sign of one hint",
    "room-unreachable-part": "nothing brings a hidden part into sight",
    "room-leaked-value": "a text tells a value that is to be found",
    "room-lenient-exit": "the story tells all that the exit needs",
    "room-drifted-value": "a library gives another value by now",
}
"""What each kind of flaw is, by its operator."""
CHECK = "escape-proof"


def write_room_demo(out: Path) -> tuple[KeyEntry, ...]:
    """Write a suite with one flaw of each kind, and the answer key; the bytes are always the same.

    Args:
        out: Folder to write; it is created, and files of an earlier demo are replaced.

    Returns:
        The seeded flaws.
    """
    rooms = {room.id: room for room in generate(ROOMS)}
    key = [_plant(rooms, each, number) for number, each in enumerate(OPERATORS)]
    out.mkdir(parents=True, exist_ok=True)
    SUITES.write(out, rooms.values(), {"flawed": len(key)}, count=len(rooms))
    lines = (entry.model_dump_json() + "\n" for entry in key)
    (out / ANSWER_KEY).write_text("".join(lines), encoding="utf-8", newline="\n")
    return tuple(key)


def _plant(rooms: dict[str, Instance], operator: Operator, number: int) -> KeyEntry:
    """Make the first proved room wrong that allows it."""
    for room in _proved(rooms):
        fault = operator.plant(Sound(task=task_of("escape", room.id, room, {})), Random(number))
        if fault is not None:
            rooms[room.id] = from_data(fault.task.metadata[INSTANCE])
            change = CHANGES[operator.id]
            return KeyEntry(check=CHECK, category=operator.category, cause=room.id, task_ids=(room.id,), change=change)
    raise AssertionError(f"no room of the demo can be made wrong by {operator.id}")


def _proved(rooms: dict[str, Instance]) -> Iterator[Instance]:
    """Yield the rooms that are still as they were made: a changed one has lost its certificate."""
    yield from (room for room in rooms.values() if room.certificate is not None)
