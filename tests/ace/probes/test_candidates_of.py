import json

from agenthard.ace.probes import candidates_of
from agenthard.audit.probes import read_scene
from agenthard.audit.probes.table import Table
from tests.ace.environment.small import instance


def test_an_instance_in_the_neutral_layout() -> None:
    data = candidates_of(instance())
    assert (data["kind"], data["group"]) == ("course", "B = 2")
    assert [item["id"] for item in data["shown"]] == ["C1", "C2"]
    assert data["pool"] == ["C1", "C2", "C11", "C12", "C13", "C21", "C22", "C23"]
    upper, lower = data["sets"]
    assert (upper["id"], upper["truth"], lower["id"], lower["truth"]) == ("(0, 1)", "C11", "(1, 0)", "C21")
    assert [c["id"] for c in upper["candidates"]] == ["C13", "C11", "C12"]
    assert upper["rules"] == [{"attribute": "price", "max": 300}, {"attribute": "credits", "min": 2}]
    assert "course_id" not in upper["candidates"][0] and upper["candidates"][0]["name"] == "Film 113"
    assert set(upper["look_ahead"]) == {"mean", "probability"}


def test_the_layout_is_json_that_the_battery_reads() -> None:
    scene = read_scene(json.loads(json.dumps(candidates_of(instance()))), "one")
    table = Table.build([scene])
    # The rules leave the truth and its decoy, in the order of the file.
    assert table.keep(table.allowed & table.ruled).ids == ("C11", "C12", "C21", "C22")
