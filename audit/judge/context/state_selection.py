"""Select the records of a state that a decision about a task needs, nearest first, within a token budget.

The algorithm knows nothing about the domain. Its steps:

1. *Seeds*, at cost 0: records that the user, the ground truth or the evaluator names by a key; in a table of which
   nothing is named, records that several values in one text identify together. Records that a response or the result
   of a check names are seeds at cost ``OBSERVED``.
2. *Belongings*: all records that a seed lists and that refer back to it, and all that the owner of a seed lists, such
   as the other orders of the same user: what is largest, latest or spent in all can be told only from all of them.
3. *Closure*: from each record to those whose keys it holds, and to those that hold its key in a field. A step costs
   1, more to one of many records, and more to a large record.
4. *Alternatives*: records of a catalogue that have two rare values in common with a chosen record, with an object in
   a call of the ground truth, or with the user's text.
5. *Budget*: records in order of cost until ``BUDGET`` tokens are used. Seeds, and what belongs to them, are always
   selected.

A record with a series (an object whose keys are days) is selected with single entries of it: those that are named in
the same object as the record, else those named in the same text.
"""

import heapq
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from agenthard.audit.evidence import canonical_json
from agenthard.audit.judge.context.state_index import NAMESAKES, OWN, RARE, StateIndex
from agenthard.audit.judge.context.state_records import Fields, as_term, days, mentioned, named_terms, plain_fields
from agenthard.taxonomy.pointer import resolve
from agenthard.taxonomy.task import AgentTask

SMALL = 12_000
"""Tokens, at most, of a state that is shown whole."""
BUDGET = 15_000
"""Tokens, at most, of the records that are selected besides the seeds."""
FARTHEST = 3.2
"""Cost from which records are left out even if there is room: the text does not lead to them any more."""
OBSERVED = 2.0
"""Cost of a record that a response or the result of a check names."""
ALTERNATIVE = 2.2
"""Cost of the step from a record to an alternative."""
OTHER_ENTRY = 0.6
"""Cost of the step from a record to the entries of its series that the user names."""
BELONGING = 0.5
"""Cost, at most, of a record that belongs to one that is named, such as a further order of the user. It is below 1, so
that such records count as named: a total or "the last one" can be checked only where all of them are shown."""
LISTING = 12
"""Records that a response names at most; one that names more is a listing."""
BY_CHANCE = 0.1
"""Expected number of records that hold the same values by chance, below which values identify a record."""
FOLLOWERS = 20
"""Records that may hold the key of a record for them to belong to it."""
LARGE = 1_500
"""Tokens of a record that make a step to it cost 1 more."""
MOST_ALIKE = 40
"""Alternatives of one text at most; a text that fits more does not choose between them."""


class _Object(NamedTuple):
    """An object in a JSON value."""

    held: set[tuple[str, str]]
    """The names and terms of its plain members, lists included, and its keys."""
    fields: Fields
    """Its plain members."""
    entries: set[str]
    """Keys of series that it names, or the nearest object around it does."""


def _objects(value: Any, known: frozenset[str], outer: frozenset[str] = frozenset()) -> Iterator[_Object]:
    waiting: list[tuple[str, Any, frozenset[str]]] = [("", value, outer)]
    while waiting:
        name, each, entries = waiting.pop()
        if isinstance(each, dict):
            plain = {key: member for key, member in each.items() if not _has_objects(member)}
            held = set(named_terms(plain))
            entries = frozenset({term for _, term in held} & known) or entries
            yield _Object(held | {(name, as_term(str(key))) for key in each}, plain_fields(each), set(entries))
            waiting += [(str(key), member, entries) for key, member in each.items() if _has_objects(member)]
        elif isinstance(each, (list, tuple)):
            waiting += [(name, member, entries) for member in each]


def _has_objects(value: Any) -> bool:
    return isinstance(value, dict) or (isinstance(value, (list, tuple)) and any(map(_has_objects, value)))


def select(task: AgentTask, index: StateIndex, observed: Sequence[str]) -> list[tuple[int, int]]:
    """Select records of a state.

    Args:
        task: the task.
        index: its own state, or the one that it shares.
        observed: responses of the replay, results of checks, messages of runs.

    Returns:
        Rank (0 for what is named or belongs to it, else the cost, rounded down) and position in the index of each
        selected record or part, nearest first.
    """
    if not index.records or index.tokens <= SMALL:
        return [(0, number) for number in range(len(index.records))]
    costs = _Closure(task, index, observed).costs()
    order = sorted((cost, number) for number, cost in costs.items() if cost <= FARTHEST)
    selected, room = [], BUDGET
    for cost, number in order:
        own = cost <= BELONGING
        if not own:
            room -= index.records[number].tokens
        if own or room >= 0:
            selected.append((0 if own else max(1, int(cost)), number))
    if index.records[0].passage.label.startswith(OWN):
        shown = {number for _, number in selected}
        selected += [(int(FARTHEST) + 1, n) for n in range(len(index.records)) if n not in shown]
    return selected


class _Closure:
    """The cost of each record, and of each entry of its series."""

    def __init__(self, task: AgentTask, index: StateIndex, observed: Iterable[str]) -> None:
        self._task, self._index = task, index
        self._cost: dict[str, float] = {}
        self._entries: dict[tuple[str, str], float] = {}
        self._heap: list[tuple[float, str]] = []
        user = "\n".join(text for _, text in task.user_texts())
        self._wanted = self._entries_in(user)
        texts = [user, *task.ground_truth.outputs, *task.ground_truth.answers]
        texts += [canonical_json(check.expected) for check in task.evaluation.checks if check.expected]
        if task.initial_state is not None and not index.records[0].passage.label.startswith(OWN):
            texts.append(canonical_json(task.initial_state))
        terms = [mentioned(text, index.known) for text in texts]
        for text, found in zip(texts, terms, strict=True):
            self._seed(found, self._entries_in(text), 0.0)
        calls = [call.arguments for _, call in task.gold_calls()]
        for arguments in calls:
            terms.append(self._seed_call(arguments))
        self._guess(terms)
        for text in observed:
            seen = mentioned(text, index.known)
            records = {record for term in seen for record in index.keyed(term)}
            entries = self._entries_in(text) or self._wanted
            for record in records if len(records) <= LISTING else ():
                self._reach(record, entries, OBSERVED)
        self._belongings()
        self._close()
        self._alternatives(terms[0], calls)

    def costs(self) -> dict[int, float]:
        """Return the cost of each record or part that something leads to, by its position in the index."""
        found: dict[int, float] = {}
        for record, cost in self._cost.items():
            for number in self._index.parts[record]:
                entry = self._index.records[number].entry
                own = cost if entry is None else self._entries.get((record, entry))
                if own is not None:
                    found[number] = own
        return found

    def _entries_in(self, text: str) -> set[str]:
        """Return the keys of series that a text names, days also without their year."""
        named = days(text)
        return {entry for entry in self._index.entries if not named.isdisjoint((entry, entry[5:]))}

    def _reach(self, record: str, entries: Iterable[str], cost: float) -> None:
        """Lower the cost of a record and of entries of its series."""
        if cost > FARTHEST:
            return
        if cost < self._cost.get(record, math.inf):
            self._cost[record] = cost
            heapq.heappush(self._heap, (cost, record))
        for entry in self._index.series[record].intersection(entries) if record in self._index.series else ():
            self._entries[record, entry] = min(cost, self._entries.get((record, entry), math.inf))

    def _seed(self, terms: Iterable[str], entries: set[str], cost: float) -> None:
        for term in terms:
            for record in self._index.named(term):
                self._reach(record, entries or self._wanted, cost)

    def _seed_call(self, arguments: Any) -> set[str]:
        """Seed what a call names, each record with the entries in its own object; return the terms of the call."""
        known = self._index.known
        text = canonical_json(arguments)
        entries = self._entries_in(text)
        found = set[str]()
        for each in _objects(arguments, self._index.entries):
            terms = {term for _, term in each.held} & known
            self._seed(terms, each.entries or entries, 0.0)
            found |= terms
        rest = mentioned(text, known) - found
        self._seed(rest, entries, 0.0)
        return found | rest

    def _guess(self, texts: Iterable[set[str]]) -> None:
        """Seed records that several values in one text identify, in tables that nothing leads to yet."""
        index = self._index
        near = {other for record in self._cost for other in index.references(record)}
        tables = {index.table[record] for record in self._cost.keys() | near}
        most = RARE * len(index.table)
        for terms in texts:
            scores: dict[str, float] = defaultdict(float)
            for term in sorted(terms):
                holders = index.holders.get(term, set())
                for record in holders if len(holders) <= most else ():
                    if index.table[record] not in tables:
                        scores[record] += index.weight(index.table[record], term)
            best: dict[str, int] = defaultdict(int)
            for record in sorted(scores, key=lambda each: (-scores[each], each)):
                table = index.table[record]
                enough = math.log(len(index.tables[table]) / BY_CHANCE)
                if scores[record] >= enough and best[table] < NAMESAKES:
                    best[table] += 1
                    self._reach(record, self._wanted, 0.0)

    def _belongings(self) -> None:
        """Reach everything that a seed, or the owner of a seed, lists as its own and that refers back to it."""
        index = self._index
        owners = {record for record, cost in self._cost.items() if not cost}
        for seed in sorted(owners):
            for name, term in index.fields[seed]:
                owners |= index.referred(index.table[seed], name, term)
        for owner in sorted(owners):
            listed = index.referrers.get(owner, set()) & index.references(owner)
            if 0 < len(listed) <= FOLLOWERS:
                for record in sorted({owner, *listed}):
                    self._reach(record, self._wanted, BELONGING)

    def _close(self) -> None:
        """Follow keys in both directions, cheapest records first."""
        while self._heap:
            cost, record = heapq.heappop(self._heap)
            if cost > self._cost[record]:
                continue
            targets: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
            own = self._index.table[record]
            for each in _objects(resolve(self._task, record), self._index.entries):
                for name, term in each.held:
                    for other in self._index.referred(own, name, term):
                        targets[self._index.table[other]][other] |= each.entries or self._wanted
            followers = self._index.referrers.get(record, ())
            for other in followers if len(followers) <= FOLLOWERS else ():
                targets[self._index.table[other]].setdefault(other, set())
            for group in targets.values():
                for other, entries in group.items():
                    self._reach(other, entries, cost + self._step(other, len(group), cost))

    def _step(self, record: str, choices: int, cost: float) -> float:
        return 1 + math.log10(choices) / 2 + (1 + cost) * self._index.tokens_of_parts(record) / LARGE

    def _alternatives(self, user: set[str], calls: Iterable[Any]) -> None:
        index = self._index
        chosen = sorted((cost, r) for r, cost in self._cost.items() if index.table[r] in index.catalogues)
        wanted: list[tuple[Fields, set[str], float]] = []
        for cost, record in chosen:
            fields = frozenset(index.fields[record])
            own = {entry for (r, entry), c in self._entries.items() if r == record}
            wanted.append((fields, own, cost + ALTERNATIVE))
            self._reach(record, self._wanted, cost + OTHER_ENTRY)
        for arguments in calls:
            entries = self._entries_in(canonical_json(arguments))
            wanted += [
                (e.fields, e.entries or entries or self._wanted, ALTERNATIVE)
                for e in _objects(arguments, index.entries)
            ]
        for fields, entries, cost in wanted:
            for table in sorted(index.catalogues) if entries or not index.entries else ():
                self._alike(table, fields, entries, cost)
        for table in sorted(index.catalogues):
            self._like_text(table, user)

    def _alike(self, table: str, fields: Fields, entries: set[str], cost: float) -> None:
        """Reach the records of a table that have two of some rare values in the same fields."""
        index = self._index
        counts: dict[str, int] = defaultdict(int)
        for name, term in fields:
            if (table, name, term) in index.having and index.rare(table, [term]):
                for record in index.having[table, name, term]:
                    counts[record] += 1
        for record, count in sorted(counts.items()):
            if count > 1:
                self._reach(record, entries, cost)

    def _like_text(self, table: str, terms: set[str]) -> None:
        """Reach the records of a table that hold two rare terms of a text."""
        index = self._index
        shared: dict[str, set[str]] = defaultdict(set)
        for term in index.rare(table, terms):
            for record in index.holders[term]:
                if index.table[record] == table and any(t == term for _, t in index.fields[record]):
                    shared[record].add(term)
        best = [record for record, found in shared.items() if len(found) > 1]
        if len(best) <= MOST_ALIKE:
            for record in best:
                self._reach(record, self._wanted, OBSERVED)
