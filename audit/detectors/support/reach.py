"""What an agent can find out by tools that change nothing: a search from a state, with values that it knows."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, product
from typing import Any, NamedTuple

from agenthard.audit.detectors.support.gold_values import name_words
from agenthard.audit.detectors.support.knowledge import knowledge_of
from agenthard.audit.detectors.support.sharing import IdentityCache, LastCache
from agenthard.audit.detectors.support.text import squash
from agenthard.audit.execution.environment import Environment
from agenthard.audit.execution.replay import Step
from agenthard.taxonomy.task import AgentTask, EnvironmentSpec, ToolCall, ToolSpec

MOST_CALLS = 400
"""Calls of one search. One that needs more proves nothing."""
_ROUNDS = 4
_CHOICES = 12
_COMBINATIONS = 60
_READING = frozenset(
    "get list view ls find search show display check retrieve read fetch query lookup look cat".split()
)
_TOKEN = re.compile(r"[#\w.-]*[\d_][\w.@-]*\w|[A-Z][\w'-]+")
_KEYS_MOST = 50_000

Known = tuple[str, Any]
"""A scalar that was handed out, with the name of its field."""


class Search(NamedTuple):
    """A search that ended."""

    calls: int
    """Calls that were made."""
    tools: tuple[str, ...]
    """Tools that were called, by name."""
    seen: str
    """What they returned, squashed."""
    complete: bool
    """False where too many calls would have been needed, or a call changed the state."""
    guessed: tuple[ToolSpec, ...]
    """Tools that read, with a parameter for which nothing fits: whether an agent can use them is not known."""


def search(environment: Environment, task: AgentTask, before: Sequence[Step], requestor: str) -> Search:
    """Make every read with every value that is said, documented or handed out, until nothing new comes.

    Args:
        environment: where they are carried out; it is reset first.
        task: the task.
        before: gold calls that have been made, which give the state and what is known.
        requestor: whose tools.

    Raises:
        UnavailableError: the task cannot be executed here.
        ExecutionError: the environment broke.
    """
    environment.reset(task)
    for step in before:
        environment.call(step.call)
    here = environment.state_hash()
    tools = task.environment.tools if requestor == "assistant" else task.environment.user_tools
    reads = [tool for tool in tools if is_read(tool)]
    known: dict[Known, None] = dict.fromkeys(_handed_out(before))
    tried: set[str] = set()
    called: dict[str, None] = {}
    seen: list[str] = []
    fitting: set[str] = set()
    for _ in range(_ROUNDS):
        number = len(known)
        for tool in reads:
            options, fits = options_of(task, tool, tuple(known))
            if fits:
                fitting.add(tool.name)
            combinations = list(islice(product(*options.values()), _COMBINATIONS + 1))
            if len(combinations) > _COMBINATIONS:
                fitting.discard(tool.name)
            for values in combinations[:_COMBINATIONS]:
                call = ToolCall(name=tool.name, arguments=dict(zip(options, values, strict=True)), requestor=requestor)
                key = f"{tool.name} {call.arguments}"
                if key in tried:
                    continue
                if len(tried) >= MOST_CALLS:
                    return Search(
                        len(tried), tuple(called), squash(" ".join(seen)), complete=False, guessed=tuple(reads)
                    )
                tried.add(key)
                response = environment.call(call)
                called[tool.name] = None
                if response.error is None:
                    seen.append(response.text)
                    known |= dict.fromkeys(scalars(parsed_response(response.text)))
        if len(known) == number:
            break
    guessed = tuple(tool for tool in reads if tool.name not in fitting)
    return Search(len(tried), tuple(called), squash(" ".join(seen)), environment.state_hash() == here, guessed)


def is_read(tool: ToolSpec) -> bool:
    """Tell whether a tool is documented as a read, or named as one where that is unknown."""
    first = next(iter(name_words(tool.name)), "")
    return tool.effect == "read" or (tool.effect == "unknown" and first in _READING)


def _handed_out(steps: Iterable[Step]) -> Iterator[Known]:
    for step in steps:
        yield from scalars(step.call.arguments)
        if step.observation.error is None:
            yield from scalars(parsed_response(step.observation.text))


def parsed_response(text: str) -> Any:
    """Return a response as JSON data, a short one as its text; None for prose."""
    try:
        return json.loads(text)
    except ValueError:
        return text if len(text) < 100 else None


def scalars(value: Any, key: str = "") -> Iterator[Known]:
    """Yield the keys and values inside JSON data, each with the name of its field."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield key, name
            yield from scalars(member, name)
    elif isinstance(value, list):
        for item in value:
            yield from scalars(item, key)
    elif isinstance(value, (str, int, float)) and not isinstance(value, bool):
        yield key, value


def options_of(task: AgentTask, tool: ToolSpec, known: Sequence[Known]) -> tuple[dict[str, list[Any]], bool]:
    """List, for each required parameter, what an agent would put there, and tell whether something fits each."""
    properties = tool.parameters.get("properties") or {}
    required = [name for name in properties if name in (tool.parameters.get("required") or ())]
    found = {name: _values(task, name, properties[name], known) for name in required}
    return {name: values for name, (values, _) in found.items()}, all(fits for _, fits in found.values())


def _values(task: AgentTask, name: str, schema: Any, known: Sequence[Known]) -> tuple[list[Any], bool]:
    schema = schema if isinstance(schema, dict) else {}
    if isinstance(schema.get("enum"), list):
        return list(schema["enum"])[:_CHOICES], True
    found: dict[Any, None] = {schema["default"]: None} if _is_plain(schema.get("default")) else {}
    kind = _kind(name)
    spoken = _spoken(task)
    found |= dict.fromkeys(value for key, value in known if key and _kind(key) == kind)
    found |= dict.fromkeys(value for key, value in spoken if _kind(key) == kind)
    fits = bool(found)
    if not fits:
        found |= dict.fromkeys(value for _, value in spoken)
        found |= dict.fromkeys(token for _, text in task.user_texts() for token in _TOKEN.findall(text))
    typed = [one for value in found if (one := _as_type(value, schema.get("type"))) is not None]
    return list(dict.fromkeys(typed))[:_CHOICES], fits


def _is_plain(value: Any) -> bool:
    return isinstance(value, (str, int, float)) and not isinstance(value, bool)


def _kind(name: str) -> str:
    """Return what a field is about, without number: ``user_ids`` and ``receiver_id`` are both "id" fields."""
    words = name_words(name) or [name.lower()]
    return words[-1].rstrip("s")


def _as_type(value: Any, kind: Any) -> Any:
    if kind in ("integer", "number", "float"):
        digits = str(value).lstrip("#")
        return int(digits) if digits.isdecimal() else None
    return str(value) if kind in (None, "string") else None


def _keyed(state: Any) -> tuple[tuple[str, str, str], ...]:
    """List the texts of a state: field, text, and the text squashed."""
    found = dict.fromkeys((key, str(value)) for key, value in islice(scalars(state), _KEYS_MOST))
    return tuple((key, text, bare) for key, text in found if len(bare := squash(text)) >= 3)


def _read(environment: EnvironmentSpec) -> tuple[tuple[str, str, str], ...]:
    return _keyed(environment.state)


_shared = IdentityCache(_read)


def _said_values(task: AgentTask) -> list[Known]:
    knowledge = knowledge_of(task)
    every = sorted({*_shared(task.environment), *_keyed(task.initial_state)}, key=lambda item: (-len(item[2]), item))
    return [(key, text) for key, text, _ in every if knowledge.said(text)]


_spoken = LastCache(_said_values)
"""Returns the texts of the state that the user says: what a name or a code in the request may stand for."""
