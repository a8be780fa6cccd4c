from typing import Any

import pytest

from agenthard.audit.evidence import text_at
from agenthard.audit.judge.context.state_records import cut
from agenthard.taxonomy import EnvironmentSpec
from tests.audit.judge.ferries import FERRIES
from tests.builders import make_task

LONG = "x" * 5000
DEEP: Any = "x" * 6000
for _ in range(300):
    DEEP = {"in": DEEP, "beside": [1]}
STATES = {
    "deep nesting": DEEP,
    "a table with calendars": FERRIES.state,
    "one string": LONG,
    "a number": 3,
    "an empty object": {},
    "keys with signs": {"a/b": {"~": LONG, "#1": [LONG, {}]}, "c#1": LONG},
    "plain members between containers": {"a": 1, "b": {"c": LONG}, "d": [1, 2], "e": None, "f": [LONG, 5]},
    "many plain members": {f"k{i}": "y" * 300 for i in range(40)},
    "a list of records": [{"order_id": f"o{i}", "text": "z" * 700} for i in range(9)],
}


@pytest.mark.parametrize("state", STATES.values(), ids=STATES.keys())
def test_every_piece_stands_at_its_pointer(state: Any) -> None:
    task = make_task(environment=EnvironmentSpec(state=state))
    records = cut(state, "/environment/state")
    for record in records:
        assert record.passage.pointer is not None
        assert record.passage.text in text_at(task, record.passage.pointer)
    # What is left out are keys, braces and commas.
    assert sum(len(record.passage.text) for record in records) >= 0.6 * len(text_at(task, "/environment/state"))


def test_a_calendar_is_opened_and_its_record_keeps_its_plain_members() -> None:
    parts = [record for record in cut(FERRIES.state, "/s") if record.record == "/s/sailings/F003"]
    days = [part for part in parts if part.entry]
    [plain] = [part for part in parts if not part.entry]
    assert [part.passage.label for part in days[:2]] == [f"/s/sailings/F003/dates/2031-06-0{n}" for n in (1, 2)]
    assert len(days) == 10
    assert plain.passage.label == "/s/sailings/F003#1"
    assert plain.passage.text == '"destination": "GENT", "leaves": "09:00", "origin": "RIGA", "sailing": "F003"'
    assert plain.fields == {("destination", "gent"), ("origin", "riga"), ("sailing", "f003")}
    assert {part.table for part in parts} == {"/s/sailings"}


def test_a_record_is_named_by_its_key_by_its_id_and_by_what_it_holds() -> None:
    shop = {"mugs": {"p1": {"name": "Mug", "kinds": {"i1": {"size": 1}, "i2": {"size": 2}}}, "p2": {"name": LONG}}}
    orders = [{"order_id": 4711, "of": "p1", "text": LONG}, {"order_id": 4712, "of": "p2", "text": ""}]
    records = {record.record: record for record in cut({"shop": shop, "orders": orders}, "")}
    assert records["/shop/mugs/p1"].keys == {"p1", "i1", "i2"}
    assert records["/orders/1"].keys == {"4712"}


def test_a_short_state_is_one_record() -> None:
    [record] = cut({"files": {"a.txt": "hello"}, "user": "ada"}, "/initial_state")
    assert (record.passage.label, record.passage.text) == (
        "/initial_state",
        '{"files": {"a.txt": "hello"}, "user": "ada"}',
    )
    assert cut(None, "/initial_state") == ()
