"""An index of a state's records by keys and values, made once for all tasks that share the state."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from agenthard.audit.detectors.support.sharing import IdentityCache
from agenthard.audit.judge.context.material import Omission, Passage
from agenthard.audit.judge.context.state_records import StateRecord, cut
from agenthard.taxonomy.pointer import split
from agenthard.taxonomy.task import AgentTask, EnvironmentSpec

NAMESAKES = 3
"""Records that may share a key for it to name them; a key of more records is a common value."""
OWN = "/initial_state"
"""Pointer of a task's own state."""
RARE = 0.25
"""Share of the records of a table that may hold a value for it to distinguish them."""
STRAY = 0.01
"""Share of the records of a catalogue that may refer to another table, since equal values also occur by chance."""
INCLUDED = 0.5
"""Share of the distinct values of a field that are keys of another table for the field to be a foreign key. Real
foreign keys have 1, with some dangling references less; a word such as a product name in another field has little."""
KEY_TABLE = 8
"""Records of a table from which unique values make a field a key; in smaller tables values are unique by chance."""
KEY_COVERAGE = 0.9
"""Share of the records of a table that have a value in a key field."""


class StateIndex:
    """Records of one state, found by their keys and values. A record is identified by its JSON Pointer."""

    def __init__(self, records: Iterable[StateRecord]) -> None:
        self.records = tuple(records)
        self.parts: dict[str, list[int]] = defaultdict(list)
        self.table: dict[str, str] = {}
        self.tables: dict[str, list[str]] = defaultdict(list)
        self.held: dict[str, set[tuple[str, str]]] = defaultdict(set)
        self.fields: dict[str, set[tuple[str, str]]] = defaultdict(set)
        self.series: dict[str, set[str]] = defaultdict(set)
        self.tokens_of = Counter[str]()
        self._keys: dict[str, set[str]] = defaultdict(set)
        self._unique_values: dict[str, set[str]] = defaultdict(set)
        for number, each in enumerate(self.records):
            if each.record not in self.parts:
                self.tables[each.table].append(each.record)
            self.parts[each.record].append(number)
            self.table[each.record] = each.table
            self.held[each.record] |= each.held
            self.tokens_of[each.table] += each.tokens
            if each.entry is None:
                self.fields[each.record] |= each.fields
            else:
                self.series[each.record].add(each.entry)
            for key in each.keys:
                self._keys[key].add(each.record)
        self.tokens = self.tokens_of.total()
        self.position = {each.passage.label: number for number, each in enumerate(self.records)}
        self.entries = frozenset[str]().union(*self.series.values())
        self._infer_keys()

    def _infer_keys(self) -> None:
        """Add the values of every field whose values are unique in its table to the keys of its records."""
        for records in self.tables.values():
            columns: dict[str, list[tuple[str, str]]] = defaultdict(list)
            for record in records:
                for name, term in self.fields[record]:
                    columns[name].append((term, record))
            for column in columns.values():
                covers = len(column) >= max(KEY_TABLE, KEY_COVERAGE * len(records))
                if covers and len({term for term, _ in column}) == len(column):
                    for term, record in column:
                        self._unique_values[term].add(record)

    def named(self, term: str) -> set[str]:
        """Return the records that a term names: it is their key, or their value in a field that identifies records."""
        found = self._keys.get(term, set()) | self._unique_values.get(term, set())
        return found if len(found) <= NAMESAKES else set()

    def keyed(self, term: str) -> set[str]:
        """Return the records that a term names as their key, since unique values may be common words in a response."""
        found = self._keys.get(term, set())
        return found if len(found) <= NAMESAKES else set()

    def references(self, record: str) -> set[str]:
        """Return the records of other tables whose keys a record holds."""
        return {other for name, term in self.held[record] for other in self.referred(self.table[record], name, term)}

    def referred(self, table: str, name: str, term: str) -> set[str]:
        """Return the records to which a term refers, in a field of a table, by a foreign key."""
        return {other for other in self.named(term) if (table, name, self.table[other]) in self.foreign_keys}

    @cached_property
    def foreign_keys(self) -> frozenset[tuple[str, str, str]]:
        """Fields that refer to another table, as (table, field, other table): most of their values are keys there."""
        distinct: dict[tuple[str, str], set[str]] = defaultdict(set)
        for record, pairs in self.held.items():
            for name, term in pairs:
                distinct[self.table[record], name].add(term)
        found = set()
        for (table, name), terms in distinct.items():
            hits = Counter(other for term in terms for other in {self.table[record] for record in self.named(term)})
            enough = INCLUDED * len(terms)
            found |= {(table, name, other) for other, count in hits.items() if other != table and count >= enough}
        return frozenset(found)

    @cached_property
    def referrers(self) -> dict[str, set[str]]:
        """Records by the records to which they refer in a field at their top: those that belong to them."""
        found: dict[str, set[str]] = defaultdict(set)
        for record, fields in self.fields.items():
            for name, term in fields:
                for other in self.referred(self.table[record], name, term):
                    found[other].add(record)
        return found

    def tokens_of_parts(self, record: str) -> int:
        """Return the tokens of a record without the entries of its series."""
        return sum(self.records[number].tokens for number in self.parts[record] if self.records[number].entry is None)

    def rare(self, table: str, terms: Iterable[str]) -> set[str]:
        """Return the terms that at least one record of a table holds, and few enough that they distinguish them."""
        frequency, most = self.frequency[table], RARE * len(self.tables[table])
        return {term for term in terms if 0 < frequency[term] <= most}

    def weight(self, table: str, term: str) -> float:
        """Return how specific a term is in a table: the logarithm of one over the share of its records that hold it."""
        return math.log(len(self.tables[table]) / self.frequency[table][term])

    @cached_property
    def holders(self) -> dict[str, set[str]]:
        """Records by the terms of their strings."""
        found: dict[str, set[str]] = defaultdict(set)
        for record, pairs in self.held.items():
            for _, term in pairs:
                found[term].add(record)
        return found

    @cached_property
    def known(self) -> frozenset[str]:
        """All keys and all terms that records hold."""
        return frozenset(self._keys).union(self.holders)

    @cached_property
    def frequency(self) -> dict[str, Counter[str]]:
        """How many records of a table hold a term."""
        found: dict[str, Counter[str]] = defaultdict(Counter)
        for record, pairs in self.held.items():
            found[self.table[record]].update({term for _, term in pairs})
        return found

    @cached_property
    def having(self) -> dict[tuple[str, str, str], set[str]]:
        """Records by their table, a field and its term."""
        found: dict[tuple[str, str, str], set[str]] = defaultdict(set)
        for record, fields in self.fields.items():
            for name, term in fields:
                found[self.table[record], name, term].add(record)
        return found

    @cached_property
    def catalogues(self) -> frozenset[str]:
        """Tables whose records refer to no other table: what a task can choose from."""
        return frozenset(
            table
            for table, records in self.tables.items()
            if len(records) > 1 and sum(1 for r in records if self.references(r)) <= STRAY * len(records)
        )


shared_index: IdentityCache[EnvironmentSpec, StateIndex] = IdentityCache(
    lambda environment: StateIndex(cut(environment.state, "/environment/state"))
)
"""Index of the state that the tasks of an environment share."""

own_index: IdentityCache[AgentTask, StateIndex] = IdentityCache(lambda task: StateIndex(cut(task.initial_state, OWN)))
"""Index of a task's own state."""


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
