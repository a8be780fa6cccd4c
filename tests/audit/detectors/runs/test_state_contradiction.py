import json
from pathlib import Path
from typing import Any

import pytest

from agenthard.audit.detectors.runs import StateContradiction
from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.registry import open_source
from agenthard.taxonomy import AgentTask, EnvironmentSpec, Finding, Message, Status, ToolSpec, Trajectory
from tests.audit.detectors.runs.conversations import TOOLS, audit, called, played
from tests.builders import make_task

LAMP = {"name": "Lamp", "price": 40.5, "tags": ["new", "red"], "size": {"high": 30, "wide": 10}}
CHAIR = {"name": "Chair", "price": 90.0, "tags": [], "size": {"high": 80, "wide": 40}}
ENVIRONMENT = EnvironmentSpec(
    tools=(*TOOLS, ToolSpec(name="list_products", effect="read")),
    state={"shop": {"products": {"7": LAMP, "8": CHAIR}, "orders": [{"order_id": "#W1", "total": 5, "user_id": "u"}]}},
)
SHOP = make_task("t1", environment=ENVIRONMENT)
RIGHT = [called("get_product", json.dumps(LAMP), product_id="7")] * 2


def flagged(*messages: Message, task: AgentTask = SHOP) -> list[Finding]:
    beside = [played(*answer, trial=i + 1) for i, answer in enumerate(RIGHT)]
    return audit(StateContradiction(), [task], [played(*messages), *beside])[0]


@pytest.mark.parametrize(
    ("response", "told"),
    [
        (LAMP | {"price": 41.5}, "price = 41.5"),
        (LAMP | {"name": "Lantern"}, 'name = "Lantern"'),
        ({"ok": True, "data": LAMP | {"price": 9}}, "price = 9"),
        ({"7": LAMP | {"size": {"high": 31, "wide": 10}}}, "high = 31"),
        ({"found": [LAMP | {"product_id": "7", "name": "Chair"}]}, 'name = "Chair"'),
    ],
)
def test_a_record_with_another_value_than_in_the_state(response: Any, told: str) -> None:
    (finding,) = flagged(*called("get_product", json.dumps(response), product_id="7"))
    assert told in finding.claim and 'of "7"' in finding.claim
    assert finding.task_ids == ("t1",)
    assert (finding.measures["wrong"], finding.measures["values"]) == (1, 3)


@pytest.mark.parametrize(
    "response",
    [
        LAMP,
        LAMP | {"price": 40.504},
        LAMP | {"name": "LAMP"},
        LAMP | {"name": "La..."},
        LAMP | {"tags": ["red", "new"]},
        LAMP | {"price": "40.50 EUR"},
        {"name": "Lantern", "stock": 4, "shelf": 2},
        {"price": 9},
        {"8": LAMP | {"name": "Chair", "price": 90.0, "size": CHAIR["size"]}},
        "Error: no such product",
    ],
)
def test_what_agrees_or_is_no_record_of_the_state(response: Any) -> None:
    assert flagged(*called("get_product", json.dumps(response), product_id="7")) == []


def test_after_a_write_the_state_is_not_known() -> None:
    wrong = called("get_product", json.dumps(LAMP | {"price": 1.0}), product_id="7")
    assert len(flagged(*called("get_order", "{}", order_id="#W1"), *wrong)) == 1
    assert flagged(*called("cancel_order", "{}", order_id="#W1"), *wrong) == []
    assert flagged(*called("undocumented", "{}"), *wrong) == []


def test_a_field_that_a_tool_mostly_gives_otherwise_is_computed() -> None:
    runs = [
        played(*called("get_product", json.dumps(LAMP | {"price": 50.0 + trial}), product_id="7"), trial=trial)
        for trial in range(3)
    ]
    findings, coverage = audit(StateContradiction(), [SHOP], runs)
    assert findings == [] and coverage[0].status is Status.CLEAN


def test_a_task_with_a_state_of_its_own() -> None:
    wrong = called("get_product", json.dumps(LAMP | {"price": 12.0}), product_id="7")
    own = make_task(
        "t1", environment=ENVIRONMENT, initial_state={"products": {"7": LAMP | {"price": 12.0}, "8": CHAIR}}
    )
    assert [finding.measures["wrong"] for finding in flagged(*wrong, task=own)] == []
    acted_on = make_task("t1", environment=ENVIRONMENT, initial_state={"initialization_actions": [{"name": "x"}]})
    findings, coverage = audit(StateContradiction(), [acted_on], [played(*wrong)])
    assert findings == [] and coverage[0].status is Status.NOT_CHECKED


@pytest.mark.corpora
def test_real_runs_have_none_until_a_value_is_changed(corpora: Path) -> None:
    source, quarantine = open_source("tau-bench", corpora / "tau-bench_59a200c", ("retail",)), Quarantine()
    tasks = {task.id: task for task in source.tasks(quarantine)}
    detector = StateContradiction()
    compared = wrong = changed = found = 0
    for run in source.runs(corpora / "trajectories" / "tau1_retail.jsonl.gz", quarantine):
        for note in detector.observe(tasks[run.task_id], iter([run])):
            compared += (note.value or {"compared": 0})["compared"]
            wrong += (note.value or {"wrong": 0})["wrong"]
        broken = with_another_city(run)
        if broken is not None:
            changed += 1
            found += any(note.evidence for note in detector.observe(tasks[run.task_id], iter([broken])))
            if changed == 50:
                break
    assert compared > 1000
    assert (wrong, found) == (0, 50)


def with_another_city(run: Trajectory) -> Trajectory | None:
    """Give the first order that is looked up another city, before anything is written."""
    for i, message in enumerate(run.messages):
        if not all(call.name.startswith(("find_", "get_")) for call in message.tool_calls):
            return None
        if message.tool_name == "get_order_details" and message.content.startswith('{"order_id"'):
            order = json.loads(message.content)
            order["address"]["city"] += " Falls"
            changed = message.model_copy(update={"content": json.dumps(order)})
            return run.model_copy(update={"messages": (*run.messages[:i], changed, *run.messages[i + 1 :])})
    return None
