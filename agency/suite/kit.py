"""What the graders of the suite share: clauses that are sentences of the task, and programs that answer in JSON."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from agenthard.agency.judges import Check, Outcome, Probe, ProbeError
from agenthard.agency.scenario import Criterion, Deliverable, Needs, Scenario, ScenarioTask
from agenthard.containment import JobLimits

LICENSE = "MIT"
MARK = "@@results@@"
"""What a harness writes before its results: what the graded program prints comes before it."""
PROCESSES = 2000
"""Without a control group all jobs of a machine count together: a small limit would make grades depend on others."""
LIMITS = JobLimits(wall_seconds=60, cpu_seconds=6, processes=PROCESSES)
"""A program without end is stopped by the processor time that it takes, which no other load changes."""
ASIDE = "Your programs are graded by running them on other inputs than those in the workspace."


class Clause(NamedTuple):
    """One sentence of a task, with the check that decides it."""

    id: str
    """Unique within its task."""
    text: str
    """The sentence, which the query holds as it is."""
    check: Check
    """What decides it."""
    weight: float = 1.0
    """Share of the score, relative to the other clauses."""


class TaskPlan(NamedTuple):
    """A task before it is a record."""

    title: str
    """What it is about, in a few words."""
    intro: str
    """What the query says before its clauses."""
    deliverables: Mapping[str, str]
    """Paths of the files it must leave, with what each is."""
    clauses: tuple[Clause, ...]
    """What is asked, and how it is decided."""

    def query(self) -> str:
        """Return what the agent is asked: every clause is a line of it, and it has no other demand."""
        files = "\n".join(f"- `{path}`: {text}" for path, text in self.deliverables.items())
        asked = "\n".join(f"{number}. {clause.text}" for number, clause in enumerate(self.clauses, 1))
        return f"# {self.title}\n\n{self.intro.strip()}\n\nLeave:\n\n{files}\n\nWhat is asked:\n\n{asked}\n\n{ASIDE}\n"


def scenario(name: str, capability: str, plans: Sequence[TaskPlan], needs: Needs) -> Scenario:
    """Make the record of a scenario of the suite; each task begins on the best attempt at the one before."""
    tasks = (
        ScenarioTask(
            id=f"{name}-task{number}",
            number=number,
            query=plan.query(),
            deliverables=tuple(Deliverable(path=path, text=text) for path, text in plan.deliverables.items()),
            criteria=tuple(
                Criterion(id=each.id, text=each.text, weight=each.weight, check=f"{name}-task{number}.{each.id}")
                for each in plan.clauses
            ),
        )
        for number, plan in enumerate(plans, 1)
    )
    return Scenario(
        id=name,
        capability=capability,
        regime="per_attempt",
        carry="best",
        tasks=tuple(tasks),
        needs=needs,
        license=LICENSE,
    )


def checks(name: str, plans: Sequence[TaskPlan]) -> dict[str, Check]:
    """Return the checks of a scenario by the names that its criteria have."""
    return {
        f"{name}-task{number}.{clause.id}": _formed(clause.check)
        for number, plan in enumerate(plans, 1)
        for clause in plan.clauses
    }


def _formed(check: Check) -> Check:
    """Return a check that a program cannot end by results of an unexpected form."""

    def checked(probe: Probe) -> Outcome:
        try:
            return check(probe)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            return Outcome(0.0, f"the results do not have the form that is asked for: {type(error).__name__}")

    return checked


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Write text files below a folder."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")


def results(probe: Probe, *command: str, limits: JobLimits | None = None, own_tcp: bool = False) -> object:
    """Run a harness in a job and return what it writes as JSON after :data:`MARK`.

    Raises:
        ProbeError: it was killed, failed, or wrote no results.
    """
    done = probe.run(*command, limits=limits or LIMITS, own_tcp=own_tcp)
    _, mark, text = done.stdout.rpartition(MARK)
    if not mark:
        said = [line for line in done.stderr.splitlines() if "Error" in line] or done.stderr.splitlines()
        raise ProbeError(f"the program gave no results, exit code {done.exit_code}: {''.join(said[-1:])[:300]}")
    try:
        return json.loads(text)
    except ValueError:
        raise ProbeError("the results of the program are not valid JSON") from None


def canonical(value: object) -> str:
    """Write a value such that only equal JSON has equal text: true is not 1."""
    return json.dumps(value, sort_keys=True)


def agree(found: object, wanted: Sequence[object], names: Sequence[str]) -> Outcome:
    """Compare results with what is right, case by case; a clause is met when all agree.

    Args:
        found: results of the graded program.
        wanted: right results; a reason never shows them.
        names: the cases in words, for the reason.
    """
    if not isinstance(found, list) or len(found) != len(wanted):
        return Outcome(0.0, f"the program gave no list of {len(wanted)} results")
    wrong = [
        (name, got) for name, got, right in zip(names, found, wanted, strict=True) if canonical(got) != canonical(right)
    ]
    if not wrong:
        return Outcome(1.0)
    name, got = wrong[0]
    return Outcome(0.0, f"{len(wrong)} of {len(wanted)} cases are wrong, such as {name}: {canonical(got)[:200]}")


def field(document: object, name: str) -> object:
    """Return a member of a JSON object, None where there is none."""
    return document.get(name) if isinstance(document, dict) else None
