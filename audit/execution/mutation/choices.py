"""Values taken from a known set: documented choices, entities of the state, documented defaults."""

import re
import weakref
from collections.abc import Iterator
from random import Random
from typing import Any

from agenthard.audit.execution.mutation.mutant import OMITTED, Change, Place, Truth
from agenthard.taxonomy.accepted import concrete_values, is_optional
from agenthard.taxonomy.task import EnvironmentSpec

_DEFAULT = re.compile(r"\bdefaults?(?: value)?(?: is| to|:| =)\s*(?:set to )?['\"]?(-?[\w.]*\w)", re.IGNORECASE)
_indexes: dict[int, dict[str, dict[str, Any]]] = {}


def other_choice(place: Place, random: Random) -> Iterator[Change]:
    """Take another documented choice, or the other truth value: wrong, because the choices differ in meaning."""
    if isinstance(place.value, bool):
        yield Change("other-choice", not place.value, Truth.WRONG, "it is the opposite", "field")
        return
    choices = place.schema.get("enum")
    if isinstance(choices, list) and place.value in choices:
        others = [choice for choice in choices if str(choice).casefold() != str(place.value).casefold()]
        if others:
            why = "the documentation lists it as another choice"
            yield Change("other-choice", random.choice(others), Truth.WRONG, why, "field")


def other_entity(place: Place, random: Random) -> Iterator[Change]:
    """Name another entity of the same kind: wrong, because it is another thing."""
    if not isinstance(place.value, str):
        return
    kind = _index(place.task.environment).get(place.value, {})
    others = sorted(key for key in kind if key != place.value)
    if others:
        why = "the state holds both, and they are two things"
        yield Change("other-entity", random.choice(others), Truth.WRONG, why, "field")


def left_out(place: Place, random: Random) -> Iterator[Change]:
    """Leave out an argument that the documentation does not require.

    With the documented default it is equivalent, whatever the user says; certain where the user says nothing of it.
    With another value that the user states, and no word of the default, it is wrong.
    """
    if place.required or len(place.path) > 1:
        return
    default = _default(place.schema)
    if default is None:
        return
    node = place.call.arguments[place.argument]
    if _same(default, place.value):
        if not is_optional(node):
            why = f"the documented default is {default!r}"
            unsaid = not isinstance(place.value, bool) and not _may_be_stated(place)
            yield Change("default-left-out", OMITTED, Truth.EQUIVALENT, why, "field", certain=unsaid)
    elif is_optional(node) and "default" in place.schema:
        accepted = concrete_values(node)
        if all(_stated(place, value) for value in accepted) and not _stated(place, default):
            why = f"the user states the value, and the documented default is {default!r}"
            yield Change("stated-value-left-out", OMITTED, Truth.WRONG, why, "task")


def _default(schema: dict[str, Any]) -> Any:
    if "default" in schema:
        return schema["default"]
    found = _DEFAULT.search(str(schema.get("description", "")))
    return found[1] if found else None


def _same(default: Any, value: Any) -> bool:
    if isinstance(default, bool) or isinstance(value, bool):
        return str(default).casefold() == str(value).casefold()
    try:
        return float(default) == float(value)
    except (TypeError, ValueError):
        return str(default).casefold() == str(value).casefold()


def _stated(place: Place, value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)) or value == "":
        return False
    word = re.compile(rf"(?<![\w.]){re.escape(str(value))}(?![\w]|\.\d)", re.IGNORECASE)
    return any(word.search(text) for _, text in place.task.user_texts())


def _may_be_stated(place: Place) -> bool:
    """Tell whether the user may state the value; zero has many names, and other scripts are not understood."""
    if place.value == 0:
        return True
    foreign = any(sum(not ch.isascii() for ch in text) > len(text) / 4 for _, text in place.task.user_texts())
    return foreign or any(_stated(place, value) for value in concrete_values(place.call.arguments[place.argument]))


def _index(environment: EnvironmentSpec) -> dict[str, dict[str, Any]]:
    """Return, for each key of the shared state that stands among others, the mapping it is in."""
    key = id(environment)
    if key not in _indexes:
        found: dict[str, dict[str, Any]] = {}
        _collect(environment.state, found, 0)
        _indexes[key] = found
        weakref.finalize(environment, _indexes.pop, key, None)
    return _indexes[key]


def _collect(value: Any, found: dict[str, dict[str, Any]], depth: int) -> None:
    if not isinstance(value, dict) or depth > 5:
        return
    records = len(value) > 1 and all(isinstance(item, dict) for item in value.values()) and depth > 0
    for name, item in value.items():
        if records:
            found.setdefault(name, value)
        _collect(item, found, depth + 1)
