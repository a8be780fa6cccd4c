"""Saying which records of a state are not shown."""

from collections.abc import Iterable, Iterator, Sequence

from agenthard.audit.judge.context.material import Omission, Passage
from agenthard.audit.judge.context.state_index import StateIndex
from agenthard.taxonomy.pointer import split


def unrelated(index: StateIndex, related: Iterable[int]) -> Iterator[Omission]:
    """Yield one statement per table that has records, or parts of records, that the task is not about.

    Args:
        index: the state.
        related: positions in the index of the records that are brought.
    """
    shown: dict[str, dict[str, list[int]]] = {table: {} for table in index.tables}
    for number in related:
        each = index.records[number]
        shown[each.table].setdefault(each.record, []).append(number)
    for table, records in index.tables.items():
        of = shown[table]
        parts = {record: len(index.parts[record]) - len(numbers) for record, numbers in of.items()}
        said = []
        if len(of) < len(records):
            said.append(f"{len(records) - len(of)} of {len(records)} records: not what the task is about")
        if any(parts.values()):
            others = sum(1 for count in parts.values() if count)
            said.append(f"{sum(parts.values())} parts (days) of {others} others: not the days in question")
        if said:
            tokens = index.tokens_of[table] - sum(index.records[n].tokens for numbers in of.values() for n in numbers)
            yield Omission(label=table, what=f"{_name(table)}: {'; '.join(said)}", tokens=tokens)


def no_room(index: StateIndex, dropped: Sequence[Passage]) -> Iterator[Omission]:
    """Yield one statement per table of which related records, or parts of them, are left out for want of room.

    Args:
        index: the state.
        dropped: passages that are left out; those of other states do not matter.
    """
    tables: dict[str, list[int]] = {}
    for passage in dropped:
        number = index.position.get(passage.label)
        if number is not None:
            tables.setdefault(index.records[number].table, []).append(number)
    for table, numbers in tables.items():
        count = len({index.records[number].record for number in numbers})
        what = f"{_name(table)}: {len(numbers)} records or parts, of {count} records that the task leads to: no room"
        yield Omission(label=table, what=what, tokens=sum(index.records[number].tokens for number in numbers))


def _name(table: str) -> str:
    tokens = split(table)
    return "the task's own state" if tokens == ["initial_state"] else tokens[-1]
