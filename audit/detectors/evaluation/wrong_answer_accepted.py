"""Wrong answers that the evaluator accepts."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from agenthard.audit.detectors.base import Conclusion, Hit, Observation, SuiteDetector, Undecided
from agenthard.audit.detectors.support.sharing import ANSWERS, ANSWERS_WRONG, RUNS, RUNS_DECIDED
from agenthard.audit.evidence import canonical_json, quote
from agenthard.audit.execution.environment import ExecutionError
from agenthard.audit.execution.gold import environment_of, replay_command, why_not_mutated
from agenthard.audit.execution.mutation import (
    Mutant,
    RootCause,
    Trial,
    Truth,
    ValueClass,
    find_root_causes,
    mutants,
    other_side,
)
from agenthard.audit.execution.mutation.root_causes import wrong_values
from agenthard.audit.proof import wrongly_passes
from agenthard.taxonomy.finding import Level, Severity, Tier
from agenthard.taxonomy.pointer import split
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

EXAMPLES = 3
"""Worst examples that a finding quotes."""
_WORST = ("other-choice", "far-above", "far-below", "other-entity", "far-day")
"""Kinds of change that cannot be slips come first among the examples."""
_RUNS = "recorded runs"
_CALL = 4
"""Parts of a pointer to a gold call."""
_TOOL_NAME = re.compile(r"(?:^|_)(?:tool|function|api|action|method|command)(?:_?name)?$|(?:tool|function|method)Name$")
"""Arguments in which a call says which other tool it calls."""


class WrongAnswerAccepted(SuiteDetector):
    """The evaluator accepts an answer that is wrong in one place.

    The ground truth is changed in one place at a time so that it is certainly wrong: another documented choice, another
    number or day (next to it and far off), another entity of the database, a call left out that is made once only,
    a decimal point, a sign or a slash lost, a power made a product, a value left out that the user states and that is
    not the default. The task's own evaluator judges each.

    * Where calls are compared, an accepted mutant is a flaw of the evaluator. What it cannot see is looked for first,
      in general words: every wrong value has a class by the type of the right value, by its place (the argument itself,
      inside an object, inside a list) and by how it relates to the right one (contains it, is contained in it, differs
      in punctuation). A class that passes nearly always (95 %), in three tasks or more, is a root cause: "no integer or
      boolean argument is ever compared". All that it covers is one finding, whichever operators made it. What is left
      over is one finding per type of value and domain; for calls left out, per tool.
    * Where states are compared, a value may make no difference in one task and much in another. Flagged is only an
      argument every mutant of which passes, in all tasks of a domain that use it and in at least two that are not
      variants of one another: the evaluator never looks at it. An argument of a call that passes on a call of another
      tool ("call_tool", with the name of the tool as an argument) is one for each of those tools.

    Where runs were given, a root cause decides the score of a task if a run passed whose calls differ from the ground
    truth in nothing but values that the root covers.

    Flagged: "3x*2" for "3x**2", where the evaluator removes asterisks before it compares.
    Not flagged: an accepted mutant that the ground truth lists among its values; changed reads where reads are free.

    It is wrong where two choices of the documentation, or two entities, do the same.
    """

    id = "wrong-answer-accepted"
    title = "the evaluator accepts a wrong answer"
    version = "4"
    category = "too-lenient"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.CONFIRMED
    level = Level.EVALUATOR
    deciding = "execution"
    why = "A wrong run passes."
    uses_runs = True

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why the task cannot be checked, or None."""
        return why_not_mutated(task)

    def observe(self, task: AgentTask, runs: Iterator[Trajectory]) -> Iterable[Observation]:
        """Note, for each class of change, how many mutants were accepted and rejected; and runs that passed so."""
        tried = [mutant for mutant in mutants(task) if mutant.truth is Truth.WRONG]
        verdicts = environment_of(task).evaluate_many(task, [mutant.attempt for mutant in tried])
        passed: Counter[str] = Counter()
        rejected: Counter[str] = Counter()
        first: dict[str, Mutant] = {}
        for mutant, verdict in zip(tried, verdicts, strict=True):
            if isinstance(verdict, ExecutionError):
                raise verdict
            key = _key(task, mutant)
            if verdict.passed:
                first.setdefault(key, mutant)
            (passed if verdict.passed else rejected)[key] += 1
        kinds = {_key(task, mutant): mutant.kind for mutant in tried}
        for key in sorted({*passed, *rejected}):
            if key in first or not key.startswith("task "):
                yield _note(task, key, passed[key], rejected[key], kinds[key], first.get(key))
        if any(key.startswith("change ") for key in kinds):
            yield from _of_runs(task, runs)

    def conclude(self, observations: Sequence[Observation]) -> Iterable[Conclusion | Undecided]:
        """Yield a conclusion per root cause, per other kind of change, per unread argument, and per task."""
        grouped: dict[str, list[Observation]] = defaultdict(list)
        for each in observations:
            grouped[each.key].append(each)
        runs = grouped.pop(_RUNS, [])
        changes = [note for key in sorted(grouped) if key.startswith("change ") for note in grouped[key]]
        roots = find_root_causes(
            Trial(task_id=note.task_id, cluster=note.value["cluster"], kind=_kind(note), **_counts(note))
            for note in changes
            if note.value["kind"]
        )
        covered: set[int] = set()
        for root in roots:
            of_root = [note for note in changes if note.value["kind"] and _kind(note) in root.kinds]
            covered |= set(map(id, of_root))
            yield _of_root(root, of_root, runs)
        left = [note for note in changes if id(note) not in covered and note.value["passed"]]
        others: dict[str, list[Observation]] = defaultdict(list)
        for note in left:
            what = _kind(note).type if note.value["kind"] else note.value["operator"]
            if what == "call" and note.value["where"]:
                what = f"call of {note.value['argument']}"
            others[_with_place(what, note.value["where"])].append(note)
        for name, notes in sorted(others.items()):
            yield _conclusion(notes, f"The evaluator accepts {_said(_worst(notes)[0])}", cause=f"other {name}")
        for key in sorted(key for key in grouped if key.startswith("task ")):
            notes = grouped[key]
            yield _conclusion(notes, f"The evaluator accepts {_said(notes[0])}", cause=None)
        for key in sorted(key for key in grouped if key.startswith("argument ")):
            notes = grouped[key]
            if any(note.value["rejected"] for note in notes) or len({note.value["cluster"] for note in notes}) < 2:
                continue
            claim = f"In no task that sets {notes[0].value['argument']} does another value change the verdict"
            yield _conclusion(notes, f"{claim} ({notes[0].value['change']})", cause=key)


def _key(task: AgentTask, mutant: Mutant) -> str:
    if mutant.shared == "field":
        return f"argument {_with_place(_argument(task, mutant), _place(task))}"
    if mutant.shared == "operator":
        kind = canonical_json(mutant.kind.model_dump(mode="json")) if mutant.kind else ""
        return f"change {mutant.operator} {kind}".strip()
    return f"task {task.id} {mutant.id}"


def _place(task: AgentTask) -> str:
    """Name what tasks of one domain share; an argument of the same name elsewhere is another one."""
    return (task.environment.state_name or task.subtask) if task.environment.state is not None else ""


def _with_place(what: str, place: str) -> str:
    return f"{what} in {place}" if place else what


def _argument(task: AgentTask, mutant: Mutant) -> str:
    """Name the changed argument, with the tool that the call forwards to, if any: each tool has its own arguments."""
    parts = split(mutant.pointer)
    if parts[1] != "turns" or len(parts) < _CALL:
        return mutant.field
    own = parts[-1]
    call = task.ground_truth.turns[int(parts[2])][int(parts[3])]
    passed_on = [
        value
        for name, value in call.arguments.items()
        if _TOOL_NAME.search(name) and isinstance(value, str) and value.isidentifier() and name != own
    ]
    return f"{mutant.field} of {passed_on[0]}" if passed_on else mutant.field


def _note(
    task: AgentTask, key: str, passed: int, rejected: int, kind: ValueClass | None, mutant: Mutant | None
) -> Observation:
    value: dict[str, Any] = {"passed": passed, "rejected": rejected, "cluster": task.cluster or task.id}
    value["kind"] = kind.model_dump(mode="json") if kind else None
    if mutant is None:
        return Observation(task_id=task.id, key=key, value=value)
    value |= {
        "operator": mutant.operator,
        "field": mutant.field,
        "argument": _argument(task, mutant),
        "where": _place(task),
        "change": mutant.change,
        "why": mutant.why,
        "command": replay_command(task, mutant.id),
    }
    gold = quote(task, mutant.pointer, note=f"{mutant.field}: accepted as well: {mutant.change}")
    proof = wrongly_passes(task, mutant.attempt)
    evidence = (gold, *other_side(task, mutant))
    return Observation(task_id=task.id, key=key, value=value, evidence=evidence, proofs=(proof,))


def _of_runs(task: AgentTask, runs: Iterator[Trajectory]) -> Iterator[Observation]:
    number, passed = 0, []
    for run in runs:
        if run.passed is not None:
            number += 1
            kinds = wrong_values(task, run) if run.passed else None
            if kinds:
                passed.append([kind.model_dump(mode="json") for kind in kinds])
    if number:
        yield Observation(task_id=task.id, key=_RUNS, value={"runs": number, "passed": passed})


def _kind(note: Observation) -> ValueClass:
    return ValueClass.model_validate(note.value["kind"])


def _counts(note: Observation) -> dict[str, int]:
    passed = int(note.value["passed"])
    return {"passed": passed, "tried": passed + int(note.value["rejected"])}


def _said(note: Observation) -> str:
    value = note.value
    return f"a wrong value of {value['field']} ({value['change']}): {value['why']}"


def _of_root(root: RootCause, notes: Sequence[Observation], runs: Sequence[Observation]) -> Conclusion:
    tasks = {note.task_id for note in notes if note.value["passed"]}
    counts = [_counts(note) for note in notes]
    passed, tried = sum(count["passed"] for count in counts), sum(count["tried"] for count in counts)
    decided = {note.task_id: _decided(note, root.kinds) for note in runs if note.task_id in tasks}
    accepted = f"{passed:,} of {tried:,} that were tried are accepted"
    claim = f"{root.sentence}; {len(tasks)} tasks pass with wrong values ({accepted})"
    done = _conclusion([note for note in notes if note.value["passed"]], claim, cause=f"root {root.id}", root=True)
    if not decided:
        return done
    measures = {
        RUNS: float(sum(note.value["runs"] for note in runs if note.task_id in tasks)),
        RUNS_DECIDED: float(sum(decided.values())),
    }
    hit = done.hit.model_copy(
        update={
            "decides": tuple(task_id for task_id, number in decided.items() if number),
            "measures": done.hit.measures | measures,
        }
    )
    return done.model_copy(update={"hit": hit})


def _decided(note: Observation, kinds: Collection[ValueClass]) -> int:
    """Count the runs that passed with wrong values which are all of these classes."""
    return sum(all(ValueClass.model_validate(kind) in kinds for kind in wrong) for wrong in note.value["passed"])


def _conclusion(notes: Sequence[Observation], claim: str, *, cause: str | None, root: bool = False) -> Conclusion:
    examples = _worst(notes)
    tasks = tuple(dict.fromkeys(note.task_id for note in notes))
    passed = sum(note.value["passed"] for note in notes)
    return Conclusion(
        task_ids=tasks,
        hit=Hit(
            claim=claim,
            evidence=tuple(one for note in examples for one in note.evidence[: 1 if len(examples) > 1 else None]),
            fix="Compare what carries the meaning.",
            cause=cause,
            severity=None if cause is None or root else Severity.MAY_AFFECT_SCORE,
            level=Level.TASK if cause is None else Level.EVALUATOR,
            command=examples[0].value["command"],
            proof=next((proof for note in notes for proof in note.proofs), None),
            measures={
                ANSWERS: float(passed + sum(note.value["rejected"] for note in notes)),
                ANSWERS_WRONG: float(passed),
                "tasks": float(len(tasks)),
            },
        ),
    )


def _worst(notes: Sequence[Observation]) -> list[Observation]:
    """Choose the worst examples: of each type one before a second, changes other than slips first, one per task."""
    seen: Counter[str] = Counter()
    ranked = []
    shown = [note for note in notes if note.evidence]
    for note in sorted(shown, key=lambda note: (note.value["operator"] not in _WORST, note.key, note.task_id)):
        kind = note.value["kind"]
        type_ = kind["type"] if kind else ""
        ranked.append((seen[type_], type_, note))
        seen[type_] += 1
    ranked.sort(key=lambda item: item[:2])
    one_per_task: dict[str, Observation] = {}
    for _, _, note in ranked:
        one_per_task.setdefault(note.task_id, note)
    return list(one_per_task.values())[:EXAMPLES]
