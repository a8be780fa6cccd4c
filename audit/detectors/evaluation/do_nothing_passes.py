"""Tasks that a run wins by doing nothing."""

from collections.abc import Iterable

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.do_nothing import Outcome, Reading, outcome, why_nothing_changes
from agenthard.audit.evidence import quote
from agenthard.audit.execution.environment import Attempt
from agenthard.audit.proof import wrongly_passes
from agenthard.taxonomy.finding import Evidence, Severity, Tier
from agenthard.taxonomy.task import AgentTask

_SAYS: dict[Reading, tuple[str, str, Severity]] = {
    "hand-over": (
        "the one act of the ground truth, handing the user over, leaves no trace that a check looks for",
        "Score the call that hands the user over.",
        Severity.AFFECTS_SCORE,
    ),
    "figure": (
        "the user wants to be told a figure, and no text is required of the agent",
        "Require the figure among the outputs.",
        Severity.AFFECTS_SCORE,
    ),
    "told not to": (
        "legitimate refusal: the task itself says that the agent does not act",
        "Require that the agent says no, or that it looked the facts up first.",
        Severity.MAY_AFFECT_SCORE,
    ),
    "refusal": (
        "legitimate refusal: the policy restricts what the user asks for",
        "Require that the agent says no, or that it looked the facts up first.",
        Severity.MAY_AFFECT_SCORE,
    ),
    "own condition": (
        "legitimate where the user's own condition rules every change out",
        "Require the figure or the answer on which the user's condition depends.",
        Severity.MAY_AFFECT_SCORE,
    ),
    "fallback": (
        "whether that is right cannot be told: the user names something else to do in case of a refusal",
        "Check whether the fallback is possible; if so, add it to the ground truth.",
        Severity.MAY_AFFECT_SCORE,
    ),
    "unclear": (
        "whether that is right cannot be told from the task's texts",
        "Add a check for what a right run does.",
        Severity.MAY_AFFECT_SCORE,
    ),
}


_LEGITIMATE: frozenset[Reading] = frozenset({"told not to", "refusal", "own condition"})
"""Readings by which doing nothing is the right end: no flaw of the task, but of how the evaluator scores all such."""


class DoNothingPasses(TaskDetector):
    """A run without any call and with an empty reply gets full score.

    It does when every scored check is passed by doing nothing: the final state is reached because no call of the
    ground truth changes it, and no text is required; or when no check is scored at all. The claim then says what the
    task's own texts make of it, by the first of these that holds:

    1. the user is handed over to a human, or wants to be told a figure, and no check looks for that: the task is won
       without doing what it asks, so the score is affected;
    2. a criterion or the stated purpose says that the agent does not act: a legitimate refusal;
    3. the user's own condition, a limit on the price or a change of mind, can rule every change out;
    4. the user names something else to do in case of a refusal: whether nothing is right cannot be told;
    5. the policy restricts what the user asks for: a legitimate refusal, if the ground truth reads the policy rightly.

    In a legitimate refusal (2, 3, 5) the ground truth is not wrong, and the evaluator is too lenient all the same: a
    silent agent passes as one that looked the facts up and explained them. That is how the benchmark scores every
    refusal and no flaw of this one task, so there the finding is a signal.

    Not flagged: tasks that want some text, whose ground truth writes, or whose turns want what the gold calls return.
    Not checked: tasks that expect no call (there doing nothing is the right answer), tasks of whose evaluation nothing
    is known, and tasks scored by assertions, rubrics or judges, which need a run.

    Where the score is affected, the task's evaluator was given a run that does nothing, and passed it; where nothing
    that is available can evaluate one, the finding is suspected.

    The reading of the texts is by phrases and can be wrong; that doing nothing passes is not a matter of reading.
    """

    id = "do-nothing-passes"
    title = "a run that does nothing passes"
    version = "3"
    category = "too-lenient"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.CONFIRMED
    why = "An agent that fails or never answers scores as well as one that handles the request."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why the task cannot be checked, or None."""
        if "expects_no_call" in task.traits:
            return "the task expects no call: doing nothing is the right answer"
        if not task.evaluation.checks:
            return "nothing is known about the evaluation"
        outcomes = _outcomes(task)
        unknown = [reason for result, reason in outcomes if result is Outcome.UNKNOWN]
        if unknown and all(result is not Outcome.FAILS for result, _ in outcomes):
            return unknown[0]
        return None

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield one hit when doing nothing passes every scored check of ``task``."""
        outcomes = _outcomes(task)
        if any(result is not Outcome.PASSES for result, _ in outcomes):
            return
        why = why_nothing_changes(task)
        says, fix, severity = _SAYS[why.reading]
        reasons = ", and ".join(dict.fromkeys(reason for _, reason in outcomes)) or "no check is scored"
        yield Hit(
            claim=f"A run that does nothing passes ({reasons}); {says}",
            evidence=(*why.evidence, *_gold(task, {item.pointer for item in why.evidence})),
            fix=fix,
            severity=severity,
            tier=Tier.SIGNAL if why.reading in _LEGITIMATE else None,
            proof=wrongly_passes(task, Attempt()),
        )


def _gold(task: AgentTask, quoted: set[str]) -> list[Evidence]:
    """Quote the ground truth: its different calls that are not quoted yet, or that there are none."""
    calls = {call.name: pointer for pointer, call in reversed(list(task.gold_calls()))}
    if not calls:
        return [quote(task, "/ground_truth/turns", note="no call")]
    names = [f"{pointer}/name" for pointer in calls.values()]
    return [quote(task, pointer, note="changes nothing") for pointer in sorted(names) if pointer not in quoted]


def _outcomes(task: AgentTask) -> list[tuple[Outcome, str]]:
    return [outcome(task, check) for check in task.evaluation.checks if check.scored]
