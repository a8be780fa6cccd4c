"""Numbers and texts of gold calls that are in another unit than the documentation or the user names."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from agenthard.audit.detectors.support.gold_values import Documented, GoldValue, documented, gold_values
from agenthard.audit.detectors.support.mentions import mentions
from agenthard.audit.detectors.support.unit_arguments import (
    Discord,
    Stated,
    asked_units,
    is_unit_name,
    other_unit_argument,
    stated_measures,
    units_given,
)
from agenthard.audit.detectors.support.units import (
    UNITS,
    Measure,
    Unit,
    converted,
    measures,
    units_in_name,
    units_named,
)
from agenthard.taxonomy.task import ToolCall, ToolSpec

_ROUNDED = 0.006
"""Relative difference up to which a converted number is the same: 5 miles are 8 km."""


def discords(call: ToolCall, tool: ToolSpec, texts: Sequence[tuple[str, str]]) -> Iterator[Discord]:
    """Yield the values of a call that are in another unit than they have to be.

    Args:
        call: the gold call.
        tool: its tool.
        texts: what the user says for the call, with pointers.
    """
    stated = stated_measures(texts)
    asked = asked_units(texts)
    if not stated and not asked:
        return
    numbers = _Numbers(texts, stated)
    set_by_unit = {unit.dimension for name in call.arguments if is_unit_name(name) for unit in units_given(call, name)}
    every = gold_values(call.arguments)
    for value in every:
        place = documented(tool, value.at)
        if place is None:
            continue
        yield from _of_name(value, place, stated)
        given = [item for _, item in value.accepted]
        if all(isinstance(item, (int, float)) and not isinstance(item, bool) for item in given):
            units = _documented_units(value, place.schema)
            others = {
                float(item)
                for each in every
                if each is not value
                for _, item in each.accepted
                if isinstance(item, (int, float)) and not isinstance(item, bool)
            }
            for unit in units:
                if unit.dimension not in set_by_unit:
                    yield from _of_number(value, given, unit, stated, numbers, others, place.pointer)
        elif given and all(isinstance(item, str) for item in given) and not is_unit_name(value.member):
            yield from _of_text(value, given, stated, place)
    yield from other_unit_argument(call, tool, stated, asked)


def _documented_units(value: GoldValue, schema: dict[str, Any]) -> list[Unit]:
    prose = schema.get("description")
    named = units_in_name(value.member) or (units_named(prose) if isinstance(prose, str) else frozenset())
    return [unit for unit in sorted(named) if sum(other.dimension == unit.dimension for other in named) == 1]


def _of_name(value: GoldValue, place: Documented, stated: list[Stated]) -> Iterator[Discord]:
    """Compare the unit in the name of a parameter with the one that its documentation names."""
    prose = place.schema.get("description")
    named = units_named(prose) if isinstance(prose, str) else frozenset()
    for unit in units_in_name(value.member):
        others = [other for other in named if other.dimension == unit.dimension]
        said = [each for each in stated if each.measure.unit.dimension == unit.dimension]
        if len(others) == 1 and others[0] != unit and said:
            how = f"a parameter that its name counts in {_plural(unit)} and its documentation in {_plural(others[0])}"
            yield Discord(value, said[0].at, said[0].measure.text, how, place.pointer)


def _of_number(
    value: GoldValue,
    given: list[Any],
    unit: Unit,
    stated: list[Stated],
    numbers: "_Numbers",
    others: set[float],
    pointer: str,
) -> Iterator[Discord]:
    own = [each for each in stated if each.measure.unit.dimension == unit.dimension]
    if not own or any(_fits(item, unit, own) or numbers.has(item, unit.dimension) for item in given):
        return
    firsts = [converted(each.measure.number, each.measure.unit, unit)[0] for each in own]
    if any(_same(one + other, item) for item in given for one in firsts for other in numbers.bare):
        return  # 5 feet 10
    for said in own:
        if said.measure.unit != unit and said.measure.number in given:
            right = _shown(converted(said.measure.number, said.measure.unit, unit)[0])
            how = f"but the documentation counts in {_plural(unit)}, and the user says {said.measure.text!r}: {right}"
            yield Discord(value, said.at, said.measure.text, how, pointer)
            return
    free = [each for each in own if each.measure.number not in others and not _is_given(each, others)]
    if len({(each.measure.number, each.measure.unit) for each in free}) != 1 or value.omissible:
        return
    said = free[0]
    elsewhere = [other for other in UNITS.values() if other.dimension == unit.dimension and other != said.measure.unit]
    in_other = any(_fits(item, other, free) for other in elsewhere for item in given)
    if not in_other and (len(own) > 1 or said.measure.unit == unit or (unit.dimension == "time" and numbers.has_clock)):
        return
    right = _shown(converted(said.measure.number, said.measure.unit, unit)[0])
    how = f"but the documentation counts in {_plural(unit)}, in which {said.measure.text!r} is {right}"
    yield Discord(value, said.at, said.measure.text, how, pointer)


def _is_given(said: Stated, others: set[float]) -> bool:
    """Tell whether another value of the calls is what is said, in any unit of its dimension."""
    units = [unit for unit in UNITS.values() if unit.dimension == said.measure.unit.dimension]
    return any(_fits(other, unit, [said]) for other in others for unit in units)


def _plural(unit: Unit) -> str:
    return {"foot": "feet", "inch": "inches"}.get(
        unit.name, unit.name if unit.dimension in ("temperature", "speed") else f"{unit.name}s"
    )


_FRACTION = re.compile(r"(?<![\d/.])(\d{1,4})/(\d{1,6})(?![\d/])")


class _Numbers:
    """The numbers that are said, with and without units."""

    def __init__(self, texts: Sequence[tuple[str, str]], stated: list[Stated]) -> None:
        every = [mention for _, text in texts for mention in mentions(text)]
        self.has_clock = any(mention.kind == "time" for mention in every)
        said = {v for mention in every if mention.kind == "number" for v in mention.values if isinstance(v, float)}
        said |= {float(a) / float(b) for _, text in texts for a, b in _FRACTION.findall(text) if float(b)}
        self._by_dimension = [(each.measure.unit.dimension, each.measure.number) for each in stated]
        self.bare = said - {number for _, number in self._by_dimension}
        """Those without a unit."""

    def has(self, number: float, dimension: str) -> bool:
        """Tell whether a number is said without a unit, or with one of another dimension."""
        return any(_same(one, number) for one in self.bare) or any(
            own == number and other != dimension for other, own in self._by_dimension
        )


def _reworded(
    value: GoldValue, own: list[tuple[Measure, ...]], stated: list[Stated], place: Documented
) -> Iterator[Discord]:
    """Compare the unit that all accepted texts have with the one in which the user says it."""
    units = {one[0].unit for one in own}
    prose = place.schema.get("description")
    documented_too = units & units_named(prose) if isinstance(prose, str) else frozenset()
    wanted = {said.measure.unit for said in stated}
    if documented_too or units & wanted or any("enum" in place.schema for _ in own) or len(stated) != 1:
        return
    said = stated[0]
    how = f"although the user says {said.measure.text!r} and no text asks for {next(iter(units)).name}s"
    yield Discord(value, said.at, said.measure.text, how, place.pointer)


def _of_text(value: GoldValue, given: list[str], stated: list[Stated], place: Documented) -> Iterator[Discord]:
    own = [measures(text) for text in given]
    if not all(len(each) == 1 for each in own):
        return
    for each in {measure for one in own for measure in one}:
        alike = [said for said in stated if said.measure.unit.dimension == each.unit.dimension]
        if not alike:
            return
        if _fits(each.number, each.unit, alike):
            yield from _reworded(value, own, alike, place)
            return
    for said in stated:
        if any(
            said.measure.number == one[0].number and said.measure.unit.dimension == one[0].unit.dimension for one in own
        ):
            yield Discord(value, said.at, said.measure.text, f"but the user says {said.measure.text!r}", "")
            return


def _fits(number: float, unit: Unit, stated: list[Stated]) -> bool:
    every = [converted(each.measure.number, each.measure.unit, unit) for each in stated]
    if any(_same(one, number) for own in every for one in own):
        return True
    firsts = [own[0] for own in every]
    return any(_same(a + b, number) or _same(abs(a - b), number) for i, a in enumerate(firsts) for b in firsts[:i])


def _same(right: float, given: float) -> bool:
    decimals = len(f"{given:.8f}".rstrip("0").partition(".")[2])
    rounding = 0.5 * 10**-decimals if abs(given) >= 2 else 1e-9
    return abs(right - given) <= max(rounding, _ROUNDED * abs(right)) + 1e-9


def _shown(number: float) -> str:
    return f"{number:.4g}" if abs(number) < 10_000 else f"{number:,.0f}"
