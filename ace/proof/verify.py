"""Verification: everything an instance claims about itself, checked from its records alone."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from agenthard.ace import domains
from agenthard.ace.domain import Domain
from agenthard.ace.instance import Cell, Certificate, Instance
from agenthard.ace.proof.certificate import certificate_problem, certify
from agenthard.ace.proof.search import search
from agenthard.ace.proof.stages import stages
from agenthard.ace.proof.structure import structure_problems
from agenthard.ace.rules import broken_global_rules, broken_slot_rules, filling, violations
from agenthard.ace.wording import instruction

Kind = Literal["structure", "truth", "filter", "decoy", "solution", "stage", "text", "certificate"]
"""What a problem is about. "stage" and "text" are soft: the puzzle can still be solved and scored as intended."""

_SOFT = ("stage", "text")


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that an instance claims and that is not so."""

    kind: Kind
    """What it is about."""
    message: str
    """What is wrong, in one sentence."""
    cell: Cell | None = None
    """The slot it is about, if it is about one."""
    item: str | None = None
    """Id of the candidate it is about, if it is about one."""


@dataclass(frozen=True, slots=True)
class Report:
    """The result of verifying one instance."""

    id: str
    """Id of the instance."""
    problems: tuple[Problem, ...]
    """Everything that is wrong, in the order of the checks."""
    certificate: Certificate | None
    """What the search proved; None when the instance is inconsistent, so that nothing could be searched."""

    @property
    def ok(self) -> bool:
        """True when nothing is wrong."""
        return not self.problems

    @property
    def hard(self) -> tuple[Problem, ...]:
        """The problems that make the puzzle or its answer wrong."""
        return tuple(problem for problem in self.problems if problem.kind not in _SOFT)

    @property
    def unique(self) -> bool:
        """True when an exact search found one solution and no second."""
        return self.certificate is not None and self.certificate.solutions == 1


def verify(instance: Instance) -> Report:
    """Checks an instance: its parts fit, its truth is the only solution, decoys and filters are what they should be.

    Args:
        instance: The instance, ours or read from a file of the paper.

    Returns:
        What is wrong, and a certificate of the search.
    """
    broken = tuple(Problem("structure", message, cell) for cell, message in structure_problems(instance))
    if broken:
        return Report(instance.id, broken, None)
    domain = domains.load(instance.puzzle.domain)
    problems = [
        *_truth_problems(domain, instance),
        *_candidate_problems(domain, instance),
        *_stage_problems(domain, instance),
        *_text_problems(domain, instance),
    ]
    found = search(domain, instance.puzzle)
    certificate = certify(instance, found)
    if not found.complete:
        problems.append(Problem("solution", f"the search gave up after {found.nodes} nodes: uniqueness is not proved"))
    elif len(found.solutions) != 1:
        count = "no solution" if not found.solutions else "more than one solution"
        problems.append(Problem("solution", f"the puzzle has {count}"))
    elif instance.puzzle.filled(found.solutions[0]) != instance.answer.solution:
        problems.append(Problem("solution", "the only solution is another than the recorded one"))
    if instance.certificate is not None and (reason := certificate_problem(instance.certificate, certificate)):
        problems.append(Problem("certificate", reason))
    return Report(instance.id, tuple(problems), certificate)


def certified(instance: Instance, report: Report) -> Instance:
    """Returns an instance with the certificate of its verification.

    Args:
        instance: The instance.
        report: The result of verifying it.

    Returns:
        The same instance, with the certificate.
    """
    return replace(instance, certificate=report.certificate)


def _truth_problems(domain: Domain, instance: Instance) -> Iterator[Problem]:
    for violation in violations(domain, instance.puzzle, instance.answer.solution):
        yield Problem("truth", f"the recorded solution is not allowed: {violation.reason}", violation.cell)


def _candidate_problems(domain: Domain, instance: Instance) -> Iterator[Problem]:
    puzzle, solution = instance.puzzle, instance.answer.solution
    truth = [list(row) for row in filling(puzzle, solution)]
    for slot, known in zip(puzzle.slots, instance.answer.slots, strict=True):
        for id in known.filters:
            if not broken_slot_rules(domain, slot.limits, puzzle.items[id]):
                yield Problem("filter", f"the filter {id!r} meets the rules of its slot", slot.cell, id)
        for id in known.decoys:
            broken = broken_slot_rules(domain, slot.limits, puzzle.items[id])
            if broken:
                yield Problem("decoy", f"the decoy {id!r} breaks {', '.join(broken)} of its slot", slot.cell, id)
            truth[slot.row][slot.col] = puzzle.items[id]
            if not broken_global_rules(domain, puzzle.limits, truth):
                yield Problem(
                    "decoy", f"the decoy {id!r} fits: with it the grid meets every global rule", slot.cell, id
                )
        truth[slot.row][slot.col] = puzzle.items[known.truth]


def _stage_problems(domain: Domain, instance: Instance) -> Iterator[Problem]:
    for slot, known, real in zip(instance.puzzle.slots, instance.answer.slots, stages(domain, instance), strict=True):
        if known.stage is not None and real is not None and real > known.stage:
            yield Problem("stage", f"preference level {known.stage} is recorded, the decoys are on {real}", slot.cell)


def _text_problems(domain: Domain, instance: Instance) -> Iterator[Problem]:
    puzzle = instance.puzzle
    if puzzle.instruction != instruction(domain, puzzle.rows, puzzle.cols, puzzle.limits, puzzle.slots):
        yield Problem("text", "the task text does not say what the rules are")
