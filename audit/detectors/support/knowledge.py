"""What an agent can know about a task before its first call, and what the tools can tell it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from agenthard.audit.detectors.support.identity_cache import IdentityCache
from agenthard.audit.detectors.support.wording import squash
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
        documents += [tool.name, tool.description, *(text for _, text in texts_in(tool.parameters))]
    strings = sorted({squash(text) for _, text in texts_in(environment.state)})
    return _Shared(_BREAK.join(squash(text) for text in documents), frozenset(strings), _BREAK.join(strings))


_shared = IdentityCache(_read_environment)


class Knowledge:
    """Answers whether a value stands anywhere that the agent can see or the tools can reach.

    Comparison is loose: case, spaces, punctuation and accents do not count, and a value inside a longer text counts.
    """

    def __init__(self, task: AgentTask) -> None:
        self._shared = _shared(task.environment)
        said = [text for _, text in task.user_texts()]
        self._said = _BREAK.join(squash(text) for text in said)
        self._own_state = _BREAK.join(squash(text) for _, text in texts_in(task.initial_state))

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

    def holds(self, text: str) -> bool:
        """Tell whether any of the three places has it."""
        return self.said(text) or self.documented(text) or self.in_state(text)


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
