"""Items as arrays: loads are what the rules measure, filters are natural items that break their slot."""

from typing import Any

import numpy as np
import pytest

from agenthard.ace import domains
from agenthard.ace.domain import Number
from agenthard.ace.generator.filters import allowed_share, draw_filters
from agenthard.ace.generator.space import Box, Space, load_space
from agenthard.ace.instance import Item
from agenthard.ace.proof.sums import sums
from agenthard.ace.rules import holds
from tests.ace.made import one


def items(space: Space, count: int = 6) -> tuple[Any, list[Item]]:
    drawn = space.draw(np.random.default_rng(1), space.natural, count)
    names = [attribute.name for attribute in space.domain.attributes]
    return drawn, [dict(zip(names, space.values(row), strict=True)) for row in drawn]


@pytest.mark.parametrize("name", domains.names())
def test_a_rule_holds_when_no_column_exceeds_its_limit(name: str) -> None:
    space = load_space(name, 2)
    drawn, shown = items(space)
    totals = space.loads(drawn[:3], 0).sum(axis=0) + space.loads(drawn[3:], 1).sum(axis=0)
    for columns in space.rules:
        measured = int(totals[columns.first : columns.first + columns.count].max())
        for threshold in range(columns.sign * measured - 2, columns.sign * measured + 3):
            fits = measured <= columns.sign * threshold
            assert holds(columns.rule, threshold, [shown[:3], shown[3:]]) == fits, (columns.rule.name, threshold)


def test_the_proof_s_sums_are_the_generator_s_columns() -> None:
    made = one("travel")
    space = load_space("travel", made.puzzle.rows)
    limits = [each.limit for each in sums(space.domain, made.puzzle)]
    assert len(limits) == space.columns


@pytest.mark.parametrize("name", domains.names())
def test_a_box_holds_what_slot_rules_allow(name: str) -> None:
    space = load_space(name, 1)
    for rule in space.domain.slot_rules:
        for threshold in rule.thresholds:
            box = space.box({rule.name: threshold})
            at = space.index(rule.attribute)
            low, high = int(box.low[at]), int(box.high[at])
            assert (high if rule.bound == "max" else low) == threshold or allowed_share(space, box) == 1
            share = (high - low + 1) / (space.natural.high[at] - space.natural.low[at] + 1)
            assert allowed_share(space, box) == pytest.approx(share)


def test_filters_are_what_is_left_of_natural_items_when_the_allowed_ones_are_taken_out() -> None:
    space = load_space("course", 1)
    box = space.box({"min_credits": 3, "max_price": 280})
    rng = np.random.default_rng(2)
    drawn = draw_filters(rng, space, box, 20_000)
    natural = space.draw(rng, space.natural, 60_000)
    allowed = ((natural >= box.low) & (natural <= box.high)).all(axis=1)
    expected = natural[~allowed]
    assert not ((drawn >= box.low) & (drawn <= box.high)).all(axis=1).any()
    assert (drawn >= space.natural.low).all() and (drawn <= space.natural.high).all()
    for attribute in range(drawn.shape[1]):
        spread = natural[:, attribute].std()
        assert abs(drawn[:, attribute].mean() - expected[:, attribute].mean()) < 0.03 * spread
    broken = ((drawn < box.low) | (drawn > box.high)).sum(axis=1)
    wanted = ((expected < box.low) | (expected > box.high)).sum(axis=1)
    assert abs((broken == 2).mean() - (wanted == 2).mean()) < 0.02


def test_filters_may_lie_on_both_sides_of_what_is_allowed() -> None:
    space = load_space("course", 1)
    at = space.index("price")
    low, high = space.natural.low.copy(), space.natural.high.copy()
    low[at], high[at] = 200, 400
    drawn = draw_filters(np.random.default_rng(0), space, Box(low, high), 5000)[:, at]
    assert set(np.unique(drawn)) == {*range(100, 200), *range(401, 501)}


def test_words_are_shown_as_words() -> None:
    space = load_space("meal", 1)
    _, shown = items(space, 1)
    for attribute in space.domain.attributes:
        value = shown[0][attribute.name]
        if isinstance(attribute, Number):
            assert attribute.low <= int(value) <= attribute.high
        else:
            assert value in attribute.values
