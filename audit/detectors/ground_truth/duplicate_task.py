"""Check: the same task twice."""

from collections.abc import Iterator, Sequence

from agenthard.audit.detectors.base import Conclusion, Hit, Observation, SuiteDetector
from agenthard.audit.detectors.support.conflicts import MOST_NAMED, conflict, named
from agenthard.audit.detectors.support.same_task import (
    COMPARED,
    contradicts,
    group_cause,
    groups,
    near_groups,
    observe_task,
    setting_and_gold,
    slip_groups,
)
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory


class DuplicateTask(SuiteDetector):
    """No two tasks of a benchmark are the same: equal words of the user, equal tools, policy and state.

    Words are compared without regard to white space, tools without regard to their order. Same tasks whose ground
    truths exclude each other are left to the check conflicting-gold. Two tasks are also the same when their tools,
    policy, state and ground truth are equal and their words differ in nothing that says what is wanted: greetings,
    thanks and courtesy, case, punctuation, articles, pronouns and auxiliaries; or, where the ground truth wants
    something, in up to three slips of the keyboard: a letter lost, doubled or put in, or two exchanged, in words in
    small letters. Such findings are suspected, not confirmed; so are those about tasks of which nothing but the words
    is known, which may begin on different files.

    Flagged: two tasks that ask "What's the weather in Boston?" with the same weather tool; one of which asks "Hi! What
    is the weather in Boston, please?" or "What's the wether in Boston?", with the same ground truth.

    Not flagged: equal words with different tools or another initial state, which are different tasks; variants of one
    base task in different files (a longer context, a withheld tool), which are alike by design; "from Boston to Rome"
    and "to Boston from Rome"; "a hotel" and "a motel"; "for Ana" and "for Anna"; "one week" and "one weeks".

    The check is wrong where a benchmark repeats tasks on purpose and says so, such as to try slips; it counts them once
    then.
    """

    id = "duplicate-task"
    title = "The same task more than once"
    version = "6"
    category = "duplicate-or-conflicting-task"
    severity = Severity.MAY_AFFECT_SCORE
    tier = Tier.CONFIRMED
    why = "Where nothing else tells them apart, a task counts more than once, and the sample is smaller than it looks."

    def not_applicable(self, task: AgentTask) -> str | None:
        """A task without a word of the user cannot be compared."""
        return None if next(task.user_texts(), None) else "the user says nothing"

    def observe(self, task: AgentTask, runs: Iterator[Trajectory]) -> Iterator[Observation]:
        """Note what makes the task."""
        return iter(observe_task(task))

    def shared_keys(self, observation: Observation) -> tuple[str, ...]:
        """Compared are same tasks, and tasks of one setting with one ground truth."""
        return observation.key, setting_and_gold(observation)

    def conclude(self, observations: Sequence[Observation]) -> Iterator[Conclusion]:
        """Yield one hit per group of same tasks."""
        for members in groups(observations):
            if conflict(members, contradicts, *COMPARED):
                continue
            ids = tuple(member.task_id for member in members)
            words_only = all(member.value["words_only"] for member in members)
            equal = (
                "have equal words, and no file read here tells them apart."
                if words_only
                else "are the same task: equal words, tools, policy and state."
            )
            yield Conclusion(
                task_ids=ids,
                hit=Hit(
                    claim=f"{named(ids)} {equal}",
                    tier=Tier.SUSPECTED if words_only else None,
                    evidence=tuple(member.evidence[0] for member in members[:MOST_NAMED]),
                    fix="State in the texts what differs, such as the files that they begin on, or drop all but one."
                    if words_only
                    else f"Keep {ids[0]} and drop the others, or change what they ask.",
                    cause=group_cause("same task", members),
                    measures={"copies": float(len(ids))},
                ),
            )
        for members in near_groups(observations):
            ids = tuple(member.task_id for member in members)
            yield Conclusion(
                task_ids=ids,
                hit=Hit(
                    claim=f"{named(ids)} are the same task: their words differ in courtesy or joining words only.",
                    evidence=tuple(member.evidence[0] for member in members[:MOST_NAMED]),
                    fix=f"Keep {ids[0]} and drop the others, or change what they ask.",
                    cause=group_cause("same task but for courtesy", members),
                    tier=Tier.SUSPECTED,
                    measures={"copies": float(len(ids))},
                ),
            )
        for members, slips in slip_groups(observations):
            ids = tuple(member.task_id for member in members)
            words = ", ".join(f"{left!r} and {right!r}" for left, right in slips)
            yield Conclusion(
                task_ids=ids,
                hit=Hit(
                    claim=f"{named(ids)} are the same task: their words differ in slips of the keyboard ({words}).",
                    evidence=tuple(member.evidence[0] for member in members),
                    fix=f"Keep {ids[0]} and drop the other, or change what it asks.",
                    cause=group_cause("same task but for slips", members),
                    tier=Tier.SUSPECTED,
                    measures={"copies": float(len(ids))},
                ),
            )
