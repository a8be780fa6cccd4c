"""Suites of ACE-Bench in our own format: ``puzzles`` are public, ``answers`` hold the solutions."""

from typing import Any

from agenthard.ace.instance import Instance, Puzzle
from agenthard.ace.records import answer_line, puzzle_line, read_instance, read_puzzle
from agenthard.audit.sources.formats.suite import HEAD, Kind, Layout, Part, Suites

__all__ = ["HEAD", "SUITES", "Kind"]


def _public_row(instance: Instance) -> dict[str, Any]:
    puzzle = instance.puzzle
    slots = len(puzzle.slots)
    return {"id": puzzle.id, "domain": puzzle.domain, "rows": puzzle.rows, "cols": puzzle.cols, "slots": slots}


def _private_row(instance: Instance) -> dict[str, Any]:
    return {
        "id": instance.id,
        "decoys": instance.answer.decoy_budget,
        "seed": instance.provenance.seed if instance.provenance else None,
        "solutions": instance.certificate.solutions if instance.certificate else None,
    }


SUITES: Suites[Puzzle, Instance] = Suites(
    Layout(
        format="agenthard-ace",
        version=1,
        command="agenthard ace generate",
        public=Part(
            name="puzzles",
            word="puzzle",
            line=lambda instance: puzzle_line(instance.puzzle),
            columns={"id": "text", "domain": "text", "rows": "number", "cols": "number", "slots": "number"},
            row=_public_row,
        ),
        private=Part(
            name="answers",
            word="answer",
            line=answer_line,
            columns={"id": "text", "decoys": "number", "seed": "number", "solutions": "number"},
            row=_private_row,
        ),
        read_public=read_puzzle,
        read_whole=read_instance,
        id_of=lambda puzzle: puzzle.id,
    )
)
"""Reader and writer of suites."""
