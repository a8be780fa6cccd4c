"""Check: one task of a composed suite departs from what all others with the same part do."""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from agenthard.audit.detectors.base import Conclusion, Hit, Observation, SuiteDetector
from agenthard.audit.evidence import canonical_json, quote
from agenthard.taxonomy.finding import Evidence, Severity, Tier
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

START, GOLD, CHECK = "start", "gold", "check"
_FEWEST = 5
"""Other tasks that a pattern needs at least."""
_MOST_EXCEPTIONS = 0.05
"""Share of the tasks with a part that may depart from the pattern."""
_BY_CHANCE = 1e-5
"""Probability from which a pattern is not an accident; τ²-bench's telecom has about 2,000 pairs of parts."""
_CATEGORIES = {START: "incorrect-tool-call", GOLD: "incorrect-tool-call", CHECK: "unreachable-score"}
_CALLED = {START: "start action", GOLD: "gold call", CHECK: "state assertion"}


class Part(NamedTuple):
    """One part of a task: an action that prepares the state, a gold call, or an assertion."""

    kind: str
    """start, gold or check."""
    text: str
    """What it does, as canonical JSON."""


class BrokenPattern(SuiteDetector):
    """In a suite composed of parts, what goes with a part in all other tasks goes with it in each.

    A composed suite prepares the state of each task by actions: each action sets up one problem, gold calls solve it,
    and assertions look at the result. Looked at are the actions, gold calls and assertions with their arguments, among
    the tasks of one domain in which each task prepares its state. Rule: where six tasks or more have part A, and all of
    them have part B but one (in a large suite one in twenty at most), the one lacks B, and what it has instead is
    perhaps wrong. Chance would leave a pattern like that in one of 100,000 pairs, by how many tasks have B at all.

    Flagged: all 50 tasks that start with 15.1 GB used refuel 2 GB, and one refuels 3 GB; all tasks that reset the
    settings restart the device, and one does not.
    Not flagged: suites without such actions, whose tasks are written one by one.

    Wrong where one task is meant to be the exception, and nothing else of it shows why.
    """

    id = "broken-pattern"
    title = "a task departs from what all others with the same part do"
    version = "1"
    category = "incorrect-tool-call"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    why = "The same problem is solved and checked alike everywhere else, so a run that does that fails here."
    experimental = True

    def not_applicable(self, task: AgentTask) -> str | None:
        """Only tasks whose state is prepared by actions can be compared."""
        return None if any(part.kind == START for _, part in _parts(task)) else "no action prepares the task's state"

    def observe(self, task: AgentTask, runs: Iterator[Trajectory]) -> Iterator[Observation]:
        """Note the parts of a task."""
        parts = {part: at for at, part in _parts(task)}
        yield Observation(
            task_id=task.id,
            key=task.subtask,
            value=[list(part) for part in parts],
            evidence=tuple(quote(task, at) for at in parts.values()),
        )

    def conclude(self, observations: Sequence[Observation]) -> Iterator[Conclusion]:
        """Yield one hit per task and kind of part that it lacks, with the pattern that is the least accidental."""
        domains: dict[str, list[Observation]] = defaultdict(list)
        for observation in observations:
            domains[observation.key].append(observation)
        for members in domains.values():
            yield from _exceptions(members)


class _Pattern(NamedTuple):
    """All tasks with one part have another, except a few."""

    chance: float
    """Logarithm of the probability that it is an accident."""
    part: Part
    lacking: Part
    kept: int
    """Tasks that keep to it."""
    example: int
    """One of them."""


def _exceptions(members: list[Observation]) -> Iterator[Conclusion]:
    having: dict[Part, set[int]] = defaultdict(set)
    for number, member in enumerate(members):
        for kind, text in member.value:
            having[Part(kind, text)].add(number)
    found: dict[tuple[int, str], _Pattern] = {}
    for part, tasks in having.items():
        for other, others in having.items():
            without = tasks - others
            kept = len(tasks) - len(without)
            if part == other or not without or kept < _FEWEST or len(without) > max(1, _MOST_EXCEPTIONS * len(tasks)):
                continue
            chance = math.log10(len(others) / len(members)) * kept + math.log10(math.comb(len(tasks), len(without)))
            if chance <= math.log10(_BY_CHANCE):
                pattern = _Pattern(chance, part, other, kept, min(tasks & others))
                for number in without:
                    key = (number, other.kind)
                    found[key] = min(pattern, found.get(key, pattern))
    for (number, _), pattern in sorted(found.items()):
        yield Conclusion(task_ids=(members[number].task_id,), hit=_hit(members[number], members, pattern))


def _hit(task: Observation, members: list[Observation], pattern: _Pattern) -> Hit:
    lacking, example = pattern.lacking, members[pattern.example]
    instead = [i for i, (kind, text) in enumerate(task.value) if kind == lacking.kind and _alike(text, lacking.text)]
    has = f", and has {_short(task.value[instead[0]][1])} instead" if instead else ""
    return Hit(
        claim=f"All {pattern.kept} other tasks with the {_CALLED[pattern.part.kind]} {_short(pattern.part.text)} have "
        f"the {_CALLED[lacking.kind]} {_short(lacking.text)}; this one does not{has}.",
        evidence=(
            _cited(task, pattern.part, "what it has"),
            *(task.evidence[i] for i in instead[:1]),
            _cited(example, lacking, "what another such task has"),
        ),
        fix="Do as the other tasks do, or say in the task why it is different.",
        category=_CATEGORIES[lacking.kind],
    )


def _cited(observation: Observation, part: Part, note: str) -> Evidence:
    found: Evidence = observation.evidence[observation.value.index(list(part))]
    return found.model_copy(update={"note": note})


def _alike(text: str, other: str) -> bool:
    """Tell whether two parts are of one function, with other arguments."""
    return text.partition("(")[0] == other.partition("(")[0]


def _short(text: str) -> str:
    return text if len(text) <= 160 else f"{text[:159]}…"


def _parts(task: AgentTask) -> Iterator[tuple[str, Part]]:
    own = task.initial_state
    for key, actions in own.items() if isinstance(own, dict) else ():
        if key.endswith("actions") and isinstance(actions, list | tuple):
            for i, action in enumerate(actions):
                yield join("/initial_state", key, i), Part(START, _written(action))
    for at, call in task.gold_calls():
        yield at, Part(GOLD, f"{call.name}({canonical_json(call.arguments)}) of the {call.requestor}")
    for i, check in enumerate(task.evaluation.checks):
        if check.kind == "state_assertion":
            yield f"/evaluation/checks/{i}/expected", Part(CHECK, _written(check.expected))


def _written(value: Any) -> str:
    """Write an action or an assertion as a call, with what else it says."""
    name = next(
        (value[key] for key in ("func_name", "name", "function") if isinstance(value, dict) and key in value), ""
    )
    rest = {key: item for key, item in value.items() if item != name and key != "message"} if name else value
    arguments = rest.pop("arguments", {}) if name else {}
    return f"{name}({canonical_json(arguments)}) with {canonical_json(rest)}" if name else canonical_json(value)
