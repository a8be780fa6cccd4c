"""The table of what is held against what names every check, only checks, and every pair."""

import re
from itertools import combinations_with_replacement
from pathlib import Path

from agenthard.audit.detectors.registry import detectors

PAGE = Path(__file__).parents[1] / "docs" / "relations.md"
FACTS = (
    "request", "policy", "tool documentation", "tool code", "state", "gold calls", "replay", "required texts",
    "evaluator", "other tasks", "runs",
)  # fmt: skip
ROWS = [row.strip("|").split("|") for row in PAGE.read_text(encoding="utf-8").splitlines() if row.startswith("| ")][1:]


def test_every_pair_has_a_row_that_says_what_must_hold_and_who_looks() -> None:
    pairs = [one if one == other else f"{one} – {other}" for one, other in combinations_with_replacement(FACTS, 2)]
    assert [pair.strip() for pair, _, _ in ROWS] == pairs
    assert all(rule.strip() and looked_at.strip() for _, rule, looked_at in ROWS)


def test_the_checks_in_the_table_are_the_checks_that_there_are() -> None:
    named = {name for *_, looked_at in ROWS for name in re.findall(r"`([a-z]+(?:-[a-z]+)+)`", looked_at)}
    assert sorted(named) == sorted(each.id for each in detectors())
