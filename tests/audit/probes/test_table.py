from typing import Any

import numpy as np
import pytest

from agenthard.audit.probes import read_scene
from agenthard.audit.probes.columns import count_equal
from agenthard.audit.probes.order import settled_places
from agenthard.audit.probes.plausible import consistency_probes
from agenthard.audit.probes.table import Table
from tests.audit.probes.benchmark import scenes, tasks


def build(*choices: dict[str, Any], **scene: Any) -> Table:
    return Table.build([read_scene({"sets": choices, **scene}, "t")])


def choice(prices: list[Any], rules: list[dict[str, Any]] | None = None, prefix: str = "c") -> dict[str, Any]:
    items = [{"id": f"{prefix}{number}", "price": price} for number, price in enumerate(prices)]
    return {"candidates": items, "truth": f"{prefix}0", "rules": rules or []}


def test_ranks_are_within_the_choice_and_ties_share_theirs() -> None:
    table = build(choice([5, 1, 3, 3]), choice([7, 9], prefix="d"))
    assert table.ranks(table.columns[0].values).tolist() == [1.0, 0.0, 0.5, 0.5, 0.0, 1.0]


def test_ranks_pass_over_unknown_values() -> None:
    table = build(choice([5, 1, 3]))
    assert table.ranks(np.array([2.0, np.nan, 4.0])).tolist()[::2] == [0.0, 1.0]
    assert np.isnan(table.ranks(np.array([2.0, np.nan, 4.0]))[1])


def test_reductions_are_per_choice() -> None:
    table = build(choice([5, 1]), choice([7, 9], prefix="d"))
    values = table.columns[0].values
    assert table.mean(values).tolist() == [3, 3, 8, 8]
    assert table.total(values > 4).tolist() == [1, 1, 2, 2]


def test_keeping_rows_drops_choices_without_answer_or_rival() -> None:
    limit = [{"attribute": "price", "max": 6}]
    table = build(choice([5, 1, 9], limit), choice([7, 5, 4], limit, "d"), choice([5, 8], limit, "e"))
    kept = table.keep(table.allowed)
    assert kept.ids == ("c0", "c1")
    assert kept.names == (("t", "0"),)
    assert kept.origin.tolist() == [0, 1] and kept.sizes.tolist() == [2]


def test_the_margin_is_a_share_of_the_range_of_the_attribute() -> None:
    table = build(choice([5, 1, 9], [{"attribute": "price", "max": 7}]))
    assert table.margin.tolist() == [2 / 8, 6 / 8, 2 / 8]
    assert np.isnan(table.hide_ruled().margin).all() and np.isnan(table.hide_ruled().columns[0].values).all()


def test_frequencies_count_the_items_of_the_task() -> None:
    table = build(choice([5, 1, 5]), choice([5, 9], prefix="d"), shown=[{"id": "s", "price": 9}])
    assert table.columns[0].common.tolist() == [3, 1, 3, 3, 2]
    assert count_equal(table.choice, table.columns[0].values).tolist() == [2, 1, 2, 1, 1]


def test_text_is_taken_apart() -> None:
    names = ["Red Barn 12", "Blue Barn 7", "Blue House 105"]
    items = [{"id": f"c{n}", "name": name} for n, name in enumerate(names)]
    table = build({"candidates": items, "truth": "c0"})
    columns = {column.name: column.values.tolist() for column in table.columns}
    assert columns["number in name"] == [12, 7, 105]
    assert columns["length of name"] == [11, 11, 14]
    assert columns["alphabetical place of name"] == [2, 0, 1]
    assert columns["commonness of the rarest word of name"] == [1, 2, 1]
    assert {column.source for column in table.columns} == {"text"}


def test_attributes_of_different_kinds_stay_apart() -> None:
    made = [read_scene({"kind": kind, "sets": [choice([1, 2])]}, kind) for kind in ("shop", "zoo")]
    table = Table.build(made)
    assert [column.name for column in table.columns] == ["price (shop)", "price (zoo)"]
    assert table.columns[0].values.tolist()[:2] == [1, 2] and np.isnan(table.columns[0].values[2:]).all()


def test_settled_choices_tell_their_place_to_open_ones_and_to_settled_ones_after_them() -> None:
    limit = [{"attribute": "price", "max": 6}]
    first, open_one, later = choice([5, 9, 9], limit), choice([5, 5, 9], limit, "d"), choice([5, 7, 9], limit, "e")
    later["candidates"].reverse()
    places = settled_places(build(first, open_one, later))
    assert np.isnan(places[:3]).all()
    assert places[3:6].tolist() == [1, 0, 1]
    assert places[6:].tolist() == [1, 0, 0]


def test_words_that_decide_one_another_are_learned_from_the_shown_items() -> None:
    made = tasks(number=20)
    wrong = made[0]["sets"][0]["candidates"][0]
    wrong["fruit"] = "plum" if wrong["fruit"] != "plum" else "apple"
    [probe] = consistency_probes(Table.build(scenes(made)))
    assert probe.score[0] == -1 and probe.score.sum() == -1
    assert "fruit against words of name 1×" in probe.detail


@pytest.mark.parametrize("size", [0, 1])
def test_choices_without_a_rival_are_left_out(size: int) -> None:
    data = {"sets": [choice([5] * size)] if size else []}
    assert len(Table.build([read_scene(data, "t")])) == 0
