"""A broken instance is refused before it is played, with the reason."""

from dataclasses import replace

import pytest

from agenthard.ace.environment import Environment, UnplayableError
from agenthard.ace.instance import Puzzle, Slot
from tests.ace.environment.small import LIMITS, SLOTS, puzzle

SOUND = puzzle()


def with_item(id: str, **changes: object) -> Puzzle:
    item = {key: value for key, value in {**SOUND.items[id], **changes}.items() if value is not None}
    return replace(SOUND, items={**SOUND.items, id: item})  # type: ignore[dict-item]


BROKEN = [
    (replace(SOUND, rows=3), "its grid is not 3x2"),
    (replace(SOUND, grid=(("C1", None), (None,))), "its grid is not 2x2"),
    (replace(SOUND, slots=SLOTS[:1]), "its slots are not the empty cells of its grid"),
    (replace(SOUND, grid=(("C1", "C11"), (None, "C2"))), "its slots are not the empty cells of its grid"),
    (
        replace(SOUND, limits={k: v for k, v in LIMITS.items() if k != "total_price_max"}),
        "it has no threshold for total_price_max",
    ),
    (
        replace(SOUND, slots=(Slot(0, 1, {"min_height": 3}, ("C11",)), SLOTS[1])),
        r"slot \(0, 1\) has rules that domain 'course' lacks: min_height",
    ),
    (replace(SOUND, slots=(Slot(0, 1, {}, ("C11", "C99")), SLOTS[1])), "its items lack C99"),
    (replace(SOUND, grid=(("C98", None), (None, "C2"))), "its items lack C98"),
    (with_item("C12", price="dear"), "the price of item 'C12' is missing or of the wrong type"),
    (with_item("C12", teacher=None), "the teacher of item 'C12' is missing or of the wrong type"),
    (with_item("C1", credits=True), "the credits of item 'C1' is missing or of the wrong type"),
]


@pytest.mark.parametrize(("broken", "reason"), BROKEN)
def test_what_cannot_be_played(broken: Puzzle, reason: str) -> None:
    with pytest.raises(UnplayableError, match=f"instance 'course_r2_c2_h2_b2' cannot be played: {reason}"):
        Environment(broken)


def test_an_unknown_domain() -> None:
    with pytest.raises(ValueError, match="unknown domain 'gardening'"):
        Environment(replace(SOUND, domain="gardening"))


def test_a_grid_without_slots_is_solved_from_the_start() -> None:
    full = replace(SOUND, grid=(("C1", "C11"), ("C21", "C2")), slots=())
    assert Environment(full).result().solved
