"""The page on a million tasks says what its code calculates, and a small simulation agrees with the arithmetic."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from agenthard.models.errors import BudgetExhaustedError

PERF = Path(__file__).parents[2] / "perf"


def module(name: str) -> ModuleType:
    sys.path.insert(0, str(PERF))
    try:
        return __import__(name)
    finally:
        sys.path.remove(str(PERF))


def test_the_page_has_the_tables_of_the_code() -> None:
    written = module("write_million_page")
    text = written.PAGE.read_text(encoding="utf-8")
    assert written.page(text) == text


def test_the_arithmetic_starts_from_what_was_measured_and_agrees_with_the_simulation() -> None:
    sizes, found = module("million_tasks"), json.loads((PERF / "million_tasks.json").read_bytes())
    given = sizes.Assumptions()
    for name, measured in found["workers"].items():
        assert getattr(given, name) == pytest.approx(measured, rel=0.05), name
    assert (found["tasks"], found["models"]) == (given.tasks // 100, given.models)
    for name, each in (("agents", given.agent), ("judges", given.judge)):
        assert found[name]["expected_seconds"] == pytest.approx(each.duration(found["tasks"]))
        assert found[name]["seconds"] == pytest.approx(found[name]["expected_seconds"], rel=0.02)
        assert found[name]["requests"] == found[name]["expected_requests"]


@pytest.mark.parametrize("limit", ["tokens per minute", "requests per minute", "requests in flight"])
def test_a_simulation_takes_as_long_as_the_arithmetic_says(limit: str) -> None:
    sizes, simulation = module("million_tasks"), module("simulate_million")
    changes = {
        "tokens per minute": {},
        "requests per minute": {"per_minute": 1_200.0},
        "requests in flight": {"in_flight": 40},
    }[limit]
    agent = replace(sizes.Assumptions().agent, **changes)
    given = replace(sizes.Assumptions(), tasks=300, models=1, agent=agent)
    assert given.agent.limit == limit
    found = simulation.run(simulation.agents(given))
    assert found.seconds == pytest.approx(found.expected_seconds, abs=2 * agent.seconds)  # two requests
    assert (found.requests, found.refused) == (found.expected_requests, 0)
    assert found.dollars == pytest.approx(found.expected_dollars, rel=0.03)


def test_a_simulated_budget_is_never_exceeded(tmp_path: Path) -> None:
    sizes, simulation = module("million_tasks"), module("simulate_million")
    given = replace(sizes.Assumptions(), tasks=120)
    found = simulation.run(simulation.judges(given, tmp_path / "free"))
    assert found.requests == 360 and found.refused == 0
    assert found.seconds == pytest.approx(found.expected_seconds, rel=0.25)  # the last reply decides at this size
    assert found.dollars == pytest.approx(found.expected_dollars, rel=0.05)
    half = found.dollars / 2
    with pytest.raises(BudgetExhaustedError, match="dollars are spent") as caught:
        simulation.run(simulation.judges(given, tmp_path / "half", half))
    assert half * 0.8 < float(str(caught.value).split()[0]) <= half
