"""The records of a state by what names them, made once for all tasks that share it."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import cached_property

from audit.detectors.ground_truth.identity_cache import IdentityCache
from audit.judge.state_records import StateRecord, cut
from taxonomy.task import AgentTask, EnvironmentSpec

NAMESAKES = 3
"""Records that may have a key in common for it to name them."""
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
        self.traits: dict[str, set[str]] = defaultdict(set)
        self._keys: dict[str, set[str]] = defaultdict(set)
        for number, each in enumerate(self.records):
            if each.record not in self.parts:
                self.tables[each.table].append(each.record)
            self.parts[each.record].append(number)
            self.table[each.record] = each.table
            self.values[each.record] |= each.values
            if each.day is None:
                self.traits[each.record] |= each.traits
            for key in each.keys:
                self._keys[key].add(each.record)
        self.position = {each.passage.label: number for number, each in enumerate(self.records)}
        self.tokens_of = Counter[str]()
        for each in self.records:
            self.tokens_of[each.table] += each.tokens
        self.tokens = self.tokens_of.total()

    def named(self, term: str) -> set[str]:
        """Return the records that a term names; none when it stands for too many."""
        found = self._keys.get(term, set())
        return found if len(found) <= NAMESAKES else set()

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

own_index: IdentityCache[AgentTask, StateIndex] = IdentityCache(
    lambda task: StateIndex(cut(task.initial_state, "/initial_state"))
)
"""Index of a task's own state."""
