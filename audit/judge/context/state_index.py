"""The records of a state by what names them, made once for all tasks that share it."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import cached_property

from agenthard.audit.detectors.support.sharing import IdentityCache
from agenthard.audit.judge.context.state_records import StateRecord, cut
from agenthard.audit.judge.context.terms import is_day
from agenthard.taxonomy.task import AgentTask, EnvironmentSpec

NAMESAKES = 3
"""Records that may have a key in common for it to name them."""
OWN = "/initial_state"
"""Where a task's own state stands."""
RARE = 0.25
"""Share of the records of a table that may hold a value for it to tell something."""
STRAY = 0.01
"""Share of the records of a catalogue that may refer to another table by chance."""


class StateIndex:
    """Records, grouped and found by their terms. Groups are named by the pointer of the record."""

    def __init__(self, records: Iterable[StateRecord]) -> None:
        self.records = tuple(records)
        self.parts: dict[str, list[int]] = defaultdict(list)
        self.table: dict[str, str] = {}
        self.tables: dict[str, list[str]] = defaultdict(list)
        self.values: dict[str, set[str]] = defaultdict(set)
        self.fields: dict[str, set[tuple[str, str]]] = defaultdict(set)
        self.days: dict[str, set[str]] = defaultdict(set)
        self._keys: dict[str, set[str]] = defaultdict(set)
        self._names: dict[str, set[str]] = defaultdict(set)
        for number, each in enumerate(self.records):
            if each.record not in self.parts:
                self.tables[each.table].append(each.record)
            self.parts[each.record].append(number)
            self.table[each.record] = each.table
            self.values[each.record] |= each.values
            if each.day is None:
                self.fields[each.record] |= each.fields
            else:
                self.days[each.record].add(each.day)
            self._names[each.record] |= each.keys
            for key in each.keys:
                self._keys[key].add(each.record)
        self.position = {each.passage.label: number for number, each in enumerate(self.records)}
        self.traits = {record: {term for _, term in self.fields[record]} for record in self.parts}
        self.calendar = frozenset(filter(is_day, set().union(*self.days.values())))
        self.tokens_of = Counter[str]()
        for each in self.records:
            self.tokens_of[each.table] += each.tokens
        self.tokens = self.tokens_of.total()

    def named(self, term: str) -> set[str]:
        """Return the records that a term names; none when it stands for too many."""
        found = self._keys.get(term, set())
        return found if len(found) <= NAMESAKES else set()

    def keys(self, record: str) -> set[str]:
        """Return the terms that name a record."""
        return self._names[record]

    @cached_property
    def holders(self) -> dict[str, set[str]]:
        """Records by the terms of their strings."""
        found: dict[str, set[str]] = defaultdict(set)
        for record, terms in self.values.items():
            for term in terms:
                found[term].add(record)
        return found

    @cached_property
    def known(self) -> frozenset[str]:
        """All terms."""
        return frozenset(self._keys) | frozenset(self.holders)

    @cached_property
    def frequency(self) -> dict[str, Counter[str]]:
        """How many records of a table hold a term."""
        found: dict[str, Counter[str]] = defaultdict(Counter)
        for record, terms in self.values.items():
            found[self.table[record]].update(terms)
        return found

    @cached_property
    def having(self) -> dict[tuple[str, str, str], set[str]]:
        """Records by their table, a field at their top and its term."""
        found: dict[tuple[str, str, str], set[str]] = defaultdict(set)
        for record, fields in self.fields.items():
            for name, term in fields:
                found[self.table[record], name, term].add(record)
        return found

    def rare(self, table: str, terms: Iterable[str]) -> set[str]:
        """Return those terms that some records of a table have, and so few that they tell something."""
        frequency, most = self.frequency[table], RARE * len(self.tables[table])
        return {term for term in terms if 0 < frequency[term] <= most}

    def weight(self, table: str, term: str) -> float:
        """How much it tells that a record of a table has a term."""
        return math.log(len(self.tables[table]) / self.frequency[table][term])

    def links(self, record: str) -> set[str]:
        """Return the records of other tables that a record refers to."""
        own = self.table[record]
        return {other for term in self.values[record] for other in self.named(term) if self.table[other] != own}

    @cached_property
    def catalogues(self) -> frozenset[str]:
        """Tables whose records refer to no other table: what there is to choose from, and nobody's own."""
        return frozenset(
            table
            for table, records in self.tables.items()
            if len(records) > 1 and sum(1 for r in records if self.links(r)) <= STRAY * len(records)
        )


shared_index: IdentityCache[EnvironmentSpec, StateIndex] = IdentityCache(
    lambda environment: StateIndex(cut(environment.state, "/environment/state"))
)
"""Index of the state that the tasks of an environment share."""

own_index: IdentityCache[AgentTask, StateIndex] = IdentityCache(lambda task: StateIndex(cut(task.initial_state, OWN)))
"""Index of a task's own state."""
