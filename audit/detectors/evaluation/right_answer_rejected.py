"""Right answers that the evaluator rejects."""

from collections.abc import Iterable

from audit.detectors.base import Hit, TaskDetector
from audit.evidence import quote
from audit.execution.environment import Attempt, ExecutionFailed
from audit.execution.gold import environment_of, replay_command, why_not_mutated
from audit.execution.mutation import Mutant, Truth, mutants
from audit.execution.replay import gold_turns
from taxonomy.finding import Severity, Tier
from taxonomy.task import AgentTask


class RightAnswerRejected(TaskDetector):
    """The evaluator rejects an answer that is as right as the ground truth.

    The ground truth is changed in one place at a time so that it stays right: a number written otherwise (86.0 for 86
    where any number is documented; 481.5 for 481.50 or "ten" for 10 in a reply), an argument left out whose documented
    default is the wanted value, a day or words as the user writes them where no form is documented, calls in another
    order where any order is accepted, a call repeated that changes nothing where further calls are free, a file copied
    and removed instead of moved where a replay leaves the same state. The task's own evaluator judges each. How it
    treats numbers, orders and paths is a matter of the evaluator: all tasks share a finding, which may affect the
    score. The others are flaws of ground truths; tasks that demand the same default share one.

    Flagged: the ground truth demands tickets=1, the documented default is 1, and the user names no number.
    Suspected only: the same where the user names the number, since a maintainer may want it said; a day as the user
    writes it, where the ground truth accepts no day in words; a number in words.
    Not flagged: tasks whose evaluator rejects the ground truth itself (``gold-rejected``).

    It is wrong where the implementation has another default than the documentation says.
    """

    id = "right-answer-rejected"
    title = "the evaluator rejects a right answer"
    version = "1"
    category = "too-strict"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.CONFIRMED
    why = "A right run fails."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why the task cannot be checked, or None."""
        return why_not_mutated(task)

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield the first rejected mutant of each cause."""
        tried = [mutant for mutant in mutants(task) if mutant.truth is Truth.EQUIVALENT]
        if not tried:
            return
        gold = Attempt(turns=gold_turns(task), replies=task.ground_truth.outputs)
        verdicts = environment_of(task).evaluate_many(task, [gold, *(mutant.attempt for mutant in tried)])
        for verdict in verdicts:
            if isinstance(verdict, ExecutionFailed):
                raise verdict
        passed = [not isinstance(verdict, ExecutionFailed) and verdict.passed for verdict in verdicts]
        if not passed[0]:
            return
        seen: set[str] = set()
        for mutant, right in zip(tried, passed[1:], strict=True):
            key = mutant.pointer if mutant.shared == "task" else _cause(mutant)
            if not right and key not in seen:
                seen.add(key)
                yield self._hit(task, mutant)

    def _hit(self, task: AgentTask, mutant: Mutant) -> Hit:
        what = "reply" if mutant.field == "reply" else f"value of {mutant.field}"
        return Hit(
            claim=f"The evaluator rejects a right {what} ({mutant.change}): {mutant.why}",
            evidence=(quote(task, mutant.pointer, note=f"rejected: {mutant.change}"),),
            command=replay_command(task, mutant.id),
            fix="Accept both, or compare values instead of how they are written.",
            cause=None if mutant.shared == "task" else _cause(mutant),
            severity=Severity.MAY_AFFECT_SCORE if mutant.shared == "operator" else None,
            tier=None if mutant.certain else Tier.SUSPECTED,
        )


def _cause(mutant: Mutant) -> str:
    what = f"{mutant.operator} {mutant.field}" if mutant.shared == "field" else mutant.operator
    return what if mutant.certain else f"{what}, uncertain"
