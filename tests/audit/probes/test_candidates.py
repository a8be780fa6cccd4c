import math
from typing import Any

import pytest

from agenthard.audit.probes import CandidatesError, Rule, read_scene
from agenthard.audit.probes.candidates import as_number
from agenthard.audit.probes.table import Table


def choice(**changes: Any) -> dict[str, Any]:
    return {"candidates": [{"id": "a", "price": 3}, {"id": "b", "price": 5}], "truth": "b", **changes}


def test_a_task_is_read() -> None:
    data = {
        "kind": "market",
        "group": "hard",
        "shown": [{"id": "c", "price": 4}],
        "pool": ["c", "b", "a"],
        "sets": [choice(id="(0, 1)", rules=[{"attribute": "price", "min": 4}], look_ahead={"mean": [0, 1.5]})],
    }
    scene = read_scene(data, "t1", "Choose.")
    assert (scene.id, scene.kind, scene.group, scene.pool, scene.text) == (
        "t1",
        "market",
        "hard",
        ("c", "b", "a"),
        "Choose.",
    )
    [only] = scene.sets
    assert (only.id, only.truth, only.look_ahead) == ("(0, 1)", 1, {"mean": (0.0, 1.5)})
    assert only.rules == (Rule("price", 4.0, upper=False),)


def test_a_choice_is_named_by_its_number() -> None:
    assert [s.id for s in read_scene({"sets": [choice(), choice()]}, "t").sets] == ["0", "1"]


def test_a_rule_about_a_missing_number_is_not_met() -> None:
    items = [{"id": "a", "price": "cheap"}, {"id": "b", "price": 3}, {"id": "c"}]
    table = Table.build(
        [read_scene({"sets": [choice(candidates=items, rules=[{"attribute": "price", "max": 4}])]}, "t")]
    )
    assert table.allowed.tolist() == [False, True, False]


@pytest.mark.parametrize("value", [True, None, "3", [3], math.inf, math.nan, 10**400])
def test_what_is_no_number(value: object) -> None:
    assert math.isnan(as_number(value))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "candidates: an object is needed, this is list"),
        ({}, "candidates/sets: a list is needed, this is NoneType"),
        ({"sets": [choice(truth="z")]}, "candidates/sets/0/truth: 'z' is not the id of a candidate"),
        ({"sets": [choice(candidates=[{"id": "b"}, {"id": "b"}])]}, "an id is offered twice"),
        ({"sets": [choice(candidates=[{"id": 1}])]}, "candidates/sets/0/candidates/0/id: text is needed"),
        ({"sets": [choice(rules=[{"attribute": "price"}])]}, "candidates/sets/0/rules/0: a rule has either"),
        ({"sets": [choice(rules=[{"attribute": "price", "max": "4"}])]}, "rules/0/max: '4' is not a number"),
        ({"sets": [choice(look_ahead={"mean": [1]})]}, "look_ahead/mean: 1 scores for 2 candidates"),
        ({"sets": [], "pool": [3]}, "candidates/pool/0: text is needed"),
    ],
)
def test_what_is_not_in_the_layout_is_refused_with_its_place(data: object, message: str) -> None:
    with pytest.raises(CandidatesError, match=message):
        read_scene(data, "t")
