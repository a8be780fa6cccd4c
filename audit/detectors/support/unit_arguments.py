"""The unit arguments of gold calls, and the measures and units that a user names."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from agenthard.audit.detectors.support.gold_values import GoldValue, gold_values, name_words
from agenthard.audit.detectors.support.units import UNITS, Measure, Unit, measures, unit_called
from agenthard.taxonomy.accepted import alternatives, is_any_of, is_optional
from agenthard.taxonomy.pointer import join, split
from agenthard.taxonomy.task import ToolCall, ToolSpec


class Stated(NamedTuple):
    """A measure that a text states."""

    at: str
    measure: Measure


class Discord(NamedTuple):
    """A value and the measure that it contradicts."""

    value: GoldValue
    at: str
    """JSON Pointer of the text."""
    text: str
    """What the text says."""
    how: str
    """What is wrong, after "gives X as Y"."""
    documentation: str
    """JSON Pointer of the schema that names the unit, relative to the tool's parameters; empty where none does."""


def stated_measures(texts: Sequence[tuple[str, str]]) -> list[Stated]:
    """List the measures of some texts."""
    return [Stated(at, measure) for at, text in texts for measure in measures(text)]


_UNIT_NAMES = frozenset({"unit", "units", "measurement", "scale"})
_FROM = frozenset({"from", "source", "input", "original", "current"})
_TO = frozenset({"to", "target", "output", "desired", "convert", "into"})
_METRIC = frozenset({"celsius", "kilometer", "meter", "centimeter", "kilogram", "gram", "kilometer per hour", "liter"})
_IMPERIAL = frozenset({"fahrenheit", "mile", "foot", "inch", "pound", "ounce", "mile per hour", "gallon"})
_SYSTEMS = {"metric": _METRIC, "imperial": _IMPERIAL, "us": _IMPERIAL}
_ASKED = re.compile(
    r"\b(?:in|to|as|into|using)\s+(?:the\s+|units? of\s+|degrees?\s+)*(?P<unit>[A-Za-z°/]+(?: per hour)?)\b(?! per)",
    re.IGNORECASE,
)
_GLUED = re.compile(r"(?:from|to|for|and|of)$")


def names_units(texts: Iterable[str]) -> bool:
    """Tell whether any text states a measure, or asks for a unit."""
    return any(measures(text) or asked_units([("", text)]) for text in texts)


def is_unit_name(name: str) -> bool:
    """Tell whether a parameter takes a unit by its name."""
    return not _UNIT_NAMES.isdisjoint(name_words(name))


def units_given(call: ToolCall, name: str) -> frozenset[Unit]:
    """Return the units that a call gives for a parameter; all of them where it gives something else."""
    given = call.arguments.get(name)
    items = [choice for _, choice in alternatives(given)] if is_any_of(given) else [given]
    found = {unit for item in items if isinstance(item, str) and (unit := unit_called(item)) is not None}
    if found:
        return frozenset(found)
    return frozenset(UNITS.values())


def asked_units(texts: Sequence[tuple[str, str]]) -> list[tuple[str, str, Unit]]:
    """List the units that the user wants something in."""
    found = []
    for at, text in texts:
        for match in _ASKED.finditer(text):
            unit = unit_called(match["unit"]) or unit_called(_GLUED.sub("", match["unit"]))
            if unit is not None and len(match["unit"]) > 1:
                found.append((at, match[0], unit))
    return found


def other_unit_argument(
    call: ToolCall, tool: ToolSpec, stated: list[Stated], asked: list[tuple[str, str, Unit]]
) -> Iterator[Discord]:
    """Yield the units that a call gives or leaves out, and that are none of those that the user names.

    Args:
        call: the gold call.
        tool: its tool.
        stated: the measures that the user says.
        asked: the units that the user asks for, with their places.
    """
    properties = tool.parameters.get("properties")
    if not isinstance(properties, dict):
        return
    for name, schema in properties.items():
        if not is_unit_name(name) or not isinstance(schema, dict):
            continue
        given = call.arguments.get(name)
        items = [choice for _, choice in alternatives(given)] if is_any_of(given) else [given]
        if name not in call.arguments or is_optional(given):
            items.append(_default(schema))
        texts = [item for item in items if isinstance(item, str) and item.strip()]
        names = [_meant(text) for text in texts]
        if not names or not all(names):
            continue
        accepted = frozenset[str]().union(*names)
        dimensions = {UNITS[unit].dimension for unit in accepted}
        wanted = [(at, text, unit) for at, text, unit in asked if unit.dimension in dimensions]
        if _FROM & set(name_words(name)):
            wanted = []
        if not wanted and not _TO & set(name_words(name)):
            wanted = [(s.at, s.measure.text, s.measure.unit) for s in stated if s.measure.unit.dimension in dimensions]
        if not wanted or any(unit.name in accepted for _, _, unit in wanted):
            continue
        at, text, unit = wanted[0]
        value = next((each for each in gold_values(call.arguments) if split(each.at)[0] == name), None)
        if value is None:
            value = GoldValue(join("", name), (("", f"(left out, which means {texts[-1]})"),), False)
        yield Discord(value, at, text, f"but the user says {text!r}", "")


_DEFAULT = re.compile(r"\bdefaults?(?: value)?(?: is| to|:|=)?\s*['\"]?(?P<unit>[A-Za-z°]+)", re.IGNORECASE)


def _default(schema: dict[str, Any]) -> Any:
    """Return the documented default of a parameter, in the schema or in its prose."""
    prose = schema.get("description")
    match = _DEFAULT.search(prose) if isinstance(prose, str) else None
    return schema.get("default", match["unit"] if match else None)


def _meant(text: str) -> frozenset[str]:
    system = _SYSTEMS.get(text.casefold().split()[0].strip("."))
    unit = unit_called(text)
    return system or (frozenset({unit.name}) if unit else frozenset())
