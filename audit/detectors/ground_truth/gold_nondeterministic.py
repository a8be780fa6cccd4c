"""Ground truths that come out differently when they are replayed twice."""

from collections.abc import Iterable

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.evidence import quote
from agenthard.audit.execution.attempts import gold_attempt
from agenthard.audit.execution.gold import environment_of, gold_replay, why_not_replayed
from agenthard.audit.execution.replay import gold_turns, replay
from agenthard.audit.proof import wrongly_fails
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.task import AgentTask


class GoldNondeterministic(TaskDetector):
    """The ground truth, replayed twice from the same initial state, gives other responses or another state.

    What is left of the first replay is released before the second, so that a benchmark that runs in a process of its
    own starts in a new one. The first call that differs is reported.

    Flagged: a booking whose id is drawn at random, without a seed.
    Not flagged: random draws that a seed in the task or the environment makes the same every time.

    Confirmed where the evaluator rejects the ground truth, which then differs from itself; else suspected.

    It misses what varies from machine to machine or from day to day, because both replays are made on one machine
    within seconds. It is wrong where the evaluator leaves out the part of the state that differs.
    """

    id = "gold-nondeterministic"
    title = "two replays of the ground truth differ"
    version = "2"
    experimental = True
    category = "environment-drift"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.CONFIRMED
    executes = True
    why = "A right run is compared with a state or a response that no run can know beforehand."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why the ground truth cannot be replayed, or None."""
        return why_not_replayed(task)

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield a hit at the first call that differs."""
        first = gold_replay(task)
        environment = environment_of(task)
        environment.close()
        second = replay(environment, task, gold_turns(task))
        if first.initial != second.initial:
            yield Hit(
                claim="The initial state is another one each time",
                evidence=(quote(task, "/id"),),
                fix="Give the environment a seed.",
                proof=wrongly_fails(task, gold_attempt(task)),
            )
            return
        for one, two in zip(first.steps, second.steps, strict=True):
            if (one.observation, one.after) != (two.observation, two.after):
                what = "response" if one.observation != two.observation else "state"
                yield Hit(
                    claim=f"Replayed twice, the gold call {one.call.name} gives another {what} each time",
                    evidence=(quote(task, one.pointer, note=f"once: {one.observation.text[:300]}"),),
                    fix="Give the environment a seed.",
                    proof=wrongly_fails(task, gold_attempt(task)),
                    cause=f"{one.call.name} {what}",
                )
                return
