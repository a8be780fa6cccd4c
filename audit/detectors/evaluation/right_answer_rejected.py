"""Right answers that the evaluator rejects."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from agenthard.audit.detectors.base import Conclusion, Hit, Observation, SuiteDetector, Undecided
from agenthard.audit.detectors.support.sharing import ANSWERS, ANSWERS_WRONG, RUNS, RUNS_DECIDED, shared_cause
from agenthard.audit.evidence import quote
from agenthard.audit.execution.counterfactual import CORRECTIONS, decided_runs
from agenthard.audit.execution.environment import Attempt, ExecutionError
from agenthard.audit.execution.gold import environment_of, replay_command, why_not_mutated
from agenthard.audit.execution.mutation import Mutant, Truth, mutants, other_side
from agenthard.audit.execution.mutation.mutants import DEFAULT_SPELLED_OUT
from agenthard.audit.execution.replay import gold_turns
from agenthard.audit.proof import wrongly_fails
from agenthard.taxonomy.finding import Level, Severity, Tier
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

_ROOTS = {
    "number-without-last-zero": "numbers in replies are compared as texts",
    "number-with-cents": "numbers in replies are compared as texts",
}
"""Operators of one root, which is one cause."""


class RightAnswerRejected(SuiteDetector):
    """The evaluator rejects an answer that is as right as the ground truth.

    The ground truth is changed in one place at a time so that it stays right: a number written otherwise (86.0 for 86
    where any number is documented; 481.5 for 481.50 or "ten" for 10 in a reply), an argument left out whose documented
    default is the wanted value, the documented default spelled out for an argument that the ground truth leaves out, a
    day or words as the user writes them where no form is documented, calls in another order where any order is
    accepted, a call repeated that changes nothing where further calls are free, a file copied and removed instead of
    moved where a replay leaves the same state. The task's own evaluator judges each. How it treats numbers, orders and
    paths is a matter of the evaluator: all tasks share a finding, which may affect the
    score, as does a default that is spelled out. The others are flaws of ground truths; tasks that demand the same
    default share one.

    Where runs were given, such a cause decides the score of a task if a run failed that passes once its numbers are
    written as the evaluator wants them, all else being equal.

    Flagged: the ground truth demands tickets=1, the documented default is 1, and the user names no number.
    Suspected only: the same where the user names the number, since a maintainer may want it said; a day as the user
    writes it, where the ground truth accepts no day in words; a number in words.
    Not flagged: tasks whose evaluator rejects the ground truth itself (``gold-rejected``).

    It is wrong where the implementation has another default than the documentation says.
    """

    id = "right-answer-rejected"
    title = "the evaluator rejects a right answer"
    version = "3"
    category = "too-strict"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.CONFIRMED
    deciding = "execution"
    uses_runs = True
    why = "A right run fails."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why the task cannot be checked, or None."""
        return why_not_mutated(task)

    def observe(self, task: AgentTask, runs: Iterator[Trajectory]) -> Iterable[Observation]:
        """Note the first rejected mutant of each cause, and what the cause did to recorded runs."""
        recorded = list(runs)
        for mutant, hit in self._rejected(task):
            counted = (
                decided_runs(task, recorded, CORRECTIONS[mutant.operator]) if mutant.operator in CORRECTIONS else None
            )
            if counted is not None and counted[0]:
                number, decided = counted
                measures = hit.measures | {RUNS: float(number), RUNS_DECIDED: float(decided)}
                hit = hit.model_copy(update={"decides": (task.id,) if decided else (), "measures": measures})
            value = hit.model_dump(mode="json")
            proof = wrongly_fails(task, mutant.attempt)
            key = hit.cause or ""
            yield Observation(task_id=task.id, key=key, value=value, evidence=hit.evidence, proofs=(proof,))

    def conclude(self, observations: Sequence[Observation]) -> Iterable[Conclusion | Undecided]:
        """Yield what was observed; hits of one cause are merged afterwards."""
        for item in observations:
            hit = Hit.model_validate(item.value).model_copy(update={"proof": next(iter(item.proofs), None)})
            yield Conclusion(task_ids=(item.task_id,), hit=hit)

    def _rejected(self, task: AgentTask) -> Iterator[tuple[Mutant, Hit]]:
        tried = [mutant for mutant in mutants(task) if mutant.truth is Truth.EQUIVALENT]
        if not tried:
            return
        gold = Attempt(turns=gold_turns(task), replies=task.ground_truth.outputs)
        verdicts = environment_of(task).evaluate_many(task, [gold, *(mutant.attempt for mutant in tried)])
        for verdict in verdicts:
            if isinstance(verdict, ExecutionError):
                raise verdict
        passed = [not isinstance(verdict, ExecutionError) and verdict.passed for verdict in verdicts]
        if not passed[0]:
            return
        judged = [(mutant, _key(mutant), right) for mutant, right in zip(tried, passed[1:], strict=True)]
        number = Counter(key for _, key, _ in judged)
        wrong = Counter(key for _, key, right in judged if not right)
        seen: set[str] = set()
        for mutant, key, right in judged:
            if not right and key not in seen:
                seen.add(key)
                yield mutant, self._hit(task, mutant, number[key], wrong[key])

    def _hit(self, task: AgentTask, mutant: Mutant, number: int, wrong: int) -> Hit:
        spelled_out = mutant.operator == DEFAULT_SPELLED_OUT  # few runs do so
        what = "reply" if mutant.field == "reply" else f"value of {mutant.field}"
        return Hit(
            claim=f"The evaluator rejects a right {what} ({mutant.change}): {mutant.why}",
            evidence=(quote(task, mutant.pointer, note=f"rejected: {mutant.change}"), *other_side(task, mutant)),
            fix="Accept both, or compare values instead of how they are written.",
            cause=shared_cause(task, mutant.operator, mutant.field) if mutant.shared == "task" else _cause(mutant),
            severity=Severity.MAY_AFFECT_SCORE if mutant.shared == "operator" or spelled_out else None,
            tier=None if mutant.certain else Tier.SUSPECTED,
            level=_LEVELS[mutant.shared],
            command=replay_command(task, mutant.id),
            measures={ANSWERS: float(number), ANSWERS_WRONG: float(wrong)},
        )


_LEVELS = {"operator": Level.EVALUATOR, "field": Level.TASK, "task": Level.TASK}
"""How an evaluator treats numbers, orders and paths is its own; a value that a ground truth demands is the task's."""


def _key(mutant: Mutant) -> str:
    return mutant.pointer if mutant.shared == "task" else _cause(mutant)


def _cause(mutant: Mutant) -> str:
    operator = _ROOTS.get(mutant.operator, mutant.operator)
    what = f"{operator} {mutant.field}" if mutant.shared == "field" else operator
    return what if mutant.certain else f"{what}, uncertain"
