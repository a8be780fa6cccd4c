"""Look-ups by place: find the place in the task record that a judge names, and read it."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from rapidfuzz import process

from agenthard.audit.evidence import canonical_json, text_at
from agenthard.audit.judge.context.material import Part, Passage
from agenthard.audit.judge.investigation.results import (
    CHARACTERS,
    ENTRY_CHARACTERS,
    Found,
    InvalidLookupError,
    clip,
    page,
)
from agenthard.taxonomy.pointer import join, resolve, split
from agenthard.taxonomy.task import AgentTask

_PARTS: dict[str, Part] = {
    "/user": "user",
    "/environment/policy": "policy",
    "/environment/tools": "tools",
    "/environment/user_tools": "user_tools",
    "/hidden_tools": "tools",
    "/evaluation": "evaluation",
    "/ground_truth": "ground_truth",
}
_EXAMPLES = 5
_MARGIN = 10
"""Room for what separates two entries and says that one is cut."""


def look_up(task: AgentTask, at: str = "", where: dict[str, Any] | None = None, offset: int = 0) -> Found:
    """Read a place of the task record.

    What is shown of an object or a list is copied from the canonical JSON of its place, so that a quote of one member
    can be found again there.

    Args:
        task: The task.
        at: The place (agenthard.audit.judge.investigation.lookups); an empty text lists what there is in the state.
        where: Only members that have these values, by the path of a field within the member (``address/zip``).
        offset: Members, or characters of a text, to pass over.

    Raises:
        InvalidLookupError: No such place, or it has no members to choose from.
    """
    if not at.strip("/ "):
        return _overview(task)
    pointer = place(task, at)
    value, part = resolve(task, pointer), part_of(pointer)
    if where:
        members = _chosen(value, where, pointer)
        room = max(ENTRY_CHARACTERS, CHARACTERS // len(members) - _MARGIN)
        shown = page(len(members), lambda number: _words(value, members[number]), offset, ",\n", room)
        named = clip(", ".join(str(name) for name in members), 600)
        found = f"{len(members)} of the members of {pointer} have {canonical_json(where)}: {named}"
        return Found(part, _joined(found, shown.where), shown.text, pointer)
    members = _names(value)
    if len(members) > 1:
        shown = page(len(members), lambda number: _words(value, members[number]), offset, ",\n")
        if not shown.whole:
            return Found(part, _joined(f"{pointer}, {len(members)} members", shown.where), shown.text, pointer)
    return _stretch(part, pointer, text_at(task, pointer), offset, pointer)


def read_passage(passage: Passage, offset: int = 0) -> Found:
    """Read a passage of the material that is not in the task record.

    Args:
        passage: The passage.
        offset: Characters to pass over.

    Raises:
        InvalidLookupError: It is not so long.
    """
    return _stretch(passage.part, f"{passage.label}: {passage.title}", passage.text, offset, None)


def _stretch(part: Part, title: str, text: str, offset: int, pointer: str | None) -> Found:
    if offset and offset >= len(text):
        raise InvalidLookupError(f"offset {offset} is behind the end, which is at {len(text)} characters")
    last = min(offset + CHARACTERS, len(text))
    more = f"; ask again with offset {last} for more" if last < len(text) else ""
    cut = f", characters {offset} to {last} of {len(text)}{more}" if last - offset < len(text) else ""
    return Found(part, title + cut, text[offset:last], pointer)


def part_of(pointer: str) -> Part:
    """Return the part of the task that a place belongs to."""
    return next((part for start, part in _PARTS.items() if pointer.startswith(start)), "state")


def _overview(task: AgentTask) -> Found:
    lines = []
    for root, state in states(task):
        items: Iterable[tuple[Any, Any]] = state.items() if isinstance(state, dict) else [("", state)]
        for name, value in items:
            size = f"{len(value)} members" if isinstance(value, dict | list) else clip(canonical_json(value), 200)
            lines.append(f"{root}/{name}: {size}")
    if not lines:
        return Found("state", "the state", f"The task has no state: {' and '.join(STATES)} are empty.")
    shown = page(len(lines), lines.__getitem__)
    return Found("state", _joined("the state", shown.where), shown.text)


def _names(value: Any) -> list[Any]:
    """Return the names of a value's members in the order of its canonical JSON."""
    if isinstance(value, dict):
        return sorted(value)
    return list(range(len(value))) if isinstance(value, list | tuple) else []


def _words(value: Any, name: Any) -> str:
    """Return a member exactly as in the canonical JSON of the value."""
    member = canonical_json(value[name])
    return f"{canonical_json(name)}: {member}" if isinstance(value, dict) else member


def _chosen(value: Any, where: dict[str, Any], pointer: str) -> list[Any]:
    """Return the names of the members that have these values; at least one."""
    names = _names(value)
    if not names:
        raise InvalidLookupError(f"{pointer} has no members to choose from; leave `where` out")
    for field, wanted in where.items():
        have = [one for name in names for one in _values(value[name], field)]
        if not any(_same(one, wanted) for one in have):
            known = dict.fromkeys(clip(canonical_json(one), 80) for one in have)
            fields = {str(key) for name in names if isinstance(value[name], dict) for key in value[name]}
            told = f"it is, for example, {', '.join(list(known)[:_EXAMPLES])}"
            told = told if known else f"its fields are {', '.join(sorted(fields)[:40]) or 'none'}"
            raise InvalidLookupError(
                f"no member of {pointer} ({len(names)}) has {field} = {canonical_json(wanted)}; {told}"
            )

    def fits(item: Any) -> bool:
        return all(any(_same(one, wanted) for one in _values(item, field)) for field, wanted in where.items())

    chosen = [name for name in names if fits(value[name])]
    if not chosen:
        raise InvalidLookupError(f"no member of {pointer} ({len(names)}) has all of {canonical_json(where)} together")
    return chosen


def _values(item: Any, field: str) -> Iterator[Any]:
    """Yield the value of a field, and its items where it is a list; lists on the way are entered."""
    head, _, rest = field.replace(".", "/").partition("/")
    for one in item if isinstance(item, list) else [item]:
        if isinstance(one, dict) and head in one:
            value = one[head]
            if rest:
                yield from _values(value, rest)
            else:
                yield value
                yield from value if isinstance(value, list) else ()


def _same(one: Any, wanted: Any) -> bool:
    if isinstance(one, dict | list) or isinstance(wanted, dict | list):
        return canonical_json(one) == canonical_json(wanted)
    return str(one).casefold() == str(wanted).casefold()


def _joined(*words: str) -> str:
    return "; ".join(filter(None, words))


STATES = ("/environment/state", "/initial_state")
"""Where a task's state is: the shared one, and its own."""
READABLE = ("/user", "/environment", "/initial_state", "/hidden_tools", "/evaluation", "/ground_truth")
"""Parts of the record that can be read; the rest is the record's own bookkeeping and may tell more than the task."""
_LEVELS = {"/environment/state": 2, "/initial_state": 6}
"""Levels below a state on which a key alone is looked for: of what tasks share, the tables and their members."""
_PIECE = re.compile(r"#\d+$")
"""What labels of the material add where only a piece of a record is shown."""
_NAMED = 8
"""Places, or names, that a message lists."""


def states(task: AgentTask) -> list[tuple[str, Any]]:
    """Return the states of a task that are not empty, by pointer."""
    found = [(pointer, resolve(task, pointer)) for pointer in STATES]
    return [(pointer, value) for pointer, value in found if value]


def place(task: AgentTask, at: str) -> str:
    """Return the JSON Pointer that is meant.

    Args:
        task: The task.
        at: A JSON Pointer into its record; a path below a state, such as ``users/u1``; or a key alone, such as ``u1``.

    Raises:
        InvalidLookupError: No such place, or there are several; the message names what comes near.
    """
    path = at.strip()
    if any(path == part or path.startswith(part + "/") for part in READABLE):
        piece = _PIECE.sub("", path)
        return _checked(task, piece if not _leads(task, path) and _leads(task, piece) else path)
    below = path.strip("/")
    for root, state in states(task):
        if _leads(state, "/" + below):
            return f"{root}/{below}"
    found = [pointer for root, state in states(task) for pointer in _keyed(state, root, below) if "/" not in below]
    if len(found) == 1:
        return found[0]
    if found:
        raise InvalidLookupError(f"{at!r} stands at {len(found)} places: {', '.join(found[:_NAMED])}; name one of them")
    if "/" not in below and states(task):
        raise InvalidLookupError(f"no record is called {at!r}; search_state finds a text anywhere in the state")
    for root, _ in states(task):
        _checked(task, f"{root}/{below}")
    raise InvalidLookupError(f"no {at!r} here: the task has no state; the record has {', '.join(READABLE)}")


def _leads(value: Any, pointer: str) -> bool:
    try:
        resolve(value, pointer)
    except (LookupError, ValueError):
        return False
    return True


def _keyed(state: Any, root: str, key: str) -> list[str]:
    """Return the places of a key on the highest level that has it."""
    level = [(root, state)]
    for _ in range(_LEVELS[root]):
        level = [(place, value) for place, value in level if isinstance(value, dict)]
        found = [join(place, key) for place, value in level if key in value]
        if found:
            return found
        level = [(join(place, name), item) for place, value in level for name, item in value.items()]
    return []


def _checked(task: AgentTask, pointer: str) -> str:
    """Return the pointer when it leads somewhere.

    Raises:
        InvalidLookupError: It does not; the message says how far it leads, and what there is.
    """
    tokens, here = split(pointer), ""
    for token in tokens:
        there = join(here, token)
        if not _leads(task, there):
            raise InvalidLookupError(f"no {token!r} at {here or '/'}{_instead(resolve(task, here), token)}")
        here = there
    return here


def _instead(value: Any, token: str) -> str:
    if isinstance(value, dict):
        names = [str(name) for name in value]
    elif isinstance(value, list | tuple):
        return f", which is a list of {len(value)} (counted from 0)"
    elif hasattr(type(value), "model_fields"):
        names = list(type(value).model_fields)
    else:
        return f", which is not an object but {value!r:.80}"
    near = [name for name, *_ in process.extract(token, names, limit=_NAMED)]
    return f", which has {len(names)} members; the likest: {', '.join(near)}" if near else ", which is empty"
