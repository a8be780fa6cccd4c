"""Check: two numbers of gold calls are not related as they are in all other tasks."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations

from agenthard.audit.detectors.base import Conclusion, Hit, Observation, SuiteDetector
from agenthard.audit.detectors.support.gold_values import name_words
from agenthard.audit.detectors.support.named_calls import Made, made_calls
from agenthard.audit.evidence import quote
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

_FEWEST_EQUAL, _FEWEST_IN_ORDER = 4, 6
"""Other pairs of numbers that keep to the relation; less or more is an accident sooner than equal."""
_WORDS = {"<": "is less than", "=": "equals", ">": "is more than"}


class UnevenCalls(SuiteDetector):
    """Numbers of gold calls are related as in all other calls of the same tools.

    Looked at are two numbers of one call whose parameters share a word (expected and actual rate), and the numbers of
    two calls of different tools that name the same record; a call whose arguments are the name and the arguments of
    another tool is looked at as that one. Rule: where two parameters are equal in four pairs or more of the same
    domain, or one is less than the other in six or more, and one pair alone is not, that one is wrong. Of two calls
    only the relation "equal" counts.

    Flagged: a credit of 30.00, and a report of the same account with a difference of 33.00, where credit and difference
    are equal everywhere else. An expected rate below the actual one, where it is above everywhere else.
    Not flagged: numbers that are related now so, now so.

    Wrong where one task is meant to be the exception.
    """

    id = "uneven-calls"
    title = "two numbers of gold calls are not related as everywhere else"
    version = "1"
    category = "incorrect-tool-call"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    why = "One of the two numbers is wrong, so a run with the right one fails."
    experimental = True

    def not_applicable(self, task: AgentTask) -> str | None:
        """Only ground truths with two numbers can be compared."""
        return None if any(_pairs(task)) else "no two numbers of gold calls are about one thing"

    def observe(self, task: AgentTask, runs: Iterator[Trajectory]) -> Iterator[Observation]:
        """Note how the numbers are related."""
        for one, name, other, member in _pairs(task):
            first, second = one.numbers()[name], other.numbers()[member]
            relation = "=" if first == second else "<" if first < second else ">"
            yield Observation(
                task_id=task.id,
                key=f"{task.subtask} {one.name} {name} {other.name} {member}",
                value=[relation, name, first, member, second, one.name == other.name],
                evidence=tuple(quote(task, at, note="the gold call") for at in dict.fromkeys((one.at, other.at))),
            )

    def conclude(self, observations: Sequence[Observation]) -> Iterator[Conclusion]:
        """Yield one hit per pair that is alone with its relation."""
        kinds: dict[str, list[Observation]] = defaultdict(list)
        for observation in observations:
            kinds[observation.key].append(observation)
        for members in kinds.values():
            for relation in _WORDS:
                kept = [each for each in members if each.value[0] == relation]
                others = [each for each in members if each.value[0] != relation]
                fewest = _FEWEST_EQUAL if relation == "=" else _FEWEST_IN_ORDER
                counts = relation == "=" or all(each.value[5] for each in members)
                if len(others) == 1 and len(kept) >= fewest and counts:
                    yield Conclusion(task_ids=(others[0].task_id,), hit=_hit(others[0], kept))


def _hit(odd: Observation, kept: list[Observation]) -> Hit:
    _, name, first, member, second, _ = odd.value
    return Hit(
        claim=f"{name} {first:g} and {member} {second:g}: in all {len(kept)} other pairs of these calls, {name} "
        f"{_WORDS[kept[0].value[0]]} {member}.",
        evidence=odd.evidence,
        fix="Correct the number that is wrong.",
    )


def _pairs(task: AgentTask) -> Iterator[tuple[Made, str, Made, str]]:
    """Yield the numbers that are about one thing: of one call, or of two calls that name the same record."""
    calls = [call for call in made_calls(task) if call.numbers()]
    for call in calls:
        for name, member in combinations(sorted(call.numbers()), 2):
            if set(name_words(name)) & set(name_words(member)):
                yield call, name, call, member
    for one, other in combinations(calls, 2):
        if one.name != other.name and one.identifiers().items() & other.identifiers().items():
            for name in one.numbers():
                for member in other.numbers():
                    yield one, name, other, member
