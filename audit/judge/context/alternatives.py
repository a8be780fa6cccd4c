"""The records of catalogues that might be chosen instead of others: the other flights of a route, and the ways round.

A catalogue is a table whose records refer to no other. What is rare in a table, such as a city, tells something.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable

from agenthard.audit.judge.context.dated import Field
from agenthard.audit.judge.context.state_index import StateIndex

UNIQUE = 2
"""Records of a table that may hold a value for it alone to tell something."""
MOST = 40
"""Alternatives, or halves of one, that are brought for one text at most; those of one that has more are no help."""


class Alternatives:
    """What a state offers to choose from."""

    def __init__(self, index: StateIndex) -> None:
        self._index = index

    def telling(self, terms: Iterable[str]) -> set[str]:
        """Return those of some terms that are rare in a catalogue."""
        terms = set(terms)
        return {term for table in self._index.catalogues for term in self._index.rare(table, terms)}

    def like(self, terms: set[str], *, alone: bool = False) -> dict[str, float]:
        """Return the records that share two rare terms with a text, and how much that tells of each, most alike first.

        Args:
            terms: terms of the text.
            alone: whether one term is enough that only one or two records have.
        """
        index, scores = self._index, dict[str, float]()
        for table in sorted(index.catalogues):
            for record, shared in self._sharing(table, terms).items():
                unique = alone and any(index.frequency[table][term] <= UNIQUE for term in shared)
                if len(shared) >= 2 or unique:
                    scores[record] = sum(index.weight(table, term) for term in sorted(shared))
        best = sorted(scores, key=lambda record: (-scores[record], record))[:MOST]
        return {record: scores[record] for record in best}

    def halves(self, terms: set[str]) -> set[str]:
        """Return the records two of which together have what a text says: each has one of its rare terms."""
        found: set[str] = set()
        for table in sorted(self._index.catalogues):
            having: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
            for record, shared in self._sharing(table, terms).items():
                for other in self._index.rare(table, self._index.traits[record]) - shared if len(shared) == 1 else ():
                    having[other][next(iter(shared))].add(record)
            halves = {r for sides in having.values() if len(sides) > 1 for each in sides.values() for r in each}
            found |= halves if len(found | halves) <= MOST else set()
        return found

    def along(self, fields: Iterable[Field]) -> set[str]:
        """Return the records that have two of some rare values in the same fields: on the same way, not back."""
        index, counts = self._index, Counter[str]()
        for table, name, term in self._known(fields):
            counts.update(index.having[table, name, term])
        return {record for record, count in counts.items() if count > 1}

    def by_way(self, fields: Iterable[Field]) -> set[str]:
        """Return the records that lead from one end of a way to a third place, or from there to its other end.

        A value that stands in two fields is no end, but where two legs meet.
        """
        known = self._known(fields)
        names = defaultdict[tuple[str, str], set[str]](set)
        for table, name, term in known:
            names[table, term].add(name)
        ends = [each for each in known if len(names[each[0], each[2]]) == 1]
        found: set[str] = set()
        for table, name, term in ends:
            for _, other, goal in (each for each in ends if each[0] == table and each[1] > name):
                found |= self._joined((table, name, term), (table, other, goal))
        return found

    def _joined(self, start: tuple[str, str, str], goal: tuple[str, str, str]) -> set[str]:
        """Return the records of both ends that meet: one has in the field of the other's end what that has in its."""
        first, second = start[1], goal[1]
        index, found = self._index, set[str]()
        places: dict[str, tuple[set[str], set[str]]] = defaultdict(lambda: (set(), set()))
        for side, (end, other) in enumerate(((start, second), (goal, first))):
            for record in index.having.get(end, ()):
                for name, term in index.fields[record]:
                    if name == other:
                        places[term][side].add(record)
        for one, two in places.values():
            found |= one | two if one and two else set()
        return found if len(found) <= MOST else set()

    def _known(self, fields: Iterable[Field]) -> list[tuple[str, str, str]]:
        """Return the rare values of fields that the records of a catalogue have, with their table."""
        index = self._index
        fields = sorted(set(fields))
        return [
            (table, name, term)
            for table in sorted(index.catalogues)
            for name, term in fields
            if (table, name, term) in index.having and index.rare(table, [term])
        ]

    def _sharing(self, table: str, terms: set[str]) -> dict[str, set[str]]:
        """Return the records of a table that have one of the terms which are rare in it, each with those it has."""
        found: dict[str, set[str]] = defaultdict(set)
        for term in self._index.rare(table, terms):
            for record in self._index.holders[term]:
                if self._index.table[record] == table and term in self._index.traits[record]:
                    found[record].add(term)
        return found
