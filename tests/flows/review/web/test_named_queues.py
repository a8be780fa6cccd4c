"""The form of a verdict asks for what the named queue of the task wants."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect
from typer.testing import CliRunner

from agenthard.flows.cli import app
from agenthard.flows.review.store import EventStore
from tests.flows.review.web.served import Server
from tests.reports.browsing import Visit

pytestmark = [pytest.mark.browser, pytest.mark.long]
QUEUE = """name: few
rule: {check: [call-schema]}
fields: [confidence]
instructions: Could a right agent fail?
reviewers: [ben]
"""


def test_a_queue_asks_for_its_fields_only(
    server: Server, sign_in: Callable[..., Visit], demo_run: Path, tmp_path: Path
) -> None:
    (tmp_path / "few.yaml").write_text(QUEUE, encoding="utf-8")
    done = CliRunner().invoke(app, ["queue", "add", str(demo_run), "--config", str(tmp_path / "few.yaml")])
    assert done.exit_code == 0, done.output
    page = sign_in(server, "ben").page
    page.goto(f"{server.base}/runs/demo/queue?queue=few")
    expect(page.locator(".notice.reason-text")).to_have_text("Could a right agent fail?")
    with page.expect_navigation():
        page.keyboard.press("j")
        page.keyboard.press("Enter")
    expect(page.locator(".notice.reason-text")).to_have_text("few: Could a right agent fail?")
    assert [page.locator(f"[name={name}]").count() > 0 for name in ("flaw", "confidence")] == [True, True]
    assert page.locator("[name=category], [name=severity], [name=reason]").count() == 0
    for key in ("4", "1", "s", "y", "c", "Enter"):
        page.keyboard.press(key)
    expect(page.locator("section:has(#verdict-title) .said")).to_contain_text("flawed, confidence medium")
    task_id = page.locator("h1").inner_text()
    with EventStore.of_run(demo_run) as store:
        [kept] = [event for event in store.since() if event.kind == "verdict"]
    assert {"flaw", "confidence", "blind", "seconds"} == set(kept.data)

    # The same form without the filter, since the task was assigned in this queue; and every field for others.
    page.goto(f"{server.base}/runs/demo/task?task={task_id}")
    expect(page.locator(".notice.reason-text")).to_contain_text("Could a right agent fail?")
    ana = sign_in(server, "ana").page
    ana.goto(f"{server.base}/runs/demo/task?task={task_id}")
    expect(ana.locator("#verdict [name=category]").first).to_be_attached()
    assert ana.locator(".notice.reason-text").count() == 0
