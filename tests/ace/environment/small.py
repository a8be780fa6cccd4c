"""A puzzle small enough to check by hand.

    Grid:  C1  ?         Totals of the truth C11, C21:   credits  3 + 2 + 3 + 2 = 10
           ?   C2                                        price    200 + 300 + 250 + 150 = 900
                                                         workload 4 + 3 + 2 + 3 = 12
C12 and C22 meet their slots' rules, but each leaves 9 credits or fewer. C13 is too dear and C23 too difficult for its
slot; C11 with C23 meets every global rule all the same (credits 12, price 850, workload 10).
"""

from pathlib import Path
from typing import Any

from agenthard.ace import domains
from agenthard.ace.environment import Environment
from agenthard.ace.instance import Answer, Instance, Item, Puzzle, Slot, SlotAnswer
from agenthard.ace.reference_format import Header, write
from agenthard.ace.wording import instruction

LIMITS = {
    "total_credits_min": 10,
    "total_price_max": 900,
    "same_teacher_week_max": 2,
    "same_category_week_max": 2,
    "total_workload_max": 12,
}
SLOTS = (
    Slot(row=0, col=1, limits={"max_price": 300, "min_credits": 2}, candidates=("C13", "C11", "C12")),
    Slot(row=1, col=0, limits={"max_difficulty": 3, "min_credits": 1}, candidates=("C21", "C22", "C23")),
)
UPPER, LOWER = {"row": 0, "col": 1}, {"row": 1, "col": 0}
FIXED = {"row": 0, "col": 0}


def _course(id: str, name: str, category: str, numbers: tuple[int, int, int], teacher: str, workload: int) -> Item:
    difficulty, credits, price = numbers
    return {
        "course_id": id,
        "name": name,
        "category": category,
        "difficulty": difficulty,
        "credits": credits,
        "price": price,
        "teacher": teacher,
        "workload": workload,
    }


COURSES = (
    _course("C1", "Algebra 101", "math", (2, 3, 200), "Ada Berg", 4),
    _course("C2", "Databases 102", "cs", (3, 2, 300), "Ben Costa", 3),
    _course("C11", "Optics Lab 111", "lab", (1, 3, 250), "Cleo Dunn", 2),
    _course("C12", "Poetry 112", "elective", (4, 2, 300), "Ada Berg", 1),
    _course("C13", "Film 113", "elective", (1, 4, 350), "Cleo Dunn", 1),
    _course("C21", "Ethics 121", "core", (3, 2, 150), "Ada Berg", 3),
    _course("C22", "Logic 122", "core", (2, 1, 100), "Ada Berg", 2),
    _course("C23", "Debate 123", "seminar", (5, 4, 100), "Dev Erikson", 1),
)


def puzzle(id: str = "course_r2_c2_h2_b2") -> Puzzle:
    """The puzzle of this module."""
    return Puzzle(
        id=id,
        domain="course",
        rows=2,
        cols=2,
        candidates_per_slot=3,
        limits=LIMITS,
        items={str(course["course_id"]): course for course in COURSES},
        grid=(("C1", None), (None, "C2")),
        slots=SLOTS,
        instruction=instruction(domains.load("course"), 2, 2, LIMITS, SLOTS),
    )


def instance(id: str = "course_r2_c2_h2_b2") -> Instance:
    """The puzzle with its answer."""
    slots = (SlotAnswer("C11", ("C12",), ("C13",), 4), SlotAnswer("C21", ("C22",), ("C23",), 4))
    return Instance(puzzle(id), Answer(solution=(("C1", "C11"), ("C21", "C2")), slots=slots))


def write_file(folder: Path) -> Path:
    """Writes two instances, alike except for their ids, in the layout of the released files."""
    path = folder / "course.json"
    header = Header("course", rows=2, cols=2, hidden_slots=(2,), decoy_budgets=(2,), candidates=3)
    write(path, header, [instance("course_r2_c2_h2_b2"), instance("course_again")], count=2)
    return path


def fill(environment: Environment, upper: str | None, lower: str | None) -> list[dict[str, Any]]:
    """Fills or empties both slots."""
    return [
        environment.call("set_slot", {**UPPER, "id": upper}),
        environment.call("set_slot", {**LOWER, "id": lower}),
    ]


def refusal(environment: Environment, name: str, arguments: dict[str, Any]) -> str:
    """The reason a tool gives for refusing a call."""
    answer = environment.call(name, arguments)
    assert answer["status"] == "failed" and answer["data"] == {}
    prefix, _, reason = answer["messages"].partition(", ")
    assert prefix == "Invalid tool arguments"
    return str(reason)
