"""Gold calls whose order decides the score."""

from collections.abc import Iterable

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.sharing import shared_cause
from agenthard.audit.evidence import quote
from agenthard.audit.execution.gold import environment_of, gold_replay, why_not_replayed
from agenthard.audit.execution.necessity import order_dependent_calls
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.task import AgentTask


class GoldOrder(TaskDetector):
    """Two neighbouring gold calls both change the state, can be made in either order, and end in different states.

    The ground truth is replayed with each such pair of one turn exchanged. If no call fails that did not fail before,
    and the final state is another one, a run that makes the same calls in the other order fails.

    Flagged: two bookings whose numbers are given out in order.
    Not flagged: a file that is made and then written to, because the other order fails.

    Whether the user's words give the order is not read, and mostly they do (go to a folder, then make a file), so this
    is only a signal to look.
    """

    id = "gold-order"
    title = "the order of two gold calls decides the final state"
    version = "1"
    category = "too-strict"
    severity = Severity.MAY_AFFECT_SCORE
    tier = Tier.SIGNAL
    executes = True
    why = "Where the user gives no order, a right run fails."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why the ground truth cannot be replayed, or None."""
        return why_not_replayed(task)

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield one hit per pair; variants of one base task share it."""
        for one, two in order_dependent_calls(environment_of(task), task, gold_replay(task)):
            yield Hit(
                claim=f"The final state is another one when {two.call.name} precedes {one.call.name}",
                evidence=(quote(task, one.pointer), quote(task, two.pointer)),
                fix="Compare states without what depends on the order, or let the user say the order.",
                cause=shared_cause(task, "order", one.call.name, one.call.arguments, two.call.name, two.call.arguments),
            )
