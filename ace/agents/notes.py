"""What an agent without a model has found out: which candidates meet their slot's rules, and values of items."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from agenthard.ace.agents.player import Player
from agenthard.ace.domain import Number
from agenthard.ace.instance import Item, Puzzle, Value


class Notes:
    """An agent's knowledge. A value is known, narrowed down to some, or not known at all."""

    def __init__(self, player: Player) -> None:
        self._player = player
        self._brief = player.brief
        self.survivors: list[list[str]] = [[] for _ in player.brief.puzzle.slots]
        """By slot: the candidates that meet its own rules, as far as known."""
        self._fixed = frozenset(player.brief.fixed)
        self._possible: dict[tuple[str, str], Sequence[Value]] = {}

    def note(self, id: str, field: str, values: Sequence[Value]) -> None:
        """Notes what the value of an attribute may be.

        Args:
            id: Id of the item.
            field: The attribute.
            values: What it may be, in order; the one value of a candidate may be forgotten on the way.
        """
        if len(values) == 1 and self._slips(id, self._player.noise.forgetting):
            self._possible.pop((id, field), None)
        else:
            self._possible[id, field] = values

    def knows(self, id: str, field: str) -> bool:
        """Tells whether the value of an attribute is known.

        Args:
            id: Id of the item.
            field: The attribute.

        Returns:
            True when it can be one value only.
        """
        return len(self._possible.get((id, field), ())) == 1

    def possible(self, id: str, field: str) -> Sequence[Value]:
        """Returns what the value of an attribute may be.

        Args:
            id: Id of the item.
            field: The attribute.

        Returns:
            Values; where nothing is known, those that the prompt names or else those met so far.
        """
        found = self._possible.get((id, field))
        return found if found is not None else self._usual(field)

    def settled(self) -> Puzzle | None:
        """Returns the puzzle that is left once everything is known.

        Returns:
            The puzzle with the survivors as candidates and without slot rules, its items with the attributes that the
            global rules are about; None while something is not known.
        """
        fields = self._brief.global_fields
        ids = list(self.ids())
        if not all(self.survivors) or not all(self.knows(id, field) for id in ids for field in fields):
            return None
        items: dict[str, Item] = {id: {field: self.summand(id, field)[0] for field in fields} for id in ids}
        puzzle = self._brief.puzzle
        slots = [
            replace(slot, limits={}, candidates=tuple(left))
            for slot, left in zip(puzzle.slots, self.survivors, strict=True)
        ]
        return replace(puzzle, items=items, slots=tuple(slots))

    def summand(self, id: str, field: str) -> Sequence[Value]:
        """Returns what an item is taken to add to a sum; see :class:`ace.agents.noise.Noise` on wrong arithmetic.

        Args:
            id: Id of the item.
            field: The attribute.

        Returns:
            What the value may be.
        """
        values = self.possible(id, field)
        first = values[0]
        if len(values) > 1 or isinstance(first, str) or not self._slips(id, self._player.noise.arithmetic):
            return values
        usual = [int(value) for value in self._usual(field)]
        most = max(1, (max(usual) - min(usual)) // 10)
        return (first + self._player.rng.choice((-1, 1)) * self._player.rng.randint(1, most),)

    def ids(self) -> Iterator[str]:
        """Yields the items that matter.

        Yields:
            Ids of the items in the grid, then of the survivors.
        """
        yield from self._brief.fixed
        for left in self.survivors:
            yield from left

    def _slips(self, id: str, probability: float) -> bool:
        return id not in self._fixed and self._player.happens(probability)

    def _usual(self, field: str) -> Sequence[Value]:
        if field not in self._brief.ranges:
            met = {values[0] for (_, about), values in self._possible.items() if about == field}
            nothing: Value = 0 if isinstance(self._brief.domain.attribute(field), Number) else ""
            return sorted(met, key=lambda value: (str(type(value)), value)) or [nothing]
        return self._brief.ranges[field]
