"""Checks of scenarios: clauses that nothing decides, checks that nothing asks for, and scores of two solutions."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from agenthard.agency.scenario import SCENARIO_KEY, Criterion, Scenario, ScenarioTask
from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.evidence import quote
from agenthard.audit.execution.attempts import gold_attempt
from agenthard.audit.execution.environment import Attempt, UnavailableError
from agenthard.audit.execution.gold import environment_of
from agenthard.audit.proof import wrongly_fails, wrongly_passes
from agenthard.taxonomy.finding import Evidence, Severity, Tier
from agenthard.taxonomy.task import AgentTask

if TYPE_CHECKING:
    from agenthard.agency.judges import Grade

LEAST_REFERENCE, MOST_NOTHING = 9.0, 2.0
"""Points of 10 that a reference solution has at least, and that an agent which does nothing has at most."""
_NO_SCENARIO = "the task carries no scenario"


class _Part(NamedTuple):
    """One task of a scenario, and where the record of the audited task has it."""

    scenario: Scenario
    task: ScenarioTask
    pointer: str

    def clauses(self) -> Iterator[tuple[str, Criterion]]:
        """Yield the criteria, each with its pointer."""
        yield from ((f"{self.pointer}/criteria/{at}", each) for at, each in enumerate(self.task.criteria))


def _part(task: AgentTask) -> _Part:
    scenario = Scenario.model_validate(task.metadata[SCENARIO_KEY])
    at = next(number for number, each in enumerate(scenario.tasks) if each.id == task.native_id)
    return _Part(scenario, scenario.tasks[at], f"/metadata/{SCENARIO_KEY}/tasks/{at}")


class UnmatchedClause(TaskDetector):
    """Each clause of a rubric is decided by a check or a judge, and each check decides a clause that the agent reads.

    Rules:

    1. a clause names no check and no judge, or a check that the installed package of the scenario does not have: the
       task cannot be scored, or the clause is never looked at;
    2. a clause is hidden from the agent, and its sentence is not in what the task asks;
    3. a check of the package is named by no clause of the scenario.

    Flagged: a clause "The page works without a mouse" without a check; a hidden clause "The file ends with a line
    break" of a task that says nothing of line breaks.
    Not flagged: a clause that a model judges; a hidden clause whose sentence is part of the query.

    The second rule compares words, so it is wrong where the query asks for the same in other words, and only suspected.
    Checks are known where the package of the scenario is installed; without it the first rule sees missing names only.
    """

    id = "unmatched-clause"
    title = "a clause without a check, or a check without a sentence"
    version = "1"
    category = "unscored-requirement"
    severity = Severity.MAY_AFFECT_SCORE
    tier = Tier.CONFIRMED
    why = "Work that was asked for earns nothing, or work that was not asked for costs points."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Only tasks of scenarios have such clauses."""
        return None if SCENARIO_KEY in task.metadata else _NO_SCENARIO

    def inspect(self, task: AgentTask) -> Iterator[Hit]:
        """Yield one hit per clause, and per check that no clause names."""
        from agenthard.agency.packs import packs  # imports the judges, which no audit of another benchmark needs

        part = _part(task)
        pack = packs().get(part.scenario.id)
        asked = _words(part.task.query, *(each.text for each in part.task.deliverables))
        for pointer, clause in part.clauses():
            if not clause.decided or (pack and clause.check and clause.check not in pack.checks):
                yield _undecided(task, pointer, clause)
            elif not clause.visible and _words(clause.text) not in asked:
                yield _unasked(task, pointer, clause)
        named = {each.check for one in part.scenario.tasks for each in one.criteria}
        for name in sorted(set(pack.checks if pack else ()) - named):
            if part.task.id == _owner(part.scenario, name):
                yield Hit(
                    claim=f"The package of {part.scenario.id} has a check {name!r}, and no clause names it.",
                    evidence=(quote(task, f"{part.pointer}/query", note="what the task asks"),),
                    fix="Write the clause that it decides, or remove it.",
                )


def _undecided(task: AgentTask, pointer: str, clause: Criterion) -> Hit:
    lacks = f"names the check {clause.check!r}, which its package lacks" if clause.check else "names no check, no judge"
    return Hit(
        claim=f"Nothing decides the clause {clause.id!r}: it {lacks}.",
        evidence=(quote(task, f"{pointer}/text", note="the clause"),),
        fix="Give it a check or a judge, or take the sentence out.",
    )


def _unasked(task: AgentTask, pointer: str, clause: Criterion) -> Hit:
    return Hit(
        claim=f"The clause {clause.id!r} is scored and hidden, and no sentence of the task asks for it.",
        evidence=(quote(task, f"{pointer}/text", note="what is scored"),),
        fix="Say it in the query, show the clause to the agent, or take it out.",
        category="too-strict",
        tier=Tier.SUSPECTED,
    )


def _words(*texts: str) -> str:
    return " ".join(" ".join(texts).casefold().split())


def _owner(scenario: Scenario, check: str) -> str:
    """Return the task that a check belongs to by its name, else the first."""
    return next((each.id for each in scenario.tasks if check.startswith(f"{each.id}.")), scenario.tasks[0].id)


class SolutionScore(TaskDetector):
    """The reference solution of a task earns at least 9 of 10 points, and an agent that does nothing at most 2.

    Both are carried out, each on what the reference solutions of the tasks before have left, and graded by the checks
    of the installed package; a hit is graded a second time, and reported where both grades agree.

    Flagged: a reference solution that lacks a file and earns 8 points; a task that begins with its result in place.
    Not flagged: half a point for a clause "all that the task before asked is still so", which holds from the beginning.

    A reference solution that does not pass, and a task that passes without a call, are confirmed by their runs and
    affect the score; `gold-rejected` and `probe-passes` say so too. Between these bounds and the threshold of
    a task the score is wrong by points, which may decide the mean of a scenario.

    It is wrong where a task is meant to be half done when it begins.
    """

    id = "solution-score"
    title = "a reference solution with few points, or points for nothing"
    version = "1"
    category = "unreachable-score"
    severity = Severity.MAY_AFFECT_SCORE
    tier = Tier.CONFIRMED
    executes = True
    why = "The scale does not reach from work undone to work done."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why the task cannot be carried out and graded here, or None."""
        if SCENARIO_KEY not in task.metadata:
            return _NO_SCENARIO
        if any(clause.check is None for _, clause in _part(task).clauses()):
            return "a model judges a clause, or nothing does"
        try:
            environment_of(task)
        except UnavailableError as reason:
            return str(reason)
        return None

    def inspect(self, task: AgentTask) -> Iterator[Hit]:
        """Yield a hit for each of the two solutions that earns what it should not."""
        part, reference = _part(task), gold_attempt(task)
        found = _grade(task, reference, lambda score: score < LEAST_REFERENCE) if any(task.gold_calls()) else None
        if found is not None:
            lost = {each.criterion: each.share for each in found.criteria if each.share < 1}
            yield Hit(
                claim=f"The reference solution earns {found.score:g} of 10 points; it loses some for {_listed(lost)}.",
                evidence=tuple(_evidence(task, part, lost)),
                fix="Repair the solution, or the check that it does not meet.",
                **_proved(None if found.passed else wrongly_fails(task, reference)),
            )
        found = _grade(task, Attempt(), lambda score: score > MOST_NOTHING)
        if found is not None:
            earned = {each.criterion: each.share for each in found.criteria if each.share > 0}
            yield Hit(
                claim=f"An agent that does nothing earns {found.score:g} of 10 points, for {_listed(earned)}.",
                evidence=tuple(_evidence(task, part, earned)),
                fix="Make these clauses look for what the task has to change, or lower their weight.",
                category="too-lenient",
                **_proved(wrongly_passes(task, Attempt()) if found.passed else None),
            )


def _grade(task: AgentTask, attempt: Attempt, wrong: Callable[[float], bool]) -> "Grade | None":
    """Return the grade of an attempt where it is wrong twice, and equal."""
    from agenthard.agency.execution import AgencyEnvironment  # as above

    environment = environment_of(task)
    if not isinstance(environment, AgencyEnvironment):
        raise UnavailableError(f"{environment.label()} gives no points")
    first = environment.grade(task, attempt)
    return first if wrong(first.points) and environment.grade(task, attempt).score == first.score else None


def _proved(proof: Any) -> dict[str, Any]:
    return {"proof": proof, "severity": Severity.AFFECTS_SCORE} if proof else {}


def _listed(shares: dict[str, float]) -> str:
    return ", ".join(f"{name!r} ({share:.0%} met)" for name, share in shares.items())


def _evidence(task: AgentTask, part: _Part, shares: dict[str, float]) -> Iterator[Evidence]:
    for pointer, clause in part.clauses():
        if clause.id in shares:
            yield quote(task, f"{pointer}/text", note=f"{shares[clause.id]:.0%} of this clause is met")
