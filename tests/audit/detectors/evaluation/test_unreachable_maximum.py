from pathlib import Path

import pytest

from agenthard.audit.detectors.evaluation import UnreachableMaximum
from agenthard.audit.sources.agencybench import AgencyBench
from agenthard.audit.sources.base import Quarantine
from agenthard.taxonomy import Tier
from tests.audit.detectors.evaluation.open_tasks import open_task

PAGE = "Ship `index.html` and `app.js`."


def hits(said: str, *criteria: str) -> list[str]:
    return [hit.claim for hit in UnreachableMaximum().inspect(open_task(said, *criteria))]


def test_a_duration_that_would_have_to_be_zero() -> None:
    [claim] = hits("Sort quickly.", "Latency (0.2): `clamp((0.5 - seconds) / 0.5, 0, 1)`", "Order (0.8): sorted.")
    assert "only when seconds is 0" in claim and "none at the budget of 0.5" in claim


@pytest.mark.parametrize(
    "criterion",
    [
        "Fairness: `clamp(1.0 - spread / 1.5, 0, 1)`",
        "Defects: `clamp((5 - defects) / 5, 0, 1)`",
        "Latency: `clamp((0.9 - seconds) / 0.5, 0, 1)`",
    ],
)
def test_what_can_be_reached(criterion: str) -> None:
    assert hits("Sort.", criterion) == []


@pytest.mark.parametrize("shares", [("0.4", "0.3", "0.2"), ("40%", "70%")])
def test_weights_that_do_not_add_up(shares: tuple[str, ...]) -> None:
    [claim] = hits("Sort.", *(f"Part {i} ({share}): right." for i, share in enumerate(shares)))
    assert "instead of 1" in claim


@pytest.mark.parametrize("shares", [("0.4", "0.6"), ("weight 0.25", "weight 0.75"), ("30%", "70%"), ("50%",), ()])
def test_weights_that_do(shares: tuple[str, ...]) -> None:
    assert hits("Sort.", *(f"Part {i} ({share}): right." for i, share in enumerate(shares)), "No weight.") == []


def test_factors_of_a_formula() -> None:
    assert hits("Sort.", "Grade = round(10 * (0.3*A + 0.5*B + 0.2*C))") == []
    [claim] = hits("Sort.", "Grade = round(10 * (0.3*A + 0.5*B))")
    assert "0.8" in claim


def test_a_page_cannot_write_to_its_files() -> None:
    task = open_task(PAGE, "Logging: `moves.log` must append one line per move.")
    [hit] = UnreachableMaximum().inspect(task)
    assert hit.tier is None and UnreachableMaximum.tier is Tier.SUSPECTED


@pytest.mark.parametrize(
    ("said", "criterion"),
    [
        (PAGE + " A node server stores the moves.", "`moves.log` must append one line per move."),
        (PAGE, "`exportLog()` must return one line per move."),
        ("Write `sort.py`.", "`moves.log` must append one line per move."),
    ],
)
def test_a_program_can(said: str, criterion: str) -> None:
    assert hits(said, criterion) == []


def test_without_criteria_nothing_is_checked() -> None:
    assert UnreachableMaximum().not_applicable(open_task("Sort."))


@pytest.mark.corpora
def test_agencybench(corpora: Path) -> None:
    tasks = AgencyBench(corpora / "agencybench").tasks(Quarantine())
    found = {task.id for task in tasks for _ in UnreachableMaximum().inspect(task)}
    assert {"Backend/scenario3/subtask2", "Backend/scenario3/subtask4", "Game/scenario1/subtask3"} <= found
    assert len(found) == 13
