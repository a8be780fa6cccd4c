"""Ground truths that their own evaluator rejects."""

from collections.abc import Iterable
from itertools import islice, product

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.evidence import quote
from agenthard.audit.execution.environment import Attempt, ExecutionError, Verdict
from agenthard.audit.execution.gold import MILESTONES, environment_of, why_not_evaluated
from agenthard.audit.proof import wrongly_fails
from agenthard.taxonomy.accepted import concrete_values
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.task import AgentTask, ToolCall

_MOST = 64
_AS_SOURCE = ("java", "javascript")


def _passes(verdict: Verdict | ExecutionError) -> bool:
    return not isinstance(verdict, ExecutionError) and verdict.passed


class GoldRejected(TaskDetector):
    """The task's own evaluator rejects the task's own ground truth.

    A run that makes the gold calls, turn by turn, and says the required texts is given to the evaluator. Where a ground
    truth accepts several values, up to 64 combinations are tried, the first values first; it is flagged only when none
    of them passes.

    Flagged: an answer that gives text for a parameter documented as a number, where the evaluator compares types first.
    Not flagged: a ground truth of which one combination of accepted values passes; tasks that accept any call.

    It is wrong where the answer is more than calls and required texts, and where our reading of the ground truth lost
    something that the evaluator needs.
    """

    id = "gold-rejected"
    title = "the evaluator rejects the ground truth"
    version = "2"
    category = "unreachable-score"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.CONFIRMED
    deciding = "execution"
    why = "A run that does exactly what the ground truth says fails."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why nothing can be judged, or None."""
        if "expects_no_call" in task.traits:
            return "the ground truth is to call nothing, which is all that the evaluator looks at"
        if "expects_any_call" in task.traits:
            return "any call is accepted, and the ground truth names none"
        if task.ground_truth.semantics == "milestones":
            return MILESTONES
        return why_not_evaluated(task)

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield one hit when no reading of the ground truth passes."""
        environment, attempts = environment_of(task), _attempts(task)
        first = environment.evaluate(task, attempts[0])
        if first.passed or any(_passes(verdict) for verdict in environment.evaluate_many(task, attempts[1:])):
            return
        yield Hit(
            claim=f"The evaluator rejects the ground truth: {first.reason or _failed(first.parts)}",
            evidence=(quote(task, "/ground_truth/turns", note=f"{len(attempts)} combinations of values were tried"),),
            fix="Fix the ground truth, or the check that rejects it.",
            proof=wrongly_fails(task, attempts[0]),
            tier=Tier.SUSPECTED if any(tool.language in _AS_SOURCE for tool in task.environment.tools) else None,
        )


def _attempts(task: AgentTask) -> list[Attempt]:
    turns = task.ground_truth.turns
    calls = [call for turn in turns for call in turn]
    attempts = []
    for combination in islice(product(*(_readings(call) for call in calls)), _MOST):
        left = iter(combination)
        chosen = tuple(tuple(next(left) for _ in turn) for turn in turns)
        attempts.append(Attempt(turns=chosen, replies=task.ground_truth.outputs))
    return attempts


def _readings(call: ToolCall) -> list[ToolCall]:
    """Return the call with each combination of accepted values; an argument that accepts none is left out."""
    possible = {name: value for name, value in call.arguments.items() if concrete_values(value, 1)}
    values = concrete_values(possible, _MOST)
    return [call.model_copy(update={"arguments": each}) for each in values]


def _failed(parts: dict[str, bool]) -> str:
    return ", ".join(name for name, passed in parts.items() if not passed)
