"""Learned look-ahead: it finds what margins tell across tasks, and nothing where they tell nothing."""

import random
from typing import Any

import pytest

from agenthard.audit.probes import CandidatesError, read_scene, run_battery
from tests.audit.probes.benchmark import scenes, tasks


def with_slack(told: bool) -> list[dict[str, Any]]:
    """Tasks whose answers break rule a by little and keep rule b by much, or by chance as the others do."""
    chance = random.Random(3)
    made = tasks(number=80)
    for task in made:
        for choice in task["sets"]:
            right = [candidate["id"] == choice["truth"] for candidate in choice["candidates"]]
            choice["slack"] = {
                "a": [chance.gauss(-0.2 if told and own else -2, 0.5) for own in right],
                "b": [chance.gauss(2, 1) for _ in right],
            }
    return made


def rates(made: list[dict[str, Any]]) -> dict[str, float]:
    return {row.way: row.accuracy for row in run_battery(scenes(made)).look_ahead if not row.group}


def test_margins_that_tell_are_learned_by_both_ways() -> None:
    found = rates(with_slack(told=True))
    assert set(found) == {"learned, regression", "learned, trees"}
    assert min(found.values()) > 0.8


def test_margins_that_tell_nothing_are_guessed_from() -> None:
    assert max(rates(with_slack(told=False)).values()) < 0.35  # chance is 20 % of 240 choices


def test_without_margins_nothing_is_learned() -> None:
    assert rates(tasks()) == {}


def test_margins_have_one_number_per_candidate() -> None:
    made = with_slack(told=False)[0]
    made["sets"][0]["slack"]["a"].pop()
    with pytest.raises(CandidatesError, match="slack/a"):
        read_scene(made, "t")
