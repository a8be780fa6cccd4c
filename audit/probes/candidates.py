"""What a task offers to choose from: sets of candidates, one of which is right, and what is around them.

This is all the battery needs to know about a benchmark. A benchmark states it as plain JSON, in
``AgentTask.metadata["candidates"]`` (docs/ace/probes.md gives the layout); :func:`read_scene` turns that into records.
The records are plain dataclasses, because a benchmark offers tens of thousands of candidates.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from agenthard.taxonomy.errors import AgentHardError

Item: TypeAlias = Mapping[str, Any]
"""A candidate or a shown item: its ``id`` and its attributes, any JSON values."""


_NUMBER = (int, float)


class CandidatesError(AgentHardError, ValueError):
    """Candidates that are not in the layout; the message names the place and what is wrong there."""

    code = "AH203"
    remedy = "Correct the candidates at the place that the message names."


@dataclass(frozen=True, slots=True)
class Rule:
    """A stated rule that excludes candidates one by one: a number has to lie on one side of a limit."""

    attribute: str
    """The number it limits."""
    limit: float
    """The limit; the limit itself is allowed."""
    upper: bool
    """True when the number may be at most the limit, False when at least."""


@dataclass(frozen=True, slots=True)
class CandidateSet:
    """One choice."""

    id: str
    """Names the choice within its scene."""
    candidates: tuple[Item, ...]
    """What can be chosen, in the order in which it is offered."""
    truth: int
    """Index of the right one."""
    rules: tuple[Rule, ...] = ()
    """Rules of this choice that a solver can apply to one candidate at a time; empty when there are none."""
    look_ahead: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """By name of a way to look: how well each candidate fits the rest of the task while the other choices stay open;
    higher is better."""
    slack: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """By name of a rule of the whole task: how far inside it each candidate stays while the other choices are open,
    below 0 where it is broken."""


@dataclass(frozen=True, slots=True)
class Scene:
    """One task with its choices. Scenes are independent of one another; the choices of one scene may not be."""

    id: str
    """Id of the task."""
    sets: tuple[CandidateSet, ...]
    """Its choices."""
    kind: str = ""
    """Scenes of one kind have the same attributes with the same meaning (a domain)."""
    shown: tuple[Item, ...] = ()
    """Items that the task shows as given, of the same sort as the candidates."""
    pool: tuple[str, ...] = ()
    """Ids of all items in the order in which the public file lists them; empty when it lists none."""
    text: str = ""
    """What the solver reads."""
    group: str = ""
    """Scenes to be summed up together, such as those of one difficulty."""


def as_number(value: object) -> float:
    """Return a finite JSON number as float, and NaN for anything else (a truth value is not a number)."""
    if type(value) is float:
        return value if math.isfinite(value) else math.nan
    if isinstance(value, bool) or not isinstance(value, _NUMBER):
        return math.nan
    try:
        number = float(value)
    except OverflowError:
        return math.nan
    return number if math.isfinite(number) else math.nan


def read_scene(data: object, scene_id: str, text: str = "") -> Scene:
    """Read one task's candidates.

    Args:
        data: JSON object with ``sets`` and, where known, ``kind``, ``shown``, ``pool`` and ``group``.
        scene_id: id of the task.
        text: what the solver reads.

    Returns:
        The scene.

    Raises:
        CandidatesError: when a part is missing or has the wrong shape.
    """
    scene = _object(data, "candidates")
    sets = _list(scene.get("sets"), "candidates/sets")
    return Scene(
        id=scene_id,
        sets=tuple(_set(entry, f"candidates/sets/{i}", i) for i, entry in enumerate(sets)),
        kind=_text(scene.get("kind", ""), "candidates/kind"),
        shown=_items(scene.get("shown", []), "candidates/shown"),
        pool=tuple(
            _text(entry, f"candidates/pool/{i}")
            for i, entry in enumerate(_list(scene.get("pool", []), "candidates/pool"))
        ),
        text=text,
        group=_text(scene.get("group", ""), "candidates/group"),
    )


def _set(entry: object, place: str, index: int) -> CandidateSet:
    data = _object(entry, place)
    candidates = _items(data.get("candidates"), f"{place}/candidates")
    ids = [item["id"] for item in candidates]
    if len(set(ids)) < len(ids):
        raise CandidatesError(f"{place}/candidates: an id is offered twice, so the truth cannot be told by its id")
    truth = data.get("truth")
    if truth not in ids:
        raise CandidatesError(f"{place}/truth: {truth!r} is not the id of a candidate")
    rules = _list(data.get("rules", []), f"{place}/rules")
    return CandidateSet(
        id=_text(data.get("id", str(index)), f"{place}/id"),
        candidates=candidates,
        truth=ids.index(truth),
        rules=tuple(_rule(rule, f"{place}/rules/{i}") for i, rule in enumerate(rules)),
        look_ahead=_scores(data, "look_ahead", place, len(candidates)),
        slack=_scores(data, "slack", place, len(candidates)),
    )


def _scores(data: Mapping[str, Any], key: str, place: str, count: int) -> dict[str, tuple[float, ...]]:
    """Read numbers by name, one per candidate."""
    found = {
        name: tuple(as_number(score) for score in _list(scores, f"{place}/{key}/{name}"))
        for name, scores in _object(data.get(key, {}), f"{place}/{key}").items()
    }
    for name, scores in found.items():
        if len(scores) != count:
            raise CandidatesError(f"{place}/{key}/{name}: {len(scores)} scores for {count} candidates")
    return found


def _rule(entry: object, place: str) -> Rule:
    data = _object(entry, place)
    sides = [side for side in ("max", "min") if side in data]
    if len(sides) != 1:
        raise CandidatesError(f"{place}: a rule has either 'max' or 'min'")
    limit = as_number(data[sides[0]])
    if math.isnan(limit):
        raise CandidatesError(f"{place}/{sides[0]}: {data[sides[0]]!r} is not a number")
    return Rule(_text(data.get("attribute"), f"{place}/attribute"), limit, sides[0] == "max")


def _items(value: object, place: str) -> tuple[Item, ...]:
    items = tuple(_object(item, f"{place}/{i}") for i, item in enumerate(_list(value, place)))
    for i, item in enumerate(items):
        _text(item.get("id"), f"{place}/{i}/id")
    return items


def _object(value: object, place: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise CandidatesError(f"{place}: an object is needed, this is {type(value).__name__}")
    return value


def _list(value: object, place: str) -> Sequence[Any]:
    if not isinstance(value, list | tuple):
        raise CandidatesError(f"{place}: a list is needed, this is {type(value).__name__}")
    return value


def _text(value: object, place: str) -> str:
    if not isinstance(value, str):
        raise CandidatesError(f"{place}: text is needed, this is {type(value).__name__}")
    return value
