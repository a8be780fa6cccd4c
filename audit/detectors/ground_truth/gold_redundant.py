"""Gold calls that can be left out."""

from collections.abc import Iterable

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.corrections import leave_out
from agenthard.audit.detectors.support.sharing import shared_cause
from agenthard.audit.evidence import quote
from agenthard.audit.execution.gold import environment_of, gold_replay, why_not_evaluated, why_not_replayed
from agenthard.audit.execution.necessity import unneeded_calls
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.task import AgentTask


class GoldRedundant(TaskDetector):
    """A call of the ground truth can be left out: the evaluator still gives full score, and nothing else is lost.

    The ground truth is replayed without the call. It is flagged when the final state is the same, the task's own
    evaluator passes the shorter run, and no later call uses a value that only its response has. Tried are calls that
    change the state (a later call undoes or repeats them) and reads that repeat an earlier read of the same state.
    Nothing is lost by making them, so it is cosmetic.

    Flagged: listing the same folder twice in a row; setting a speed and setting it again at once.
    Not flagged: any other read, since a careful agent looks before it writes; a call that fails or changes nothing
    (``gold-fails``, ``gold-changes-nothing``).

    It is wrong where the user asks for both: to go somewhere and come back.
    """

    id = "gold-redundant"
    title = "a gold call can be left out"
    version = "1"
    category = "redundant-tool-call"
    severity = Severity.COSMETIC
    tier = Tier.SUSPECTED
    executes = True
    why = "A ground truth that does more than is needed misleads those who compare runs with it."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why the ground truth cannot be replayed or judged, or None."""
        return why_not_evaluated(task) or why_not_replayed(task)

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield one hit per call that can be left out; variants of one base task share it."""
        for step in unneeded_calls(environment_of(task), task, gold_replay(task)):
            kind = "and what it changes is changed again later" if step.changed else "it repeats an earlier read"
            yield Hit(
                claim=f"Without the gold call {step.call.name} a run gets full score and the same final state; {kind}",
                evidence=(quote(task, step.pointer, note=f"the response is: {step.observation.text[:300]}"),),
                fix="Leave the call out.",
                patch=leave_out(task, step.pointer),
                cause=shared_cause(task, "left out", step.call.name, step.call.arguments),
            )
