"""Which members of a group of same tasks have ground truths that exclude each other, without comparing every pair."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from agenthard.audit.detectors.base import Observation
from agenthard.audit.evidence import canonical_json

MOST_NAMED = 20
"""Tasks of a group that a claim names and quotes; a finding lists all of them."""


class Conflict(NamedTuple):
    """Members of a group that conflict."""

    involved: list[Observation]
    """Members that conflict with another one, in the order of the group."""
    first: Observation
    """Of the first pair that conflicts, the member that comes first."""
    second: Observation
    """The other one."""
    why: str
    """Why these two conflict."""


def conflict(
    members: Sequence[Observation],
    contradicts: Callable[[Observation, Observation], str | None],
    *parts: str,
) -> Conflict | None:
    """Find the members that conflict; members that are alike are compared once.

    Args:
        members: the group.
        contradicts: says why two members conflict, and None when they do not. Whether they do is the same in either
            order.
        parts: what it compares: names of members of their values.
    """
    alike: dict[str, list[int]] = {}
    for number, member in enumerate(members):
        alike.setdefault(canonical_json([member.value[part] for part in parts]), []).append(number)
    classes = list(alike.values())
    found: dict[tuple[int, int], str] = {}
    rows = set[int]()
    for i, ours in enumerate(classes):
        for theirs in classes[i:]:
            pair = (ours[0], theirs[0]) if ours is not theirs else tuple(ours[:2])
            if len(pair) == 2 and (why := contradicts(members[pair[0]], members[pair[1]])):
                found[pair[0], pair[1]] = why
                rows.update(ours, theirs)
    if not found:
        return None
    one, other = min(found)
    return Conflict([members[row] for row in sorted(rows)], members[one], members[other], found[one, other])


def named(task_ids: Sequence[str]) -> str:
    """Name the tasks of a group in a claim.

    >>> named(("a", "b"))
    'a, b'
    """
    more = len(task_ids) - MOST_NAMED
    return ", ".join(task_ids[:MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")
