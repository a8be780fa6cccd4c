"""Check: one task of a composed suite departs from what all others with the same part do."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from agenthard.audit.detectors.base import Conclusion, Hit, Observation, SuiteDetector
from agenthard.audit.detectors.support.composed_tasks import CHECK, GOLD, NAME, START, TEXT, Part, parts
from agenthard.audit.detectors.support.suite_patterns import Order, Pattern, departures, reversals
from agenthard.audit.evidence import quote
from agenthard.taxonomy.finding import Evidence, Severity, Tier
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

_CATEGORIES = {
    START: "incorrect-tool-call",
    GOLD: "incorrect-tool-call",
    CHECK: "unreachable-score",
    TEXT: "ambiguous-instruction",
    NAME: "ambiguous-instruction",
}
_CALLED = {
    START: "start action",
    GOLD: "gold call",
    CHECK: "state assertion",
    TEXT: "sentence",
    NAME: "word of the id",
}


class BrokenPattern(SuiteDetector):
    """In a suite composed of parts, what goes with a part in all other tasks goes with it in each.

    A composed suite prepares the state of each task by actions: each action sets up one problem, gold calls solve it,
    and assertions look at the result. Looked at are the actions, gold calls and assertions with their arguments, the
    sentences of the user's texts and of the ticket, and the words of the task's id, among the tasks of one domain in
    which each task prepares its state. Rules:

    1. where six tasks or more have part A, and all of them have part B but one (of many tasks six in a hundred at
       most), the one lacks B, and what it has instead is perhaps wrong. Chance would leave a pattern like that in one
       of 100,000 pairs, by how many tasks have B at all; what 30 tasks or more have, and one has not, needs no such
       reason;
    2. the same where A is a start action with an assertion, and B a call that no task without this action has: some
       problems have no solution in some tasks, and the assertion tells which;
    3. where one task alone makes two gold calls in an order, and five or more make them in the other.

    Flagged: all 50 tasks that start with 15.1 GB used refuel 2 GB, and one refuels 3 GB; all tasks that reset the
    settings restart the device, and one does not; one task pays before the bill is sent.
    Not flagged: suites without such actions, whose tasks are written one by one.

    Wrong where one task is meant to be the exception, and nothing else of it shows why; and where the order of two
    calls makes no difference.
    """

    id = "broken-pattern"
    title = "a task departs from what all others with the same part do"
    version = "2"
    category = "incorrect-tool-call"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    why = "The same problem is solved and checked alike everywhere else, so a run that does that fails here."
    experimental = True

    def not_applicable(self, task: AgentTask) -> str | None:
        """Only tasks whose state is prepared by actions can be compared."""
        return None if any(part.kind == START for _, part in parts(task)) else "no action prepares the task's state"

    def observe(self, task: AgentTask, runs: Iterator[Trajectory]) -> Iterator[Observation]:
        """Note the parts of a task."""
        found = {part: at for at, part in parts(task)}
        yield Observation(
            task_id=task.id,
            key=task.subtask,
            value=[list(part) for part in found],
            evidence=tuple(_quoted(task, at, part) for part, at in found.items()),
        )

    def conclude(self, observations: Sequence[Observation]) -> Iterator[Conclusion]:
        """Yield one hit per task and kind of part that it lacks, with the pattern that is the least accidental."""
        domains: dict[str, list[Observation]] = defaultdict(list)
        for observation in observations:
            domains[observation.key].append(observation)
        for members in domains.values():
            yield from _exceptions(members)


def _exceptions(members: list[Observation]) -> Iterator[Conclusion]:
    parts = [[Part(*part) for part in member.value] for member in members]
    for (number, _), pattern in sorted(departures(parts).items()):
        yield Conclusion(task_ids=(members[number].task_id,), hit=_hit(members[number], members, pattern))
    for number, order in reversals(parts):
        yield Conclusion(task_ids=(members[number].task_id,), hit=_reversed(members[number], members, order))


def _hit(task: Observation, members: list[Observation], pattern: Pattern) -> Hit:
    lacking, example = pattern.lacking, members[pattern.example]
    instead = [i for i, (kind, text) in enumerate(task.value) if kind == lacking.kind and _alike(text, lacking.text)]
    has = f", and has {_short(task.value[instead[0]][1])} instead" if instead else ""
    given = " and ".join(f"the {_CALLED[part.kind]} {_short(part.text)}" for part in pattern.given)
    return Hit(
        claim=f"All {pattern.kept} other tasks{' with ' if given else ''}{given} have "
        f"the {_CALLED[lacking.kind]} {_short(lacking.text)}; this one does not{has}.",
        evidence=(
            *(_cited(task, part, "what it has") for part in pattern.given),
            *(task.evidence[i] for i in instead[:1]),
            _cited(example, lacking, "what another such task has"),
        ),
        fix="Do as the other tasks do, or say in the task why it is different.",
        category=_CATEGORIES[lacking.kind],
    )


def _reversed(task: Observation, members: list[Observation], order: Order) -> Hit:
    return Hit(
        claim=f"All {order.kept} other tasks with both make the gold call {_short(order.second.text)} before "
        f"{_short(order.first.text)}; this one makes it after.",
        evidence=(
            _cited(task, order.first, "what it does first"),
            _cited(task, order.second, "what it does later"),
        ),
        fix="Make the calls in the order of the other tasks.",
    )


def _quoted(task: AgentTask, at: str, part: Part) -> Evidence:
    return quote(task, at, text=part.text.partition(": ")[2]) if part.kind == TEXT else quote(task, at)


def _cited(observation: Observation, part: Part, note: str) -> Evidence:
    found: Evidence = observation.evidence[observation.value.index(list(part))]
    return found.model_copy(update={"note": note})


def _alike(text: str, other: str) -> bool:
    """Tell whether two parts are of one function, with other arguments."""
    return "(" in text and text.partition("(")[0] == other.partition("(")[0]


def _short(text: str) -> str:
    return text if len(text) <= 160 else f"{text[:159]}…"
