"""Runs that do not try, and pass."""

from collections.abc import Iterable
from typing import Any

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.do_nothing import Outcome, outcome
from agenthard.audit.evidence import quote
from agenthard.audit.execution.environment import Attempt, ExecutionError
from agenthard.audit.execution.evaluator_probes import Probe, probes
from agenthard.audit.execution.gold import environment_of, gold_replay, why_not_evaluated, why_not_replayed
from agenthard.audit.proof import wrongly_passes
from agenthard.taxonomy.finding import Evidence, Level, Severity, Tier
from agenthard.taxonomy.task import AgentTask, ToolCall

_FIX = {
    "nothing": "Add a check that only a run which does what the user asks can pass.",
    "refusal": "Add a check that only a run which does what the user asks can pass.",
    "transfer": "Score whether the user was handed over.",
    "everything": "Require the texts in the last reply, or together with what they answer.",
    "echo": "Require a text that the user does not say.",
}


class ProbePasses(TaskDetector):
    """An attempt that does not do the task passes its evaluator.

    These attempts are given to the task's own evaluator: do nothing, refuse politely, hand the user over to a human,
    say every value of the shared database in one reply, and repeat what the user wants. The first of them that passes
    is reported.

    Flagged: a task that wants "12" among the replies and no change of state, where the user says "order 12", so that
    repeating the user passes.
    Not flagged: tasks that are won by doing nothing for a reason that can be read off the files, which
    ``do-nothing-passes`` reports with what the task's texts make of it, and tasks whose gold writes fail
    (``gold-fails``); tasks that expect no call; an attempt that makes the calls of the ground truth, as where handing
    the user over is the right answer. Where calls are compared one by one and nothing else counts, none of
    these attempts can pass, and none is made.

    No agent is likely to say a whole database; the probe shows that the required texts are looked for anywhere, and is
    reported once for all tasks, as something that may affect the score. It is wrong where the user asks for just that.
    """

    id = "probe-passes"
    title = "an attempt that does not try passes"
    version = "3"
    category = "too-lenient"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.CONFIRMED
    deciding = "execution"
    why = "An agent that fails or never tries scores as well as one that handles the request."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why the task cannot be checked, or None."""
        if "expects_no_call" in task.traits:
            return "the task expects no call: doing nothing is the right answer"
        return why_not_evaluated(task)

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield a hit for the first attempt that passes."""
        scored = [check for check in task.evaluation.checks if check.scored]
        if task.ground_truth.call_matching != "state" and all(check.kind == "tool_calls" for check in scored):
            return
        if all(outcome(task, check)[0] is Outcome.PASSES for check in scored) or _gold_fails(task):
            return
        tried = list(probes(task))
        verdicts = environment_of(task).evaluate_many(task, [probe.attempt for probe in tried])
        for probe, verdict in zip(tried, verdicts, strict=True):
            if isinstance(verdict, ExecutionError):
                raise verdict
            if verdict.passed and not does_as_the_gold(task, probe.attempt):
                everything = probe.name == "everything"
                yield Hit(
                    claim=f"An agent that {probe.does} gets full score",
                    evidence=tuple(_evidence(task, probe)),
                    fix=_FIX[probe.name],
                    cause="says every value of the database" if everything else None,
                    severity=Severity.MAY_AFFECT_SCORE if everything else None,
                    proof=None if everything else wrongly_passes(task, probe.attempt),
                    level=Level.EVALUATOR if everything else None,
                )
                return


def does_as_the_gold(task: AgentTask, attempt: Attempt) -> bool:
    """Tell whether an attempt makes the calls of the ground truth; what only reads may be left out.

    Arguments are the same where they are equal, or both prose, such as the reason given with a call.
    """
    made = [call for turn in attempt.turns for call in turn]
    names = {call.name for call in made}
    wanted = [call for _, call in task.gold_calls() if call.name in names or not _only_reads(task, call)]
    return bool(made) and len(made) == len(wanted) and all(map(_same, made, wanted))


def _only_reads(task: AgentTask, call: ToolCall) -> bool:
    tool = task.tool(call.name, call.requestor)
    return tool is not None and tool.effect == "read"


def _same(made: ToolCall, wanted: ToolCall) -> bool:
    if (made.name, made.requestor) != (wanted.name, wanted.requestor):
        return False
    return all(
        value == made.arguments.get(name) or (_is_prose(value) and _is_prose(made.arguments.get(name)))
        for name, value in wanted.arguments.items()
    )


def _is_prose(value: Any) -> bool:
    return isinstance(value, str) and len(value.split()) > 1


def _gold_fails(task: AgentTask) -> bool:
    if why_not_replayed(task) is not None:
        return False
    gold = gold_replay(task)
    return gold.final == gold.initial and any(step.observation.error is not None for step in gold.steps)


def _evidence(task: AgentTask, probe: Probe) -> Iterable[Evidence]:
    for i, check in enumerate(task.evaluation.checks):
        if check.scored:
            yield quote(task, f"/evaluation/checks/{i}", note="passed")
    if probe.name == "echo":
        for pointer, text in task.user_texts():
            yield quote(task, pointer, text=text, note="what is repeated")
