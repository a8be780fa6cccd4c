"""What an agent can know about a task, and the texts and values around it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from agenthard.audit.detectors.support.sharing import IdentityCache, LastCache
from agenthard.audit.detectors.support.text import squash
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.task import AgentTask, EnvironmentSpec

_BREAK = "\n"
"""Between texts; squash removes it from texts, so nothing is found across two of them."""


@dataclass(frozen=True)
class _Shared:
    """Texts of an environment, read once for all its tasks."""

    documented: str
    state: frozenset[str]
    state_text: str


def _read_environment(environment: EnvironmentSpec) -> _Shared:
    documents = [environment.policy]
    for tool in (*environment.tools, *environment.user_tools):
        documents += [tool.name, tool.description, *(text for text in scalars_in(tool.parameters))]
    strings = sorted({squash(text) for text in scalars_in(environment.state)})
    return _Shared(_BREAK.join(squash(text) for text in documents), frozenset(strings), _BREAK.join(strings))


_shared = IdentityCache(_read_environment)


class Knowledge:
    """Answers whether a value appears anywhere that the agent can see or the tools can reach.

    Comparison is loose: case, spaces, punctuation and accents do not count, and a value inside a longer text counts.
    """

    def __init__(self, task: AgentTask) -> None:
        self._shared = _shared(task.environment)
        said = [text for _, text in task.user_texts()]
        self._said = _BREAK.join(squash(text) for text in said)
        self._own_state = _BREAK.join(squash(text) for text in scalars_in(task.initial_state))

    def said(self, text: str) -> bool:
        """Tell whether the conversation says it (system prompts and assistant turns included)."""
        return squash(text) in self._said

    def documented(self, text: str) -> bool:
        """Tell whether the policy or the documentation of a tool says it."""
        return squash(text) in self._shared.documented

    def in_state(self, text: str) -> bool:
        """Tell whether the state that the tools work on holds it, as a key or within a value."""
        bare = squash(text)
        return bare in self._shared.state or bare in self._own_state or bare in self._shared.state_text

    def is_in_own_state(self, text: str) -> bool:
        """Tell whether the task's own initial state holds it as a whole value or key."""
        return f"{_BREAK}{squash(text)}{_BREAK}" in f"{_BREAK}{self._own_state}{_BREAK}"

    def is_in_state(self, text: str) -> bool:
        """Tell whether the state that the tools work on holds it as a whole value or key, not within a longer one."""
        return squash(text) in self._shared.state or self.is_in_own_state(text)

    def holds(self, text: str) -> bool:
        """Tell whether any of the three places has it."""
        return self.said(text) or self.documented(text) or self.in_state(text)


knowledge_of = LastCache(Knowledge)


def scalars_in(value: Any) -> Iterator[str]:
    """Yield every scalar and every key of a JSON value as text.

    >>> list(scalars_in({"a": [True, "x"], "b": 2.0}))
    ['a', 'x', 'b', '2.0']
    """
    if isinstance(value, dict):
        for key, member in value.items():
            yield str(key)
            yield from scalars_in(member)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from scalars_in(item)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def texts_in(value: Any, at: str = "") -> Iterator[tuple[str, str]]:
    """Yield every scalar of a JSON value as text with its JSON Pointer; a key comes with the pointer of its object.

    >>> list(texts_in({"a": [True, "x"], "b": 2.0}))
    [('', 'a'), ('/a/1', 'x'), ('', 'b'), ('/b', '2.0')]
    """
    if isinstance(value, dict):
        for key, member in value.items():
            yield at, str(key)
            yield from texts_in(member, join(at, key))
    elif isinstance(value, (list, tuple)):
        for i, item in enumerate(value):
            yield from texts_in(item, join(at, i))
    elif value is not None and not isinstance(value, bool):
        yield at, str(value)


_WORD = re.compile(r"#?\w[\w-]*")
_MAX_LEAVES = 5_000

Leaf = tuple[str, Any]
"""JSON Pointer of a value that is neither object nor array, and the value."""


def surroundings(task: AgentTask) -> Iterator[list[Leaf]]:
    """Yield the texts and values around ``task``, the nearest first.

    The circles: the user's texts and the gold arguments; the task's own initial state and the records of the shared
    state that the first circle names; the records that those name (user, order, product); the policy.
    """
    arguments = _gold_arguments(task)
    texts = list(task.user_texts())
    yield texts + arguments
    named = {word for _, text in texts for word in _WORD.findall(text)}
    named |= {value for _, value in arguments if isinstance(value, str)}
    seen: set[str] = set()
    own = _records(task, named, seen)
    yield list(_leaves("/initial_state", task.initial_state)) + own
    yield _records(task, {value for _, value in own if isinstance(value, str)}, seen)
    if task.environment.policy:
        yield [("/environment/policy", task.environment.policy)]


def _records(task: AgentTask, ids: set[str], seen: set[str]) -> list[Leaf]:
    """List the values of the records with these ids, of a shared state of the form table → id → record."""
    found: list[Leaf] = []
    tables = task.environment.state
    for table, records in sorted(tables.items()) if isinstance(tables, dict) else ():
        for key in sorted(ids & records.keys()) if isinstance(records, dict) else ():
            pointer = join("/environment/state", table, key)
            if pointer not in seen:
                seen.add(pointer)
                found += _leaves(pointer, records[key])
    return found


def _gold_arguments(task: AgentTask) -> list[Leaf]:
    return [leaf for pointer, call in task.gold_calls() for leaf in _leaves(f"{pointer}/arguments", call.arguments)]


def _leaves(pointer: str, value: Any) -> Iterator[Leaf]:
    stack, count = [(pointer, value)], 0
    while stack and count < _MAX_LEAVES:
        at, item = stack.pop()
        if isinstance(item, dict):
            stack += [(join(at, key), child) for key, child in reversed(item.items())]
        elif isinstance(item, list):
            stack += [(join(at, i), child) for i, child in reversed(list(enumerate(item)))]
        elif item is not None:
            count += 1
            yield at, item
