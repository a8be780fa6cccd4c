"""Searching the state and the texts of a task for words."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from agenthard.audit.detectors.support.sharing import IdentityCache
from agenthard.audit.evidence import canonical_json
from agenthard.audit.judge.investigation.lookups import part_of
from agenthard.audit.judge.investigation.results import CHARACTERS, Found, page
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.task import AgentTask, EnvironmentSpec

_AROUND = 160
"""Characters of a value that are shown with a hit."""
_MOST = 100
"""Hits that are looked for beyond those passed over."""
_PARAGRAPH = re.compile(r"\n\s*\n")
_LEAST = 3
"""Letters that a word has at least to count alone."""


def search_state(task: AgentTask, text: str, offset: int = 0) -> Found:
    """Find a text in the values and keys of the state, whatever its case.

    Args:
        task: The task.
        text: What to look for.
        offset: Hits to pass over.

    Raises:
        InvalidLookupError: No hit from there on.
    """
    wanted, written = text.casefold(), canonical_json(text)[1:-1].casefold()
    records = [*_of_environment(task.environment), *_records("/initial_state", task.initial_state)]
    holding = [(above, member) for above, member, words in records if written in words]
    every = (hit for above, member in holding for hit in _matches(member, above, wanted))
    hits = list(islice(every, offset + _MOST))
    if not hits:
        return Found("state", f"{text!r} in the state", "It stands nowhere in the state, neither as value nor as key.")
    shown = page(len(hits), lambda number: "{} = {}".format(*hits[number]), offset)
    count = f"{len(hits)} hits" if len(hits) < offset + _MOST else f"{len(hits)} hits and perhaps more"
    title = f"{text!r} in the state: {count}"
    return Found("state", f"{title}; {shown.where}" if shown.where else title, shown.text)


def search_policy(task: AgentTask, text: str) -> Found:
    """Find the paragraphs of the policy, of what the user is told, and of the tools' documentation that hold a text.

    Paragraphs that hold it whole come first; where there is none, those that hold all its words; else those that hold
    most of them.

    Args:
        task: The task.
        text: What to look for.
    """
    paragraphs = [(pointer, part) for pointer, whole in _texts(task) for part in _PARAGRAPH.split(whole) if part]
    how, found = _best(paragraphs, text)
    if not found:
        return Found("policy", f"{text!r} in the texts", "None of the texts of the task holds any of these words.")
    pointers = list(dict.fromkeys(pointer for pointer, _ in found))
    if len(pointers) == 1:
        shown = page(len(found), lambda number: found[number][1], 0, "\n\n", CHARACTERS)
        where = pointers[0]
    else:
        shown = page(len(found), lambda number: "[{}]\n{}".format(*found[number]), 0, "\n\n", CHARACTERS)
        where = f"{len(pointers)} texts"
    title = f"{text!r} in {where}; paragraphs that {how}: {len(found)}"
    title = f"{title}; {shown.where.partition(';')[0]}" if shown.where else title
    only = pointers[0] if len(pointers) == 1 else None
    return Found(part_of(only) if only else "policy", title, shown.text, only)


def _records(root: str, state: Any) -> list[tuple[str, dict[Any, Any], str]]:
    """Cut a state into the members of its tables.

    Returns:
        For each the place above it, the member by its name, and all its words in lower case: most records need no
        closer look.
    """
    tables = [(join(root, name), name, table) for name, table in state.items()] if isinstance(state, dict) else []
    found: list[tuple[str, dict[Any, Any]]] = []
    for pointer, name, table in tables or [(root, "", state)]:
        if isinstance(table, dict) and table:
            found += [(pointer, {key: item}) for key, item in table.items()]
        elif isinstance(table, list):
            found += [(pointer, {index: item}) for index, item in enumerate(table)]
        elif table is not None:
            found.append((root, {name: table}))
    return [(above, member, canonical_json(member).casefold()) for above, member in found]


_of_environment: IdentityCache[EnvironmentSpec, list[tuple[str, dict[Any, Any], str]]] = IdentityCache(
    lambda environment: _records("/environment/state", environment.state)
)


def _matches(value: Any, pointer: str, wanted: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, item in value.items():
            here = join(pointer, key)
            named = isinstance(key, str) and wanted in key.casefold()
            if named:
                yield here, _around(canonical_json(item), 0)
            if not named or isinstance(item, dict | list):
                yield from _matches(item, here, wanted)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _matches(item, join(pointer, index), wanted)
    else:
        words = canonical_json(value)
        at = (value if isinstance(value, str) else words).casefold().find(wanted)
        if at >= 0:
            yield pointer, _around(words, at)


def _around(text: str, at: int) -> str:
    start = max(0, min(at - _AROUND // 2, len(text) - _AROUND))
    cut = text[start : start + _AROUND]
    return ("[...]" if start else "") + cut + ("[...]" if start + _AROUND < len(text) else "")


def _texts(task: AgentTask) -> Iterator[tuple[str, str]]:
    if task.environment.policy:
        yield "/environment/policy", task.environment.policy
    yield from task.user_texts()
    for kind, tools in (("tools", task.environment.tools), ("user_tools", task.environment.user_tools)):
        for index, tool in enumerate(tools):
            if tool.description:
                yield f"/environment/{kind}/{index}/description", tool.description


def _best(paragraphs: list[tuple[str, str]], text: str) -> tuple[str, list[tuple[str, str]]]:
    """The paragraphs that fit best, and how they do."""
    phrase = " ".join(text.casefold().split())
    whole = [(at, part) for at, part in paragraphs if phrase in " ".join(part.casefold().split())]
    if whole:
        return "hold it", whole
    words = {word for word in re.findall(r"\w+", phrase) if len(word) >= _LEAST}
    counts = [sum(word in part.casefold() for word in words) for _, part in paragraphs]
    most = max(counts, default=0)
    if not most:
        return "", []
    best = [item for item, count in zip(paragraphs, counts, strict=True) if count == most]
    return ("hold all its words" if most == len(words) else f"hold {most} of its {len(words)} words"), best
