"""The records of a group that gold calls choose, and what they give up for them."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from agenthard.audit.detectors.support.sibling_records import Group, Sibling, group_of
from agenthard.taxonomy.task import AgentTask


class Chosen(NamedTuple):
    """A record of a group that a gold call gives."""

    at: str
    """JSON Pointer of the value."""
    group: Group
    own: Sibling
    replaced: Sibling | None
    """The record of the same group that the call gives up for it."""


def choices_of(task: AgentTask) -> Iterator[Chosen]:
    """Yield the records that the gold calls choose; reads choose nothing, and what is given up is not chosen."""
    for at, call in task.gold_calls():
        tool = task.tool(call.name, call.requestor)
        if tool is not None and tool.effect == "read":
            continue
        given = {name: list(leaves(value, f"{at}/arguments/{name}")) for name, value in call.arguments.items()}
        replacing = {name for name in given if name.partition("_")[0] == "new"}
        for name, values in given.items():
            for number, (place, value) in enumerate(values):
                group = group_of(task, value)
                if group is None or _is_replaced(name, number, group, given, replacing):
                    continue
                yield Chosen(place, group, group.members[value], _replaced(name, number, group, given, replacing))


def leaves(value: Any, at: str) -> Iterator[tuple[str, str]]:
    """Yield the texts of a JSON value, each with its JSON Pointer after ``at``."""
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(item, f"{at}/{key}")
    elif isinstance(value, str):
        yield at, value


_Given = dict[str, list[tuple[str, str]]]


def _is_replaced(name: str, number: int, group: Group, given: _Given, replacing: set[str]) -> bool:
    """Tell whether the value is what the call gives up for a new one."""
    new = [given[other] for other in replacing if other != name]
    return name not in replacing and any(
        len(values) > number and len(values) == len(given[name]) and values[number][1] in group.members
        for values in new
    )


def _replaced(name: str, number: int, group: Group, given: _Given, replacing: set[str]) -> Sibling | None:
    if name not in replacing:
        return None
    old = given.get(name.partition("_")[2], [])
    return group.members.get(old[number][1]) if len(old) == len(given[name]) else None
