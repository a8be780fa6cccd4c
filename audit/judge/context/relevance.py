"""Which records of the state a decision about a task needs, best first.

A judge who sees the records that a task is about finds more wrong ground truths, and is wrong less often, than one who
sees the wording alone; one who has to read many others besides is no better for it. Brought are, in this order:

0. a record that the user, the ground truth or the evaluation names by a key, or, in a table to which no key leads, one
   that several rare values in one text identify;
1. one to which such a record refers (the flights of a reservation), or which refers to such a record (the orders of a
   user);
2. a short record to which one of rank 1 refers, a record that a response of the replay or the result of a check names,
   or an alternative: a record of a catalogue that shares two rare values with one text, with
   a named record or with a leg (the other flights of the route), or a unique one with a text;
3. half of an alternative (the flights of a connection);
4. a record of the task's own state, made for it alone;
5. aside: legs that are not in question;
6. aside: alternatives to legs in question, on the days of these.

What is aside is shown up to ASIDE tokens.

All records of a small state have rank 0, and what has no rank is never shown. Of a record with a calendar only single
days are brought. A *leg* is such a record with a day, as a reservation, or a call of the ground truth, has them. A leg
is in question when its reservation is named, when the user names one of its days, or two of its rare values. To legs
that the user speaks of there are alternatives, on the days that the user names ("May 24", "the next day"); each of
these goes with the nearest day of the reservation. To what only a text says, all days of that text belong.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from agenthard.audit.judge.context.alternatives import Alternatives
from agenthard.audit.judge.context.dated import Field, dated
from agenthard.audit.judge.context.said import Said, Texts
from agenthard.audit.judge.context.state_index import NAMESAKES, OWN, RARE, StateIndex
from agenthard.audit.judge.context.state_records import StateRecord
from agenthard.audit.judge.context.terms import as_term, days, mentioned
from agenthard.taxonomy.pointer import resolve, split
from agenthard.taxonomy.task import AgentTask

SMALL = 12_000
"""Tokens, at most, of a state that is shown whole."""
ASIDE = 1_000
"""Tokens, about, of what is shown although it is not in question."""
LISTING = 12
"""Records that a response names at most; one that names more is a listing."""
BY_CHANCE = 0.1
"""Records that may hold the same values by chance for them to identify one."""
SHORT = 400
"""Tokens up to which a record, or each part of an opened one, is short."""
FOLLOWERS = 20
"""Records that may refer to a record for them to be its own."""
_OWN_RANK, _ASIDE, _FAR_ASIDE = 4, 5, 6

Ways = Mapping[str, set[Field]]
"""By day, the fields of legs and of the records that they lead to."""


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
    ranks = _Ranking(task, index, observed)
    found = [
        (rank, -ranks.score.get(record, 0.0), index.parts[record][0], index.records[number].day is not None, number)
        for record in ranks.of
        for number in index.parts[record]
        if (rank := ranks.of_part(index.records[number])) is not None
    ]
    if index.records[0].passage.label.startswith(OWN):
        shown = {number for *_, number in found}
        found += [(_OWN_RANK, 0.0, n, False, n) for n in range(len(index.records)) if n not in shown]
    return list(_without_most_asides(index, [(rank, number) for rank, *_, number in sorted(found)]))


def _without_most_asides(index: StateIndex, ranks: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    room = ASIDE
    for rank, number in ranks:
        if rank >= _ASIDE:
            room -= index.records[number].tokens
        if rank < _ASIDE or room >= 0:
            yield rank, number


class _Ranking:
    """The ranks of records, and the days for which each is brought."""

    def __init__(self, task: AgentTask, index: StateIndex, observed: Iterable[str]) -> None:
        self._task, self._index = task, index
        self._alternatives = Alternatives(index)
        self._texts = Texts(task, index)
        self._days: dict[str, dict[str, int]] = defaultdict(dict)
        self.of: dict[str, int] = {}
        self.score: dict[str, float] = {}
        self._owned: set[tuple[str, str]] = set()
        said = [self._texts.user, *self._texts.others]
        named = {record for each in said for term in each.terms for record in index.named(term)}
        near = self._linked(named) | self._followers(named)
        tables = {index.table[record] for record in named | near}
        guessed = {r for each in said for r in self._identified(each.terms) if index.table[r] not in tables}
        near |= self._linked(guessed) | self._followers(guessed)
        named |= guessed
        self._add(0, named)
        self._add(1, (record for record in near if record not in index.days))
        covered = self._legs(sorted(named), sorted(near - named))
        for each in sorted((*self._texts.others, self._texts.user), key=lambda text: text.call is None):
            self._say(each, covered)
        for text in observed:
            seen = {record for term in mentioned(text, index.known) for record in index.named(term)}
            if len(seen) <= LISTING:
                self._bring(2, sorted(seen - self._days.keys()), sorted(days(text)))
                self._add(2, seen)
        self._add(2, (each for each in self._linked(near) if each not in index.days and self._is_short(each)))

    def of_part(self, part: StateRecord) -> int | None:
        """Return the rank of a part of a ranked record; None for one about a day that nothing brings."""
        return self.of[part.record] if part.day is None else self._days[part.record].get(part.day)

    def _add(self, rank: int, records: Iterable[str]) -> None:
        for record in records:
            self.of[record] = min(rank, self.of.get(record, rank))

    def _bring(self, rank: int, records: Iterable[str], on: Iterable[str]) -> None:
        """Bring records, those with a calendar on some days."""
        for record in records:
            self._add(rank, [record])
            for day in on if record in self._index.days else ():
                self._days[record][day] = min(rank, self._days[record].get(day, rank))

    def _legs(self, named: Sequence[str], near: Sequence[str]) -> set[str]:
        """Bring the legs of records, with alternatives; return the values of which texts speak that mean them."""
        index, user = self._index, self._texts.user
        asked = self._alternatives.telling(user.terms)
        covered: set[str] = set()
        for record in (*named, *near):
            ways = self._ways(resolve(self._task, record))
            values = {term for fields in ways.values() for _, term in fields}
            by_name = not user.terms.isdisjoint(index.keys(record))
            spoken_of = by_name or not user.days.isdisjoint(ways) or len(asked & values) > 1
            rank = 1 if record in named else 2 if spoken_of else _ASIDE
            for day in sorted(ways):
                legs = sorted(self._led_to(ways[day]) & index.days.keys())
                self._owned |= {(leg, day) for leg in legs}
                self._bring(rank, legs, [day])
            if record in named and index.table[record] not in index.catalogues:
                covered |= index.values[record]
            if spoken_of and (by_name or not asked or asked & values):
                covered |= values
                self._instead(ways)
            if not ways:
                self._bring(2, sorted(index.links(record) & index.days.keys()), sorted(user.days))
        return covered

    def _instead(self, ways: Ways) -> None:
        """Bring what there is instead of legs: on the days that the user wants or names, and aside on their own."""
        for day in sorted(ways):
            wanted, fields = sorted(self._wanted(day, ways)), self._around(day, ways)
            self._bring(2, sorted(self._led_to(ways[day]) & self._index.days.keys()), wanted)
            self._choices(fields, wanted)
            same = day in self._texts.user.days and not wanted
            self._bring(2 if same else _FAR_ASIDE, sorted(self._alternatives.along(fields)), [day])

    def _choices(self, fields: Iterable[Field], on: Sequence[str], *, by_way: bool = True) -> None:
        fields = self._texts.spread(fields)
        if on:
            self._bring(2, sorted(self._alternatives.along(fields)), on)
            self._bring(3, sorted(self._alternatives.by_way(fields)) if by_way else (), on)

    def _say(self, said: Said, covered: set[str]) -> None:
        """Bring what a text names, and alternatives to what it says unless it speaks of legs that were brought."""
        index = self._index
        ways = self._ways(said.call) if said.call is not None else {}
        for day, fields in sorted(ways.items()):
            legs = self._led_to(fields) & index.days.keys()
            self._bring(0, sorted(legs), [day])
            if not legs or any((leg, day) not in self._owned for leg in legs):
                self._choices(fields, [day], by_way=bool(legs))
            covered |= {term for _, term in self._texts.spread(fields)}
        on = sorted(said.days or self._texts.user.days)
        self._bring(0, sorted({r for t in said.terms for r in index.named(t)} - self._days.keys()), on)
        if not self._alternatives.telling(said.terms) <= covered:
            found = self._alternatives.like(said.terms, alone=True)
            self.score.update((record, score) for record, score in found.items() if record not in self.of)
            self._bring(2, found, on)
            self._bring(3, sorted(self._alternatives.halves(said.terms)), on)

    def _ways(self, value: Any) -> dict[str, set[Field]]:
        """Return what a value says of each day, with what is known of the records to which that leads."""
        ways: dict[str, set[Field]] = defaultdict(set)
        for day, fields in dated(value, self._index.calendar):
            ways[day] |= fields
            for record in self._led_to(fields):
                ways[day] |= self._index.fields[record]
        return ways

    def _led_to(self, fields: Iterable[Field]) -> set[str]:
        index = self._index
        return {r for _, term in fields for r in index.named(term) if index.table[r] in index.catalogues}

    @staticmethod
    def _around(day: str, ways: Ways) -> set[Field]:
        """Return the fields of a day, and of the day after, when a journey may end."""
        return set(ways[day]) | ways.get(_moved(day, 1), set())

    def _wanted(self, day: str, ways: Ways) -> set[str]:
        """Return the days that the user wants instead of one of a journey."""
        others = self._texts.user.days - ways.keys()
        nearest = {each for each in others if _apart(each, day) == min(_apart(each, own) for own in ways)}
        return nearest | {_moved(day, by) for by in self._texts.shifts}

    def _is_short(self, record: str) -> bool:
        return all(self._index.records[number].tokens <= SHORT for number in self._index.parts[record])

    def _linked(self, records: Iterable[str]) -> set[str]:
        return {other for record in records for other in self._index.links(record)}

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
                scores[record] += self._index.weight(self._index.table[record], term)
        best: dict[str, list[str]] = defaultdict(list)
        for record in sorted(scores, key=lambda each: (-scores[each], each)):
            table = self._index.table[record]
            enough = math.log(len(self._index.tables[table]) / BY_CHANCE)
            if scores[record] >= enough and len(best[table]) < NAMESAKES:
                best[table].append(record)
                self.score[record] = scores[record]
                yield record


def _moved(day: str, by: int) -> str:
    """Return the day so many days later; the day itself at the end of time."""
    try:
        return (date.fromisoformat(day) + timedelta(days=by)).isoformat()
    except OverflowError:
        return day


def _apart(one: str, other: str) -> int:
    return abs((date.fromisoformat(one) - date.fromisoformat(other)).days)
