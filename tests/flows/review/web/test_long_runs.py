"""Runs of 200 turns are read to their end, a failed and a passed one next to each other."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from agenthard.flows.audit_plan import AuditSettings
from agenthard.flows.demo import write_demo
from tests.flows.audits import audit_by_steps
from tests.flows.review.web.served import Server, event
from tests.reports.browsing import Visit

TASK, FAILED, PASSED = "library/9", "library/9/quill-3/0", "library/9/quill-3/1"
"""A task with a finding that quotes a call of the failed run."""
LONG = "A long answer. " * 2_000


@pytest.fixture
def long_run(tmp_path: Path) -> Path:
    """Audit of the demo benchmark in which two runs of a model have 200 turns; what is quoted is at their end."""
    benchmark = tmp_path / "bench"
    write_demo(benchmark)
    file = benchmark / "runs.jsonl"
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        if row["id"] in (FAILED, PASSED):
            row["messages"] = [*talk(400 - len(row["messages"])), *row["messages"]]
        if row["id"] == PASSED:
            row |= {"score": 1.0, "passed": True}
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    settings = AuditSettings(source="native", path=str(benchmark), runs=(str(file),), out=str(tmp_path / "demo"))
    audit_by_steps(settings)
    return tmp_path / "demo"


def talk(count: int) -> list[dict[str, Any]]:
    roles = ("user", "assistant")
    said = [{"role": roles[i % 2], "content": f"This is message {i}."} for i in range(count)]
    said[5]["content"] = LONG
    return said


def run_of(visit: Visit, identity: str) -> Locator:
    return visit.page.locator(".run", has=visit.page.locator("p.where", has_text=re.compile(f"^{identity} ")))


@pytest.mark.browser
@pytest.mark.long
def test_every_message_of_a_failed_and_a_passed_run_can_be_read(
    serve: Callable[..., Server], long_run: Path, sign_in: Callable[..., Visit]
) -> None:
    server = serve(long_run)
    visit = sign_in(server, "ana", viewport={"width": 1600, "height": 900})
    page = visit.page
    page.goto(f"{server.base}/runs/demo/task?task={TASK}")
    models = page.locator(".model-choice")
    [long] = [each for each in models.locator("option").all_inner_texts() if "quill-3:" in each]
    models.select_option(label=long)
    runs = [run_of(visit, FAILED), run_of(visit, PASSED)]
    for run in runs:
        expect(run.locator(".message")).to_have_count(120)
        run.get_by_role("button", name="Show all of it").click()
        expect(run.locator(".message").nth(5)).to_contain_text(LONG.strip())
        for shown in (240, 360, 400):
            run.get_by_role("button", name="Show more messages").click()
            expect(run.locator(".message")).to_have_count(shown)
        expect(run.get_by_role("button", name="Show more messages")).to_be_hidden()
        assert page.evaluate("window.find('This is message 390.', false, false, true)")  # the browser's own search
    boxes = [run.bounding_box() for run in runs]
    assert boxes[0] and boxes[1] and abs(boxes[0]["y"] - boxes[1]["y"]) < 2 and boxes[0]["x"] != boxes[1]["x"]
    expect(page.locator("#instance-body mark")).to_have_count(0)
    expect(page.locator(".run details")).to_have_count(0)  # what is folded would tell what is quoted

    # What the chosen finding quotes at the end of a long run is loaded.
    with page.expect_navigation():
        page.keyboard.press("b")
    page.locator("[data-finding]", has_text="consensus-against-gold").click()
    models.select_option(label=long)
    expect(runs[0].locator(".message")).to_have_count(400)
    expect(runs[0].locator("mark")).to_have_count(1)
    expect(runs[0].locator("mark")).to_be_visible()
    folded = runs[0].locator(".message").nth(5).locator("details")
    expect(folded.locator("summary")).to_contain_text("A long answer.")
    expect(folded.locator("pre")).to_be_hidden()
    expect(runs[1].locator(".message")).to_have_count(120)
    page.locator("h1").click()
    for _ in range(page.locator("#instance-body mark:not(.other)").count() - 1):
        page.keyboard.press("e")
    expect(page.locator(".run mark.current")).to_be_in_viewport()


def test_messages_are_sent_from_a_place_on(serve: Callable[..., Server], long_run: Path) -> None:
    server = serve(long_run)
    with server.client("ana") as ana:

        def get(**query: str) -> Any:
            asked = {"task": TASK, "trajectory": FAILED, **query}
            return ana.http.get("/runs/demo/messages", params=asked)

        last = get(start="360").json()
        assert (len(last["messages"]), last["more"]) == (40, 0)
        assert last["messages"][0]["text"] == ["This is message 360."] and "mark" not in str(last)
        quoted = [message for message in last["messages"] if any(isinstance(piece, list) for piece in message["calls"])]
        assert not any(isinstance(piece, list) for message in quoted for call in message["calls"] for piece in call)
        [whole] = get(start="5", whole="1").json()["messages"]
        assert whole["text"] == [LONG] and not whole["cut"]
        assert get(start="900").json() == {"messages": [], "more": 0}
        assert get(trajectory="nope").status_code == 400 and get(task="nope").status_code == 400
        ana.stored(event("reveal", TASK))
        last = get(start="360").json()
        assert any(isinstance(piece, list) for m in last["messages"] for call in m["calls"] for piece in call)
