"""Gold calls that are to change something and do not."""

from collections.abc import Iterable

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.corrections import leave_out
from agenthard.audit.evidence import canonical_json, quote
from agenthard.audit.execution.attempts import attempt_of
from agenthard.audit.execution.gold import gold_replay, why_not_replayed
from agenthard.audit.proof import wrongly_passes
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.task import AgentTask


class GoldChangesNothing(TaskDetector):
    """A call of the ground truth that is documented as a write succeeds and leaves the state as it was.

    The ground truth is replayed from the task's initial state. Such a call can be left out of a run without any
    difference; it is cosmetic. When in the end nothing at all has changed, although no call failed, a run that calls
    nothing and says the required texts reaches the final state. Where the evaluator passes it, the score is affected.

    Flagged: setting a user's address to the address that the profile has already.
    Not flagged: tools whose documentation does not say that they write, calls that fail (``gold-fails`` reports them),
    and calls without parameters.

    It is wrong where a call has an effect outside the state, such as a message that is sent.
    """

    id = "gold-changes-nothing"
    title = "a gold write changes nothing"
    version = "2"
    category = "redundant-tool-call"
    severity = Severity.COSMETIC
    tier = Tier.CONFIRMED
    executes = True
    why = "The task states a change that changes nothing, so whether an agent makes it cannot be seen."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why the ground truth cannot be replayed, or None."""
        return why_not_replayed(task)

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield one hit per write without effect; the same call in several tasks is one finding."""
        gold = gold_replay(task)
        failed = any(step.observation.error is not None for step in gold.steps)
        in_vain = gold.final == gold.initial and not failed
        for step in gold.steps:
            tool = task.tool(step.call.name, step.call.requestor)
            if tool is None or tool.effect != "write" or step.observation.error is not None or step.changed:
                continue
            if not step.call.arguments:
                continue
            so = ", and in the end nothing has changed at all" if in_vain else ""
            yield Hit(
                claim=f"The gold call {step.call.name} leaves the state as it was{so}",
                evidence=(quote(task, step.pointer, note=f"the response is: {step.observation.text[:300]}"),),
                fix="Leave the call out, or change the initial state so that it does something.",
                cause=f"{step.call.name} {canonical_json(step.call.arguments)}",
                severity=Severity.AFFECTS_SCORE if in_vain else None,
                proof=wrongly_passes(task, attempt_of(task, ())) if in_vain else None,
                patch=() if in_vain else leave_out(task, step.pointer),
            )
