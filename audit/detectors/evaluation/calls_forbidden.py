"""Tasks that want calls and forbid them."""

from collections.abc import Iterable

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.evidence import quote
from agenthard.audit.execution.attempts import gold_attempt
from agenthard.audit.proof import wrongly_fails
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.task import AgentTask

_WANTS_CALLS = ("tool_calls", "final_state")


class CallsForbidden(TaskDetector):
    """One scored check wants the calls of the ground truth, and another forbids every call.

    Flagged: a task whose ground truth lends a book, with a scored check of its final state and a scored check that no
    tool is called. Not flagged: a check that forbids calls next to an empty ground truth, which is a task to refuse; a
    check that is not scored; a ground truth that only reads, where only the final state is compared.

    It is wrong where the evaluator forbids calls in one turn and wants them in another.
    """

    id = "calls-forbidden"
    title = "calls are wanted and forbidden"
    version = "2"
    experimental = True
    category = "unreachable-score"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.CONFIRMED
    why = "No run can make the calls and call nothing, so every run fails."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Only tasks in which calls are forbidden can contradict themselves."""
        return None if any(c.kind == "no_call" and c.scored for c in task.evaluation.checks) else "no call is forbidden"

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield one hit when a scored check wants a call."""
        checks = list(enumerate(task.evaluation.checks))
        forbids = next(index for index, check in checks if check.kind == "no_call" and check.scored)
        wants = next((index for index, check in checks if check.kind in _WANTS_CALLS and check.scored), None)
        if wants is None:
            return
        compared = task.evaluation.checks[wants].kind == "tool_calls"
        for pointer, call in task.gold_calls():
            tool = task.tool(call.name, call.requestor)
            if compared or (tool is not None and tool.effect == "write"):
                yield Hit(
                    claim=f"The ground truth calls {call.name}, and a scored check forbids every call.",
                    evidence=(
                        quote(task, pointer, note="a call that is wanted"),
                        quote(task, f"/evaluation/checks/{wants}", note="the check that wants it"),
                        quote(task, f"/evaluation/checks/{forbids}", note="the check that forbids it"),
                    ),
                    fix="Drop the check that is not meant.",
                    proof=wrongly_fails(task, gold_attempt(task)),
                )
                return
