"""Check: one task's state lists just what its ground truth names, where its sibling tasks have no such list."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from agenthard.audit.detectors.base import Conclusion, Hit, Observation, SuiteDetector, Undecided
from agenthard.audit.detectors.support.state_records import FEWEST_OTHERS, readings, rows
from agenthard.audit.evidence import quote
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

_FEWEST_SIBLINGS = 10
_MOST_OF_THEM = 0.1
_DEEPEST = 3
_MOST = 2_000
"""Places of a state, and values of a ground truth, that are looked at."""


class ListedAnswer(SuiteDetector):
    """The task's own state holds, in a place that its siblings do not have, just the records that the answer names.

    Siblings are the tasks of the same benchmark and category whose state has the object around that place as well, or,
    where fewer than ten have it, the next object around that.

    Rule: the calls of the ground truth name records of tables in the state by their ids, and the tables have at least
    as many other records (two at least). Somewhere in the state, outside the records, a list of ids holds these very
    ids and nothing else, in whatever form: a list of values or of objects with one value, the keys of an object, its
    values, a text with commas, a single value. At most a tenth of the siblings have the place, and in each that has it,
    it holds just what that task's ground truth names. The name of the place does not matter.

    Flagged: ``{"books": {...}, "t2": ["B-7", "B-9"]}`` with ``lend_book("B-7")`` and ``lend_book("B-9")`` as the ground
    truth, where the states of the other tasks have ``books`` alone.
    Not flagged: ``{"books": {...}, "basket": ["B-7"]}`` where other tasks have a basket too; a list that holds one
    record more.

    Wrong where the agent cannot read the place, or where the task alone has a list that the user refers to ("order what
    is in my basket").
    """

    id = "listed-answer"
    title = "the state of one task lists what the ground truth names"
    version = "2"
    experimental = True
    category = "answer-leakage"
    severity = Severity.MAY_AFFECT_SCORE
    tier = Tier.SUSPECTED
    why = "An agent that reads the list has the answer without solving the task."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why the task cannot be checked, or None."""
        if not isinstance(task.initial_state, dict):
            return "the task has no state of its own"
        return None if next(task.gold_calls(), None) else "the ground truth names nothing in calls"

    def observe(self, task: AgentTask, runs: Iterator[Trajectory]) -> Iterable[Observation]:
        """Note which places the state has, and which of them hold just what the ground truth names."""
        named = _named(task)
        places, listed = [], {}
        for path, pointer, value in _places(task.initial_state):
            places.append(path)
            if named and named in readings(value):
                listed[path] = pointer
        evidence = tuple(quote(task, pointer, note="the list") for pointer in listed.values())
        yield Observation(
            task_id=task.id,
            key=f"{task.benchmark}/{task.subtask}",
            value={"places": places, "listed": list(listed), "named": sorted(named)},
            evidence=(*evidence, quote(task, "/ground_truth/turns", note="the ground truth")) if listed else (),
        )

    def conclude(self, observations: Sequence[Observation]) -> Iterable[Conclusion | Undecided]:
        """Yield one hit per task and place that few siblings have."""
        families: dict[str, list[Observation]] = defaultdict(list)
        for item in observations:
            families[item.key].append(item)
        for items in families.values():
            having, telling = _counts(items, "places"), _counts(items, "listed")
            for item in items:
                for i, path in enumerate(item.value["listed"]):
                    around = path.rpartition("/")[0]
                    while around and having[around] <= _FEWEST_SIBLINGS:
                        around = around.rpartition("/")[0]
                    siblings = having[around] if around else len(items)
                    if siblings > _FEWEST_SIBLINGS and telling[path] == having[path] <= _MOST_OF_THEM * siblings:
                        yield _conclusion(item, i, path, siblings)


def _conclusion(item: Observation, index: int, path: str, siblings: int) -> Conclusion:
    hit = Hit(
        claim=f"The state has {path[1:]!r}, as few of its {siblings - 1} siblings have, and it holds just what the "
        f"ground truth names: {', '.join(item.value['named'])[:160]}",
        evidence=(item.evidence[index], item.evidence[-1]),
        fix=f"Take {path[1:]} out of the state.",
    )
    return Conclusion(task_ids=(item.task_id,), hit=hit)


def _counts(items: Sequence[Observation], what: str) -> dict[str, int]:
    counts: dict[str, int] = defaultdict(int)
    for item in items:
        for path in item.value[what]:
            counts[path] += 1
    return counts


def _places(state: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Yield path, JSON Pointer and value of what is in a state outside the records of its tables."""
    waiting: list[tuple[str, str, Any, int]] = [("", "/initial_state", state, 0)]
    for count, (path, pointer, value, depth) in enumerate(waiting):
        if path:
            yield path, pointer, value
        whole = isinstance(value, dict) and not (depth and rows(pointer, value))
        if whole and depth < _DEEPEST and count + len(value) < _MOST:
            waiting += [(join(path, key), join(pointer, key), child, depth + 1) for key, child in value.items()]


def _named(task: AgentTask) -> frozenset[str]:
    """Return the ids of the records that the ground truth names; none where a table has few others."""
    wanted = frozenset(text for _, call in task.gold_calls() for text in _texts(call.arguments))
    named: set[str] = set()
    for _, pointer, value in _places(task.initial_state):
        table = {} if any(readings(value)) else rows(pointer, value)
        here = wanted & table.keys()
        if here and len(table) - len(here) < max(FEWEST_OTHERS, len(here)):
            return frozenset()
        named |= here
    return frozenset(named)


def _texts(value: Any) -> Iterator[str]:
    waiting = [value]
    for item in waiting:
        if isinstance(item, (dict, list)) and len(waiting) < _MOST:
            waiting += item.values() if isinstance(item, dict) else item
        elif isinstance(item, (str, int)) and not isinstance(item, bool):
            yield str(item)
