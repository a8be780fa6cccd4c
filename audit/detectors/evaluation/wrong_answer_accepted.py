"""Wrong answers that the evaluator accepts."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from audit.detectors.base import Conclusion, Hit, Observation, SuiteDetector, Undecided
from audit.evidence import quote
from audit.execution.environment import ExecutionFailed
from audit.execution.gold import environment_of, replay_command, why_not_mutated
from audit.execution.mutation import Mutant, Truth, mutants
from taxonomy.finding import Severity, Tier
from taxonomy.task import AgentTask
from taxonomy.trajectory import Trajectory


class WrongAnswerAccepted(SuiteDetector):
    """The evaluator accepts an answer that is wrong in one place.

    The ground truth is changed in one place at a time so that it is certainly wrong: another documented choice, another
    number or day (next to it and far off), another entity of the database, a call left out, a decimal point, a sign or
    a slash lost, a power made a product, a value left out that the user states and that is not the default. The task's
    own evaluator judges each.

    * Where calls are compared, an accepted mutant is a flaw by itself. Tasks in which the same kind of change passes
      share a finding, since it is the evaluator that cannot see it.
    * Where states are compared, a value may make no difference in one task and much in another. Flagged is only an
      argument every mutant of which passes, in all tasks that use it and in at least two that are not variants of one
      another: the evaluator never looks at it.

    Flagged: "3x*2" for "3x**2", where the evaluator removes asterisks before it compares.
    Not flagged: an accepted mutant that the ground truth lists among its values; changed reads where reads are free.

    It is wrong where two choices of the documentation, or two entities, do the same.
    """

    id = "wrong-answer-accepted"
    title = "the evaluator accepts a wrong answer"
    version = "1"
    category = "too-lenient"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.CONFIRMED
    why = "A wrong run passes."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why the task cannot be checked, or None."""
        return why_not_mutated(task)

    def observe(self, task: AgentTask, runs: Iterator[Trajectory]) -> Iterable[Observation]:
        """Note accepted mutants, and for each argument how many were accepted and rejected."""
        tried = [mutant for mutant in mutants(task) if mutant.truth is Truth.WRONG]
        verdicts = environment_of(task).evaluate_many(task, [mutant.attempt for mutant in tried])
        passed: Counter[str] = Counter()
        rejected: Counter[str] = Counter()
        first: dict[str, Mutant] = {}
        for mutant, verdict in zip(tried, verdicts, strict=True):
            if isinstance(verdict, ExecutionFailed):
                raise verdict
            key = _key(task, mutant)
            if verdict.passed:
                first.setdefault(key, mutant)
            (passed if verdict.passed else rejected)[key] += 1
        for key in sorted({*passed, *rejected}):
            if key in first or key.startswith("argument "):
                yield _note(task, key, passed[key], rejected[key], first.get(key))

    def conclude(self, observations: Sequence[Observation]) -> Iterable[Conclusion | Undecided]:
        """Yield a conclusion per kind of change, per task, and per argument that is never looked at."""
        grouped: dict[str, list[Observation]] = {}
        for each in observations:
            grouped.setdefault(each.key, []).append(each)
        for key in sorted(grouped):
            notes = grouped[key]
            of_argument = key.startswith("argument ")
            clusters = {note.value["cluster"] for note in notes}
            if of_argument and (any(note.value["rejected"] for note in notes) or len(clusters) < 2):
                continue
            value, tasks = notes[0].value, tuple(note.task_id for note in notes)
            if of_argument:
                argument = key.removeprefix("argument ")
                claim = f"In no task that sets {argument} does another value change the verdict ({value['change']})"
            else:
                claim = f"The evaluator accepts a wrong value of {value['field']} ({value['change']}): {value['why']}"
            hit = Hit(
                claim=claim,
                evidence=notes[0].evidence,
                command=value["command"],
                fix="Compare what carries the meaning.",
                cause=None if key.startswith("task ") else key,
                severity=None if key.startswith("task ") else Severity.MAY_AFFECT_SCORE,
                measures={"mutants": float(sum(n.value["passed"] for n in notes)), "tasks": float(len(tasks))},
            )
            yield Conclusion(task_ids=tasks, hit=hit)


def _key(task: AgentTask, mutant: Mutant) -> str:
    if mutant.shared == "field":
        return f"argument {mutant.field}"
    return f"change {mutant.operator}" if mutant.shared == "operator" else f"task {task.id} {mutant.id}"


def _note(task: AgentTask, key: str, passed: int, rejected: int, mutant: Mutant | None) -> Observation:
    value: dict[str, object] = {"passed": passed, "rejected": rejected, "cluster": task.cluster or task.id}
    if mutant is None:
        return Observation(task_id=task.id, key=key, value=value)
    value |= {
        "field": mutant.field,
        "change": mutant.change,
        "why": mutant.why,
        "command": replay_command(task, mutant.id),
    }
    evidence = quote(task, mutant.pointer, note=f"accepted as well: {mutant.change}")
    return Observation(task_id=task.id, key=key, value=value, evidence=(evidence,))
