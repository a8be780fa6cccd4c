"""Root causes of accepted wrong answers: classes of values that an evaluator does not compare.

Every wrong value belongs to a class by three features: the type of the right value, where it is (the argument itself,
inside an object, inside a list), and how the wrong value relates to the right one. An evaluator that accepts nearly all
members of a class does not see it, whichever operator made them. The most general class counts, so that special cases
of a root cause are not reported separately.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal

from agenthard.taxonomy.accepted import concrete_values, is_optional
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.task import AgentTask, ToolCall
from agenthard.taxonomy.trajectory import Trajectory

Position = Literal["argument", "object", "list", "call"]
Relation = Literal["punctuation", "longer", "shorter", "other"]

NEARLY_ALL = 0.95
"""Share of a class that has to pass. Below 1, because a value may be wrong and still harmless, or be compared twice."""
FEWEST_TASKS = 3
"""Tasks, variants of one task counted once, in which a class has to pass; in fewer tasks it may be chance."""


class ValueClass(Record):
    """The class of one wrong value."""

    type: str
    """Type of the right value, as JSON Schema names it; "call" where a whole call is left out."""
    place: Position
    """Where the value is."""
    relation: Relation
    """How the wrong value relates to the right one."""


class Trial(Record):
    """Wrong values of one class in one task, and how many the evaluator accepted."""

    task_id: str
    """Task."""
    cluster: str
    """Cluster of the task, which its variants share."""
    kind: ValueClass
    """Class."""
    passed: int
    """How many were accepted."""
    tried: int
    """How many were judged."""


class RootCause(Record):
    """A root cause: classes that pass for one reason."""

    id: str
    """Canonical name; the cause of the finding."""
    sentence: str
    """What the evaluator does not compare, in one sentence."""
    kinds: tuple[ValueClass, ...]
    """Classes that it covers."""


_TYPES = {bool: "boolean", int: "integer", float: "float", str: "string", list: "array", dict: "object"}
_ORDER = ("integer", "float", "boolean", "string", "null", "call")
_INSIDE = {"argument": "argument", "object": "value inside an object", "list": "item of a list"}
_RELATIONS: dict[str, str] = {
    "punctuation": "Punctuation is not compared",
    "longer": "A value passes that merely contains the right one",
    "shorter": "A value passes that is merely a part of the right one",
}


def classify(path: Sequence[str | int], right: Any, wrong: Any) -> ValueClass:
    """Return the class of a wrong value.

    >>> classify(("n",), 3, 4)
    ValueClass(type='integer', place='argument', relation='other')
    >>> classify(("box", "sizes", 0), "monthly", "bimonthly").relation
    'longer'
    """
    place: Position = (
        "list" if any(isinstance(part, int) for part in path) else "object" if len(path) > 1 else "argument"
    )
    return ValueClass(type=_TYPES.get(type(right), "null"), place=place, relation=_relation(right, wrong))


def _relation(right: Any, wrong: Any) -> Relation:
    if isinstance(right, bool) or isinstance(wrong, bool):
        return "other"
    one, other = (re.sub(r"[\W_]+", "", str(value).casefold()) for value in (right, wrong))
    if not one or not other:
        return "other"
    if one == other:
        return "punctuation"
    return "longer" if one in other else "shorter" if other in one else "other"


def find_root_causes(tried: Iterable[Trial]) -> list[RootCause]:
    """Find the classes that an evaluator does not compare, the most general first.

    Tried in turn: a type, wherever it is; a type in one kind of place; a relation, whatever the type; a relation in one
    kind of place. A class counts when nearly all of its members pass, in at least three tasks. What a root covers is
    set aside before the next step. Types that are not seen in the same places are one root. A relation that passes in
    one kind of place covers what passes by it elsewhere, though there other things decide as well.
    """
    left = list(tried)
    roots: list[RootCause] = []
    steps: tuple[tuple[Callable[[ValueClass], tuple[str, ...]], bool], ...] = (
        (lambda kind: (kind.type,), False),
        (lambda kind: (kind.type, kind.place), False),
        (lambda kind: (kind.relation,), True),
        (lambda kind: (kind.relation, kind.place), True),
    )
    for feature, by_relation in steps:
        unseen = _unseen(left, feature, by_relation)
        relations = {key[0] for key in unseen} if by_relation else set()
        covered = [item for item in left if feature(item.kind) in unseen or item.kind.relation in relations]
        left = [item for item in left if feature(item.kind) not in unseen and item.kind.relation not in relations]
        groups: dict[str, set[ValueClass]] = defaultdict(set)
        for item in covered:
            key = feature(item.kind)
            name = f"relation {key[0]}" if by_relation else f"type in {key[1] if len(key) > 1 else 'any place'}"
            groups["a call left out" if item.kind.type == "call" else name].add(item.kind)
        roots.extend(_root(name, kinds) for name, kinds in sorted(groups.items()))
    return roots


def _unseen(
    tried: Sequence[Trial], feature: Callable[[ValueClass], tuple[str, ...]], by_relation: bool
) -> set[tuple[str, ...]]:
    passed: dict[tuple[str, ...], int] = defaultdict(int)
    total: dict[tuple[str, ...], int] = defaultdict(int)
    clusters: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for item in tried:
        if by_relation and item.kind.relation == "other":
            continue
        key = feature(item.kind)
        passed[key] += item.passed
        total[key] += item.tried
        if item.passed:
            clusters[key].add(item.cluster)
    return {key for key in total if passed[key] >= NEARLY_ALL * total[key] and len(clusters[key]) >= FEWEST_TASKS}


def _root(name: str, kinds: Iterable[ValueClass]) -> RootCause:
    ordered = tuple(sorted(kinds, key=lambda kind: (_ORDER.index(kind.type), kind.place, kind.relation)))
    types = list(dict.fromkeys(kind.type for kind in ordered))
    places = sorted({kind.place for kind in ordered})
    if name == "a call left out":
        sentence = "A call that is wanted may be left out"
    elif name.startswith("relation "):
        sentence = _RELATIONS[name.removeprefix("relation ")]
    else:
        listed = " or ".join(filter(None, [", ".join(types[:-1]), types[-1]]))
        what = _INSIDE[places[0]] if len(places) == 1 else "value"
        sentence = f"No {listed} {what} is ever compared"
    return RootCause(id=name, sentence=sentence, kinds=ordered)


def wrong_values(task: AgentTask, run: Trajectory) -> tuple[ValueClass, ...] | None:
    """Return the class of every value in which the calls of a run differ from the ground truth.

    Only for a task whose calls are compared. Calls of one tool are paired, equal ones first, in their order.

    Returns:
        Nothing (an empty tuple) for equal calls; None where they differ in more than values, so that a verdict on the
        run cannot be put down to a value.
    """
    made: dict[str, list[ToolCall]] = defaultdict(list)
    for message in run.messages:
        if message.role == "assistant":
            for call in message.tool_calls:
                made[call.name].append(call)
    wanted: dict[str, list[ToolCall]] = defaultdict(list)
    for _, call in task.gold_calls():
        wanted[call.name].append(call)
    if {name: len(calls) for name, calls in made.items()} != {name: len(calls) for name, calls in wanted.items()}:
        return None
    found: list[ValueClass] = []
    for name, golds in wanted.items():
        left = made[name]
        for gold in golds:
            options = [_differences(gold, call) for call in left]
            known = [(len(kinds), i) for i, kinds in enumerate(options) if kinds is not None]
            if not known:
                return None
            _, best = min(known)
            found.extend(options[best] or ())
            del left[best]
    return tuple(found)


def _differences(gold: ToolCall, made: ToolCall) -> list[ValueClass] | None:
    required = {name for name, value in gold.arguments.items() if not is_optional(value)}
    if not required <= set(made.arguments) <= set(gold.arguments):
        return None
    found: list[ValueClass] = []
    for name, value in made.arguments.items():
        accepted = concrete_values(gold.arguments[name])
        if any(value == one and isinstance(value, bool) == isinstance(one, bool) for one in accepted):
            continue
        kinds = None if not accepted else list(_leaves((name,), accepted[0], value))
        if not kinds or None in kinds:
            return None
        found.extend(kind for kind in kinds if kind is not None)
    return found


def _leaves(path: tuple[str | int, ...], right: Any, wrong: Any) -> Iterator[ValueClass | None]:
    """Yield the class of every differing value, and None where two structures differ."""
    if isinstance(right, dict) and isinstance(wrong, dict) and set(right) == set(wrong):
        for key in right:
            yield from _leaves((*path, key), right[key], wrong[key])
    elif isinstance(right, list) and isinstance(wrong, list) and len(right) == len(wrong):
        for position, (one, other) in enumerate(zip(right, wrong, strict=True)):
            yield from _leaves((*path, position), one, other)
    elif isinstance(right, dict | list) or isinstance(wrong, dict | list):
        yield None
    elif right != wrong or isinstance(right, bool) != isinstance(wrong, bool):
        yield classify(path, right, wrong)
