"""Which records of the state a decision about a task needs, best first.

A judge who sees the records that a task is about finds more wrong ground truths, and is wrong less often, than one who
sees the wording alone. Brought are, in this order:

0. a record that the user, the ground truth or the evaluation names by a key, or, in a table to which no key leads, one
   that several rare values in one text identify;
1. one to which such a record refers (the flights of a reservation), or which refers to such a record (the orders of a
   user);
2. a short record to which one of rank 1 refers, a record that a response of the replay or the result of a check names,
   or an alternative: a record of a catalogue that shares two rare values with one text or with a named record (the
   other flights of the route), or a unique one with a text;
3. half of an alternative: two records of a catalogue that share a rare value, and of two rare values in one text
   each has one (the flights of a connection);
4. a record of the task's own state, made for it alone;
5. of a record of rank 1, a day that the task names, but another one than those for which it was brought.

All records of a small state have rank 0. Parts about a day are brought for the days that the record which refers to
theirs names, or the task where none does. What has no rank is never shown.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from audit.evidence import canonical_json
from audit.judge.state_index import NAMESAKES, StateIndex
from audit.judge.state_records import DAY, StateRecord
from audit.judge.terms import as_term, days, mentioned, terms_in
from taxonomy.pointer import split
from taxonomy.task import AgentTask

SMALL = 12_000
"""Tokens, at most, of a state that is shown whole."""
LISTING = 12
"""Records that a response names at most; one that names more is a listing."""
RARE = 0.25
"""Share of the records of a table that may hold a value for it to tell something."""
UNIQUE = 2
"""Records of a table that may hold a value for it alone to tell something."""
BY_CHANCE = 0.1
"""Records that may hold the same values by chance for them to identify one."""
SHORT = 400
"""Tokens up to which a record, or each part of an opened one, is short."""
FOLLOWERS = 20
"""Records that may refer to a record for them to be its own."""
ALTERNATIVES = 40
"""Alternatives that are brought at most."""
HALVES = 40
"""Halves of alternatives that are brought at most; those of a text that would add more are no help."""
OWN = "/initial_state"
OTHER_DAY = 5

Ranks = dict[str, int]
Said = list[tuple[set[str], set[str]]]
"""Terms and days, text by text."""


def ranked(task: AgentTask, index: StateIndex, observed: Sequence[str]) -> list[tuple[int, int]]:
    """Rank the records of a state.

    Args:
        task: the task.
        index: its own state, or the one that it shares.
        observed: responses of the replay, results of checks, messages of runs.

    Returns:
        Rank and position in the index of each record, best first; records without a rank are left out.
    """
    if not index.records or index.tokens <= SMALL:
        return [(0, number) for number in range(len(index.records))]
    ranks = _Ranking(index, _said(task, index), observed)
    found = [
        (rank, -ranks.score.get(record, 0.0), index.parts[record][0], index.records[number].day is not None, number)
        for record in ranks.of
        for number in index.parts[record]
        if (rank := ranks.of_part(index.records[number])) is not None
    ]
    if index.records[0].passage.label.startswith(OWN):
        shown = {number for *_, number in found}
        found += [(4, 0.0, number, False, number) for number in range(len(index.records)) if number not in shown]
    return [(rank, number) for rank, *_, number in sorted(found)]


def _said(task: AgentTask, index: StateIndex) -> Said:
    """Return the terms and days in what the user, the ground truth and the evaluation say, text by text."""
    texts = ["\n".join(text for _, text in task.user_texts())]
    texts += [*task.ground_truth.outputs, *task.ground_truth.answers]
    texts += [canonical_json(check.expected) for check in task.evaluation.checks if check.expected]
    if task.initial_state is not None and not index.records[0].passage.label.startswith(OWN):
        texts.append(canonical_json(task.initial_state))
    found = [(mentioned(text, index.known), days(text)) for text in texts]
    for _, call in task.gold_calls():
        text = canonical_json(call.arguments)
        terms = {term for term in terms_in(call.arguments) if term in index.known}
        found.append((terms | mentioned(text, index.known), days(text)))
    return found


class _Ranking:
    """The ranks of records, and the days for which each is brought."""

    def __init__(self, index: StateIndex, said: Said, observed: Iterable[str]) -> None:
        self._index = index
        self._terms = set().union(*(terms for terms, _ in said))
        self._days = set().union(*(days for _, days in said))
        self._days_of: dict[str, set[str]] = defaultdict(set)
        self.of: Ranks = {}
        self.score: dict[str, float] = {}
        named = {record for term in self._terms for record in index.named(term)}
        near = self._linked(named) | self._followers(named)
        tables = {index.table[record] for record in named | near}
        guessed = {r for terms, _ in said for r in self._identified(terms) if index.table[r] not in tables}
        near |= self._linked(guessed) | self._followers(guessed)
        named |= guessed
        self._add(0, named)
        self._add(1, near)
        for text in observed:
            seen = {record for term in mentioned(text, index.known) for record in index.named(term)}
            if len(seen) <= LISTING:
                self._add(2, seen)
                for record in seen:
                    self._days_of[record] |= days(text)
        examples = [terms for terms, _ in said]
        self._add(2, filter(self._is_short, self._linked(near)))
        self._add(2, self._alternatives(examples, named))
        self._add(3, self._halves(examples))

    def of_part(self, part: StateRecord) -> int | None:
        """Return the rank of a part of a ranked record; None for one about a day that nothing names."""
        rank, own_days = self.of[part.record], self._days_of[part.record]
        if part.day is None or part.day in own_days:
            return rank
        if {part.day, part.day[5:]}.isdisjoint(self._days):
            return None
        if own_days and rank > 0:
            return OTHER_DAY if rank == 1 else None
        return rank

    def _add(self, rank: int, records: Iterable[str]) -> None:
        for record in records:
            self.of.setdefault(record, rank)

    def _is_short(self, record: str) -> bool:
        return all(self._index.records[number].tokens <= SHORT for number in self._index.parts[record])

    def _own_days(self, record: str) -> set[str]:
        if self._index.table[record] in self._index.catalogues:
            return set()
        return {term for term in self._index.values[record] if term[:1].isdigit() and DAY.fullmatch(term)}

    def _linked(self, records: Iterable[str]) -> set[str]:
        """Return what records refer to, and note the days that they name."""
        found = set()
        for record in sorted(records):
            own_days = self._own_days(record)
            for other in self._index.links(record):
                self._days_of[other] |= own_days
                found.add(other)
        return found

    def _followers(self, records: Iterable[str]) -> set[str]:
        """Return the records that are those of others: they name them at their top, and not in a list of choices."""
        index, found = self._index, set()
        for record in records:
            key = as_term(split(record)[-1])
            others = {each for each in index.holders.get(key, ()) if key in index.traits[each]}
            others = {each for each in others if index.table[each] != index.table[record]}
            if len(others) <= FOLLOWERS:
                found |= others
        return found

    def _identified(self, terms: set[str]) -> Iterator[str]:
        """Yield the records that several values in one text identify, and which would not all meet there by chance."""
        scores: dict[str, float] = defaultdict(float)
        most = RARE * len(self._index.table)
        for term in sorted(terms):
            holders = self._index.holders.get(term, set())
            for record in holders if len(holders) <= most else ():
                scores[record] += self._weight(self._index.table[record], term)
        best: dict[str, list[str]] = defaultdict(list)
        for record in sorted(scores, key=lambda each: (-scores[each], each)):
            table = self._index.table[record]
            enough = math.log(len(self._index.tables[table]) / BY_CHANCE)
            if scores[record] >= enough and len(best[table]) < NAMESAKES:
                best[table].append(record)
                self.score[record] = scores[record]
                yield record

    def _alternatives(self, said: Sequence[set[str]], named: set[str]) -> list[str]:
        """Return the records of catalogues that are like what is said or named, most alike first."""
        index = self._index
        records = [index.traits[record] for record in sorted(named) if index.table[record] in index.catalogues]
        scores: dict[str, float] = {}
        for table in sorted(index.catalogues):
            for number, example in enumerate((*said, *records)):
                for record, shared in self._sharing(table, example).items():
                    unique = number < len(said) and any(index.frequency[table][term] <= UNIQUE for term in shared)
                    if len(shared) >= 2 or unique:
                        score = sum(self._weight(table, term) for term in sorted(shared))
                        scores[record] = max(score, scores.get(record, 0.0))
        self.score.update((record, score) for record, score in scores.items() if record not in self.of)
        return sorted(scores, key=lambda record: (-scores[record], record))[:ALTERNATIVES]

    def _halves(self, said: Sequence[set[str]]) -> set[str]:
        """Return the records of catalogues two of which together have what one text says."""
        found: set[str] = set()
        for table in sorted(self._index.catalogues):
            for example in said:
                having: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
                for record, shared in self._sharing(table, example).items():
                    for other in self._rare(table, self._index.traits[record]) - shared if len(shared) == 1 else ():
                        having[other][next(iter(shared))].add(record)
                halves = {r for sides in having.values() if len(sides) > 1 for each in sides.values() for r in each}
                found |= halves if len(found | halves) <= HALVES else set()
        return found

    def _sharing(self, table: str, terms: set[str]) -> dict[str, set[str]]:
        """Return the records of a table that have one of the terms which are rare in it, each with those it has."""
        found: dict[str, set[str]] = defaultdict(set)
        for term in self._rare(table, terms):
            for record in self._index.holders[term]:
                if self._index.table[record] == table and term in self._index.traits[record]:
                    found[record].add(term)
        return found

    def _rare(self, table: str, terms: set[str]) -> set[str]:
        frequency, size = self._index.frequency[table], len(self._index.tables[table])
        return {term for term in terms if 0 < frequency[term] <= RARE * size}

    def _weight(self, table: str, term: str) -> float:
        return math.log(len(self._index.tables[table]) / self._index.frequency[table][term])
