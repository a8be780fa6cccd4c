"""Readings made from the ground truth by one change: an open choice is made otherwise.

A choice is an argument of a gold call that can change something, whose value is one key of a small table inside a
record (the payment methods of a user, the addresses of a customer). It is open when no word of the value, nor of
another key of the same table, nor of what the records hold about them, is said by the user.
"""

import re
from collections.abc import Iterator
from typing import Any

from agenthard.audit.detectors.support.gold_values import name_words
from agenthard.audit.execution.attempts import argument_path, place_of, replaced, value_at, with_call
from agenthard.audit.execution.replay import gold_turns
from agenthard.audit.readings.records import Reading
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.task import AgentTask

MOST_OTHERS = 4
"""Other keys that are tried for one choice."""
_WIDEST = 12
"""Keys of a table from which on it is a catalogue, in which the user's other words choose."""
_SAID = re.compile(r"[^\W\d_]{2,}")
_STEM = 6
"""Letters of a word that are compared: "certificates" names a certificate."""


def unsettled_choices(task: AgentTask) -> Iterator[tuple[str, Reading]]:
    """Yield readings that make one unsettled choice otherwise, each with the JSON Pointer of the gold argument.

    A value that the record which the call changes holds already (the card that an order was paid with) is not open
    choice: it is what a careful agent takes where nothing is said.

    Args:
        task: the task; its state and its own initial state are looked through for tables.
    """
    said = {word.casefold()[:_STEM] for _, text in task.user_texts() for word in _SAID.findall(text)}
    for pointer, call in task.gold_calls():
        tool = task.tool(call.name, call.requestor)
        if tool is None or tool.effect == "read":
            continue
        for at, value in _leaves(f"{pointer}/arguments", call.arguments):
            table = _table(task, value)
            others = sorted(table.keys() - {value})[:MOST_OTHERS]
            words = {word for key in table for word in _words(key, table)}
            if others and not words & said and not _in_changed_record(task, value, call.arguments):
                yield from _otherwise(task, at, value, others)


def _in_changed_record(task: AgentTask, value: str, arguments: dict[str, Any]) -> bool:
    """Tell whether a record that the call names holds a value already, apart from the table of choices itself."""
    named = {text for _, text in _leaves("", arguments)}
    for records in task.environment.state.values() if isinstance(task.environment.state, dict) else ():
        for key in sorted(named & records.keys()) if isinstance(records, dict) else ():
            if any(text == value for _, text in _leaves("", records[key])) and value not in str(_tables(records[key])):
                return True
    return False


def _tables(record: Any) -> list[str]:
    """List the keys of the small tables of a record."""
    tables = (table for table in record.values() if isinstance(table, dict)) if isinstance(record, dict) else ()
    return [key for table in tables for key in table]


def _otherwise(task: AgentTask, at: str, value: str, others: list[str]) -> Iterator[tuple[str, Reading]]:
    turns, place, path = gold_turns(task), place_of(at), argument_path(at)
    arguments = turns[place[0]][place[1]].arguments
    if value_at(arguments, path) != value:
        return
    for number, other in enumerate(others):
        changed = with_call(turns, place, arguments=replaced(arguments, path, other))
        meaning = f"the user leaves open {path[-1] if not path[-1].isdigit() else path[0]}, and {other} is taken"
        yield at, Reading(name="ABCD"[number], meaning=meaning, turns=changed, says=task.ground_truth.outputs)


def _leaves(pointer: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves(join(pointer, key), item)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _leaves(join(pointer, index), item)
    elif isinstance(value, str):
        yield pointer, value


def _table(task: AgentTask, value: str) -> dict[str, Any]:
    """Return the small table that holds a value as a key, in a record that the task names; empty when there is none."""
    for state in (task.environment.state, task.initial_state):
        for records in state.values() if isinstance(state, dict) else ():
            for record in _owners(task, records):
                for table in record.values() if isinstance(record, dict) else ():
                    if isinstance(table, dict) and value in table and 1 < len(table) <= _WIDEST:
                        if all(map(_is_plain, table.values())):
                            return table
    return {}


def _is_plain(entry: Any) -> bool:
    """Tell whether an entry has texts and numbers only: goods that are chosen by what they are have more to them."""
    return isinstance(entry, dict) and not any(isinstance(item, (dict, list, bool)) for item in entry.values())


def _owners(task: AgentTask, records: Any) -> Iterator[Any]:
    """Yield the records of a table that a gold call or the user names."""
    if isinstance(records, dict):
        named = {text for _, call in task.gold_calls() for _, text in _leaves("", call.arguments)}
        named |= {word for _, text in task.user_texts() for word in re.findall(r"[\w#.-]+\w", text)}
        yield from (records[key] for key in sorted(named & records.keys()))


def _words(key: str, table: dict[str, Any]) -> Iterator[str]:
    """Yield what a user may call an entry: words of its key and of its texts, and the initials of its key ("GC")."""
    words = [word for word in name_words(key) if word.isalpha()]
    yield "".join(word[0] for word in words).casefold()
    for text in (*words, *(text for _, text in _leaves("", table[key]))):
        yield from (word.casefold()[:_STEM] for word in _SAID.findall(text) if len(word) >= 4)
