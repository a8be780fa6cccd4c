import json
from pathlib import Path

import pytest

from agenthard.audit.detectors.runs import ToolResponseContradiction
from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.registry import open_source
from agenthard.taxonomy import Message, Status, ToolCall
from tests.audit.detectors.runs.conversations import audit, called, played, shop_task
from tests.audit.execution.tau.conftest import make_task

CATALOGUE = json.dumps({"name": "Lamp", "variants": {"11": {"item_id": "11", "price": 40.5, "available": True}}})


def changed(price: float) -> tuple[Message, Message]:
    response = json.dumps({"order_id": "#W1", "items": [{"item_id": "11", "price": price}]})
    return called("change_items", response, order_id="#W1", new_item_ids=["11"])


def test_a_write_that_answers_with_another_value_than_asked_for() -> None:
    wrong = called("cancel_order", '{"order_id": "#W1", "reason": "no need"}', order_id="#W1", reason="mistake")
    right = called("cancel_order", '{"order_id": "#W1", "reason": "Mis_take"}', order_id="#W1", reason="mistake")
    runs = [played(*wrong), played(*right, trial=1), played(*wrong, task_id="t2", model="m2")]
    (finding,), _ = audit(ToolResponseContradiction(), [shop_task("t1"), shop_task("t2")], runs)
    assert "is asked for one value of reason and answers with another: 2 of the 3 responses" in finding.claim
    assert "in 2 runs (models: 2, tasks: 2)" in finding.claim
    assert finding.task_ids == ("t1", "t2")
    assert [item.quote for item in finding.evidence] == ["mistake", '"reason": "no need"']


@pytest.mark.parametrize("response", ['{"error": "no", "reason": "other"}', "Cancelled.", '["other"]', '{"reason": 7}'])
def test_responses_that_cannot_be_compared(response: str) -> None:
    run = played(*called("cancel_order", response, reason="mistake"))
    findings, coverage = audit(ToolResponseContradiction(), [shop_task()], [run])
    assert findings == []
    assert coverage[0].status is Status.NOT_CHECKED


def test_a_read_repeated_with_and_without_a_write_in_between() -> None:
    before, after = (called("get_order", text, order_id="#W1") for text in ('{"n": 1}', '{"n": 2}'))
    write = called("cancel_order", "{}", order_id="#W1")
    (finding,), _ = audit(ToolResponseContradiction(), [shop_task()], [played(*before, *before, *after)])
    assert "although nothing was written in between: 1 of the 2 responses" in finding.claim
    assert finding.also_in == ("t1",)  # the ground truth does not call get_order
    assert audit(ToolResponseContradiction(), [shop_task()], [played(*before, *write, *after)])[0] == []


def test_a_write_that_answers_with_another_value_than_the_catalogue() -> None:
    looked = called("get_product", CATALOGUE, product_id="1")
    (finding,), _ = audit(ToolResponseContradiction(), [shop_task()], [played(*looked, *changed(9.99), *changed(40.5))])
    assert "than was read before, without being asked to change it: 1 of the 2 responses" in finding.claim
    assert [item.quote for item in finding.evidence] == ['"price": 40.5', '"price": 9.99']


def test_a_value_that_the_call_sets_or_an_item_that_it_does_not_name_is_no_contradiction() -> None:
    looked = called("get_product", CATALOGUE, product_id="1")
    response = json.dumps({"items": [{"item_id": "11", "price": 1.0}]})
    asked = called("change_items", response, new_item_ids=["11"], price=1.0)
    unnamed = called("change_items", response, order_id="#W1")
    for answer in (asked, unnamed):
        assert audit(ToolResponseContradiction(), [shop_task()], [played(*looked, *answer)])[0] == []


def test_a_log_of_another_release_is_told_by_a_replay() -> None:
    task = make_task("tau-bench", "airline", [ToolCall(name="think", arguments={"thought": "x"})])
    known = called("send_certificate", "Certificate certificate_7 added.", user_id="ada_1", amount=50)
    (finding,), _ = audit(ToolResponseContradiction(), [task], [played(*known, task_id=task.id)])
    assert (finding.category, finding.task_ids, finding.also_in) == ("environment-drift", (), (task.id,))
    assert "send_certificate answered otherwise when the runs were recorded" in finding.claim
    assert finding.evidence[0].quote == "ificate certificate_7 added."


@pytest.mark.long
@pytest.mark.corpora
def test_the_cabin_that_tau_bench_does_not_store(corpora: Path) -> None:
    source = open_source("tau-bench", corpora / "tau-bench_59a200c", ("airline",))
    runs = list(source.runs(corpora / "trajectories" / "tau1_airline.jsonl.gz", Quarantine()))
    findings, _ = audit(ToolResponseContradiction(), list(source.tasks(Quarantine())), runs)
    (cabin,) = (finding for finding in findings if finding.category == "incorrect-tool-response")
    assert "update_reservation_flights is asked for one value of cabin" in cabin.claim
    assert cabin.measures["wrong"] == 369
