"""The single values that a gold call asks for, with their accepted alternatives and their places."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from agenthard.taxonomy.accepted import ANY_OF, alternatives, is_any_of, is_optional
from agenthard.taxonomy.pointer import join, split


@dataclass(frozen=True)
class GoldValue:
    """One place in the arguments of a gold call that holds a scalar."""

    at: str
    """JSON Pointer relative to the arguments."""
    accepted: tuple[tuple[str, Any], ...]
    """The accepted scalars, each with its pointer relative to the arguments."""
    omissible: bool
    """True when a run may leave it out, or when another accepted shape does without it."""

    @property
    def name(self) -> str:
        """The place in words: ``passengers[0].dob``."""
        return readable(self.at)

    @property
    def member(self) -> str:
        """Name of the innermost parameter or member: ``dob``; empty inside an array of arrays."""
        names = [part for part in _without_choices(self.at) if not part.isdigit()]
        return names[-1] if names else ""

    def strings(self) -> list[tuple[str, str]]:
        """Accepted values that are non-empty texts."""
        return [(at, value) for at, value in self.accepted if isinstance(value, str) and value]


def gold_values(arguments: dict[str, Any]) -> Iterator[GoldValue]:
    """Yield each scalar of a gold call's arguments; scalars that are accepted in the same place come together."""
    for name, value in arguments.items():
        yield from _values(value, join("", name), False)


def _values(value: Any, at: str, omissible: bool) -> Iterator[GoldValue]:
    if is_any_of(value):
        omissible = omissible or is_optional(value)
        choices = [(at + suffix, choice) for suffix, choice in alternatives(value)]
        scalars = tuple((place, choice) for place, choice in choices if not _is_container(choice))
        others = [(place, choice) for place, choice in choices if _is_container(choice)]
        if scalars:
            yield GoldValue(at, scalars, omissible or bool(others))
        for place, choice in others:
            yield from _values(choice, place, omissible or len(choices) > 1)
    elif isinstance(value, dict):
        for name, member in value.items():
            yield from _values(member, join(at, name), omissible)
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from _values(item, join(at, i), omissible)
    else:
        yield GoldValue(at, ((at, value),), omissible)


def _is_container(value: Any) -> bool:
    return isinstance(value, (dict, list))


def readable(pointer: str) -> str:
    """Write a pointer into arguments as people do, without the choices of any-of nodes.

    >>> readable("/passengers/0/dob/$any_of/1")
    'passengers[0].dob'
    """
    text = ""
    for part in _without_choices(pointer):
        text += f"[{part}]" if part.isdigit() else f".{part}"
    return text.removeprefix(".")


def _without_choices(pointer: str) -> list[str]:
    parts = split(pointer)
    return [part for i, part in enumerate(parts) if part != ANY_OF and (i == 0 or parts[i - 1] != ANY_OF)]
