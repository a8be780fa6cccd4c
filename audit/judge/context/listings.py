"""Which names stand for one thing, by what the agent's own tools list: that New York has JFK and LGA, say."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from agenthard.audit.detectors.support.sharing import IdentityCache
from agenthard.audit.execution.environment import ExecutionError, UnavailableError
from agenthard.audit.execution.gold import environment_of
from agenthard.audit.judge.context.terms import as_term
from agenthard.taxonomy.task import AgentTask, EnvironmentSpec, ToolCall

LONGEST = 100_000
"""Characters of a response up to which it is read as a listing."""
Synonyms = Mapping[str, frozenset[str]]
"""Terms by the terms that they stand beside in a listing."""

_listed: IdentityCache[EnvironmentSpec, list[Synonyms]] = IdentityCache(lambda _: [])
"""What the tools of an environment list, once they were asked."""


def synonyms(task: AgentTask) -> Synonyms:
    """Call the tools that need no argument and only read, and pair up the names that they list; empty without such.

    Args:
        task: a task; the tools are called once for all that share its environment, and not for a task with a state of
            its own, which may list something else.
    """
    if task.initial_state is not None:
        return {}
    kept = _listed(task.environment)
    if not kept:
        found: dict[str, set[str]] = defaultdict(set)
        for names in _listings(task):
            for name in names:
                found[name] |= names - {name}
        kept.append({name: frozenset(others) for name, others in found.items()})
    return kept[0]


def _listings(task: AgentTask) -> Iterator[set[str]]:
    tools = [tool for tool in task.environment.tools if tool.effect == "read" and not tool.parameters.get("properties")]
    if not tools:
        return
    try:
        environment = environment_of(task)
        environment.reset(task)
        for tool in tools:
            seen = environment.call(ToolCall(name=tool.name, arguments={}))
            if seen.error is None and len(seen.text) <= LONGEST:
                yield from paired(seen.text)
    except (UnavailableError, ExecutionError):
        return


def paired(text: str) -> Iterator[set[str]]:
    """Yield the names that stand together in a JSON text: the strings of an object in a list, a key and its string.

    >>> [sorted(names) for names in paired('[{"code": "JFK", "city": "New York"}, {"code": "LGA"}]')]
    [['jfk', 'new york']]
    >>> [sorted(names) for names in paired('{"Mug": "4711", "Cap": 3}')]
    [['4711', 'mug']]
    """
    try:
        listed: Any = json.loads(text)
    except (ValueError, RecursionError):
        return
    groups: list[list[Any]] = []
    if isinstance(listed, dict):
        groups = [[key, value] for key, value in listed.items()]
    elif isinstance(listed, list):
        groups = [list(each.values()) for each in listed if isinstance(each, dict)]
    for group in groups:
        names = {term for each in group if isinstance(each, str) and (term := as_term(each))}
        if len(names) > 1 and all(isinstance(each, str) for each in group):
            yield names
