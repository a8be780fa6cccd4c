"""The text of a task follows from its rules."""

from pathlib import Path

import pytest

from agenthard.ace import domains
from agenthard.ace.domain import GlobalRule
from agenthard.ace.wording import global_phrase, instruction
from tests.ace.environment.small import LIMITS, SLOTS
from tests.ace.made import published

EXPECTED = """You are solving a course scheduling task. Fill the 2x2 grid with course ids.
This course scheduling plan has 2 scheduling days as rows and 2 class time slots per day as columns.
Only the empty (`null`) slots need to be filled. All other non-empty slots are already fixed and must not be changed.
Each cell must use exactly one candidate id from that slot.

Across the whole grid, the plan must satisfy these global constraints:
(1) the total credits of all courses in the whole grid must be at least 10.
(2) the total price of all courses in the whole grid must be at most 900.
(3) the same teacher can appear at most 2 times in the whole grid.
(4) the same category can appear at most 2 times in the whole grid.
(5) the total workload of all courses in the whole grid must be at most 12.

For the hidden-slot constraints:
For slot (0, 1):
(1) the course in slot (0, 1) must have credits at least 2.
(2) the course in slot (0, 1) must have price at most 300.

For slot (1, 0):
(1) the course in slot (1, 0) must have difficulty at most 3.
(2) the course in slot (1, 0) must have credits at least 1.

Return only a 2x2 list of course ids."""


def test_the_whole_text() -> None:
    assert instruction(domains.load("course"), 2, 2, LIMITS, SLOTS) == EXPECTED


@pytest.mark.parametrize(
    ("domain", "rule", "text"),
    [
        ("travel", "museum_min", "there must be at least 4 activities in the whole grid whose category is museum"),
        ("travel", "daily_duration_max", "for any single row in the whole grid, the total duration must be at most 4"),
        (
            "workforce",
            "senior_shift_min",
            "there must be at least 4 workers in the whole grid whose experience is at least 12",
        ),
        ("workforce", "total_cost_max", "the total hourly cost of all workers in the whole grid must be at most 4"),
    ],
)
def test_the_other_kinds_of_rules(domain: str, rule: str, text: str) -> None:
    spec = domains.load(domain)
    chosen: GlobalRule = next(each for each in spec.global_rules if each.name == rule)
    assert global_phrase(spec, chosen, 4) == text


@pytest.mark.long
@pytest.mark.corpora
def test_every_text_of_the_paper_is_written_again(corpora: Path) -> None:
    instances = published(corpora)
    assert len(instances) == 534
    for instance in instances:
        puzzle = instance.puzzle
        text = instruction(domains.load(puzzle.domain), puzzle.rows, puzzle.cols, puzzle.limits, puzzle.slots)
        assert text == puzzle.instruction, puzzle.id
