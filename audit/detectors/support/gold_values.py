"""The values that a ground truth asks for: their places, their documentation, and which ones give an answer away."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from agenthard.audit.detectors.support.sharing import RecentCache
from agenthard.taxonomy.accepted import ANY_OF, alternatives, is_any_of, is_optional
from agenthard.taxonomy.pointer import join, split
from agenthard.taxonomy.task import AgentTask, ToolCall, ToolSpec


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
        """The place as text: ``passengers[0].dob``."""
        return readable(self.at)

    @property
    def member(self) -> str:
        """Name of the innermost parameter or member: ``dob``; empty inside an array of arrays."""
        names = [part for part in _without_choices(self.at) if not part.isdigit()]
        return names[-1] if names else ""

    def strings(self) -> list[tuple[str, str]]:
        """Accepted values that are non-empty texts."""
        return [(at, value) for at, value in self.accepted if isinstance(value, str) and value]


def _read(arguments: dict[str, Any]) -> tuple[GoldValue, ...]:
    return tuple(found for name, value in arguments.items() for found in _values(value, join("", name), False))


gold_values = RecentCache(_read)
"""Returns each scalar of a gold call's arguments; scalars that are accepted in the same place come together."""


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


_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


@dataclass(frozen=True)
class Documented:
    """What a tool says about one place of its arguments."""

    schema: dict[str, Any]
    """The schema of the place."""
    optional: bool
    """Whether the place, or an object around it, may be left out."""
    pointer: str
    """JSON Pointer of the schema, relative to the tool's parameters."""


def documented(tool: ToolSpec, at: str) -> Documented | None:
    """Look up the place ``at`` of the arguments, with or without any-of nodes; None when it is not documented."""
    schema: Any = tool.parameters
    optional = choice = False
    pointer = ""
    for part in split(at):
        if part == ANY_OF or choice:
            choice = part == ANY_OF
            continue
        if not isinstance(schema, dict):
            return None
        if part.isdigit() and schema.get("type") == "array":
            schema, pointer = schema.get("items"), join(pointer, "items")
        else:
            pointer = join(pointer, "properties", part)
            optional = optional or part not in (schema.get("required") or ())
            schema = (schema.get("properties") or {}).get(part)
    return Documented(schema, optional, pointer) if isinstance(schema, dict) else None


def name_words(name: str) -> list[str]:
    """Split an identifier into its words, in lower case.

    >>> name_words("includeAge_groups"), name_words("HTTPCode2")
    (['include', 'age', 'groups'], ['http', 'code', '2'])
    """
    return [word.lower() for word in _WORD.findall(name)]


_SHORTEST_TEXT = 4
_SHORTEST_NUMBER = 3
_MOST = 500
_LONG = 1_000

Expected = tuple[str, str]
"""JSON Pointer of an expected value, and the value as text."""


def expected_values(task: AgentTask) -> Iterator[Expected]:
    """Yield the arguments of the gold calls, the required texts and the accepted answers.

    Left out are what may be left out of a call, truth values, texts of fewer than four characters and numbers of fewer
    than three digits, which occur everywhere, and milestones, which are not calls to be made.
    """
    truth = task.ground_truth
    for group in ("outputs", "answers"):
        for i, text in enumerate(getattr(truth, group)):
            if is_telling(text):
                yield f"/ground_truth/{group}/{i}", text
    if truth.semantics == "milestones":
        return
    for pointer, call in task.gold_calls():
        if call.requestor == "assistant":
            yield from argument_values(pointer, call)


def argument_values(pointer: str, call: ToolCall) -> Iterator[Expected]:
    """Yield the telling values, at any depth, of the arguments that may not be left out of the call at ``pointer``."""
    for name, value in call.arguments.items():
        if not is_optional(value):
            yield from _leaves(join(f"{pointer}/arguments", name), value)


def _leaves(pointer: str, value: Any) -> Iterator[Expected]:
    stack, count = [(pointer, value)], 0
    while stack and count < _MOST:
        at, item = stack.pop()
        count += 1
        if isinstance(item, dict):
            stack += [(join(at, key), child) for key, child in reversed(item.items())]
        elif isinstance(item, list):
            stack += [(join(at, i), child) for i, child in reversed(list(enumerate(item)))]
        elif is_telling(item):
            yield at, str(item)


def is_telling(value: Any) -> bool:
    """Tell whether a value is a text or a number long enough to be recognised wherever it occurs.

    >>> is_telling("B-18"), is_telling("yes"), is_telling(144), is_telling(7), is_telling(True)
    (True, False, True, False, False)
    """
    if isinstance(value, str):
        return len(value.strip()) >= _SHORTEST_TEXT
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and sum(ch.isdigit() for ch in str(value)) >= _SHORTEST_NUMBER


def choices(tool: ToolSpec | None) -> frozenset[str]:
    """Return the documented choices and defaults of a tool's parameters, in lower case."""
    properties = tool.parameters.get("properties") if tool else None
    schemas = [each for each in properties.values() if isinstance(each, dict)] if isinstance(properties, dict) else []
    listed = [each for schema in schemas if isinstance(schema.get("enum"), list) for each in schema["enum"]]
    return frozenset(str(each).casefold() for each in (*listed, *(schema.get("default") for schema in schemas)))


def stands_alone(value: str, text: str) -> re.Match[str] | None:
    """Find a value in a text as a word of its own, without regard to case; a very long one only where it first is."""
    folded = text.casefold()
    at = folded.find(value.casefold())
    if at < 0:
        return None
    if len(value) > _LONG and len(folded) == len(text):
        # Searching a long pattern at every place of a repetitive text takes the product of their lengths.
        return re.compile(rf"(?<![\w.-])(?s:.{{{len(value)}}})(?![\w-]|\.\w)").match(text, at)
    return re.search(rf"(?<![\w.-]){re.escape(value)}(?![\w-]|\.\w)", text, re.IGNORECASE)
