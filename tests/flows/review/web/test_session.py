"""One session of two people in a real browser, from the queue to a new split."""

import json
from collections.abc import Callable, Collection
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean
from uuid import uuid4

import pyarrow.parquet
import pytest
from playwright.sync_api import Page, expect
from typer.testing import CliRunner

from agenthard.flows.audited_run import read_decisions
from agenthard.flows.cli import app
from agenthard.flows.report import ReportSettings, make_report
from agenthard.flows.review.decide import ReviewedRun
from agenthard.flows.review.events import Event
from agenthard.flows.review.store import EventStore
from agenthard.reports.cleaning.inputs import AnalysisSettings
from tests.flows.review.web.served import Process, Server, users_file, verdict
from tests.reports.browsing import Visit

pytestmark = [pytest.mark.browser, pytest.mark.long]
DROPPED = "parcels/11"


def press(page: Page, keys: str) -> None:
    """Press keys, once the scripts of the page have run."""
    page.wait_for_load_state("load")
    for key in keys.split():
        page.keyboard.press(key)


def open_task(page: Page, task_id: str) -> None:
    page.goto(f"{page.url.partition('/runs/')[0]}/runs/demo/task?task={task_id}")
    expect(page.locator("#instance-body .part-of").first).to_be_visible()


def mine(page: Page) -> str:
    return page.locator("section:has(#verdict-title) .said").inner_text()


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest, demo_run: Path) -> str:
    """URL of the store of the session: that of the run folder, and one in PostgreSQL."""
    if request.param == "sqlite":
        return f"sqlite:///{demo_run / 'review.db'}"
    found: str = request.getfixturevalue("postgresql_url")
    return found


def leaderboard(run: Path) -> tuple[str, int, dict[str, float]]:
    """The leaderboard of the cleaned split in the report on cleaning: its split, its tasks, the score of each model."""
    boards = json.loads((run / "report/analysis.json").read_bytes())["leaderboards"]
    [board] = [each for each in boards if each["split"] == "cleaned"]
    return board["split_id"], board["n"], {row["model"]: row["score"]["value"] for row in board["rows"]}


def score(run: Path, model: str, kept: Collection[str]) -> float:
    """Mean over tasks of the share of their scored runs that pass."""
    table = pyarrow.parquet.read_table(run / "tables/trajectories.parquet", columns=["task_id", "model", "passed"])
    rows = [row for row in table.to_pylist() if row["model"] == model and row["task_id"] in kept]
    passed = {
        task_id: [row["passed"] for row in rows if row["task_id"] == task_id and row["passed"] is not None]
        for task_id in kept
    }
    return mean(mean(each) for each in passed.values() if each)


def test_a_session_of_two_people(
    process: Callable[..., Process],
    home: Path,
    demo_run: Path,
    sign_in: Callable[..., Visit],
    tmp_path: Path,
    store_url: str,
) -> None:
    make_report(ReportSettings(run=str(demo_run), analysis=AnalysisSettings(draws=200, resamples=200)))
    board = leaderboard(demo_run)
    server = process("--users", str(users_file(home)), "--store", store_url)
    visit = sign_in(server, "ana")
    ana = visit.page

    # A filter, the first instance of the list, a blind verdict that disagrees, and the sentence why.
    ana.locator("select[name=runs]").select_option("all_fail")
    ana.wait_for_url("**/queue?runs=all_fail")
    ana.wait_for_load_state("load")
    press(ana, "j Enter")
    expect(ana.locator(".veiled")).to_contain_text("unfolds after your verdict")
    open_task(ana, DROPPED)
    expect(ana.locator("#instance-body mark")).to_have_count(0)
    press(ana, "n Enter")
    expect(ana.locator("#why")).to_contain_text("call-schema found something")
    expect(ana.locator("#instance-body mark").first).to_be_visible()
    ana.locator("#why-text").fill("The shop reads numbers from text.")
    ana.keyboard.press("Control+Enter")
    expect(ana.locator(".reason").first).to_have_text("The shop reads numbers from text.")
    assert "blind" in mine(ana) and "not blind" not in mine(ana)

    # One answer for many findings, and back.
    ana.goto(f"{server.base}/runs/demo/causes")
    ana.get_by_role("link", name="Gold values that nothing").first.click()
    boxes = ana.locator("input[type=checkbox][name=finding]")
    count = boxes.count()
    assert count > 1
    press(ana, "y Enter")
    expect(ana.locator(".picks")).to_contain_text("ana: true")
    assert ana.locator(".picks").inner_text().count("ana: true") == count
    press(ana, "z")
    expect(ana.locator("#state")).to_have_text(f"Taken back: {count} decisions.")
    assert "ana: true" not in ana.locator(".picks").inner_text()

    # The server is killed; the verdict waits in the browser, also over a reload, and is stored once.
    open_task(ana, "library/0")
    server.kill()
    press(ana, "n Enter")
    expect(ana.locator("#state")).to_contain_text("Not saved yet")
    assert all("ERR_" in problem for problem in visit.problems)
    server.start()
    ana.reload()
    expect(ana.locator(".said").first).to_contain_text("not flawed")
    visit.problems[:] = [problem for problem in visit.problems if "ERR_" not in problem]
    with EventStore(store_url) as store:
        assert [each.target_id for each in store.since() if each.kind == "verdict"].count("library/0") == 1

    # A second person looks at the same task, and sees nothing of the first one's answer before the own verdict.
    ben = sign_in(server, "ben").page
    open_task(ben, "library/0")
    expect(ben.locator("#here")).to_have_text("· ana also looks at this task")
    expect(ana.locator("#here")).to_have_text("· ben also looks at this task")
    assert "ana:" not in ben.locator("aside").inner_text()
    press(ben, "3 1 Enter")
    expect(ben.locator(".said-by").first).to_contain_text("ana: ✓ not flawed")
    expect(ana.locator("#others")).to_contain_text("ben: ✕ flawed, Too lenient")

    # The dispute is adjudicated.
    ana.goto(f"{server.base}/runs/demo/disputes")
    ana.get_by_label("Flawed", exact=True).check()
    ana.get_by_label("Why").fill("It asks for nothing.")
    ana.get_by_role("button", name="Adjudicate").click()
    expect(ana.locator("main")).to_contain_text("No open disputes")

    # Export, and decide.
    ana.goto(f"{server.base}/runs/demo/progress")
    with ana.expect_download() as download:
        ana.get_by_role("link", name="events", exact=True).click()
    exported = tmp_path / "events.jsonl"
    download.value.save_as(exported)
    with EventStore(store_url) as store:
        assert len(exported.read_text(encoding="utf-8").splitlines()) == len(list(store.since()))
    before = {each.task_id: each.action for each in read_decisions(demo_run)}
    done = CliRunner().invoke(app, ["decide", str(demo_run), "--json", "--verdicts", store_url])
    assert done.exit_code == 0, done.output
    outcome = json.loads(done.output)
    after = {each.task_id: each.action for each in read_decisions(demo_run)}
    assert (before[DROPPED], after[DROPPED]) == ("drop", "keep") and (before["library/0"], after["library/0"]) != (
        "drop",
        "keep",
    )
    assert after["library/0"] == "drop" and outcome["decisions"]["drop"] == list(after.values()).count("drop")

    # The new split, and the new leaderboard on it.
    manifest = json.loads((demo_run / "split/cleaned/manifest.json").read_bytes())
    kept = manifest["kept_ids"]
    assert DROPPED in kept and "library/0" not in kept and len(kept) == outcome["kept"]
    written = [json.loads(line)["id"] for line in (demo_run / "split/cleaned/tasks.jsonl").read_bytes().splitlines()]
    assert sorted(written) == sorted(kept)
    split_id, tasks, scores = leaderboard(demo_run)
    assert tasks == len(kept) and split_id != board[0] and manifest["split_id"] == outcome["split_id"]
    assert scores != board[2] and len(scores) == 8
    for model, value in scores.items():
        assert value == pytest.approx(score(demo_run, model, kept))
    assert (demo_run / "review.db").exists() == store_url.startswith("sqlite")


def test_ten_verdicts_by_keyboard(server: Server, sign_in: Callable[..., Visit], demo_run: Path) -> None:
    page = sign_in(server, "ana").page
    press(page, "j")
    page.keyboard.press("Enter")
    keys = 0
    for number in range(10):
        expect(page.locator(".veiled")).to_be_visible()
        expect(page.locator("#instance-body .part-of").first).to_be_visible()
        told = page.locator("h1").inner_text()
        for key in ("n", "Enter") if number % 2 else ("4", "2", "Enter"):
            page.keyboard.press(key)
            keys += 1
        expect(page.locator("section:has(#verdict-title) .said")).to_be_visible()
        expect(page.locator("#instance-body .part-of").first).to_be_visible()
        assert page.locator("h1").inner_text() == told
        page.keyboard.press("j")
        keys += 1
        expect(page.locator("h1")).not_to_have_text(told)
    assert keys == 35  # 3 and 4 keys in turn
    with EventStore.of_run(demo_run) as store:
        kept = list(store.since())
    assert [each.data["flaw"] for each in kept] == ["yes", "no"] * 5 and all(each.data["blind"] for each in kept)


def test_keys_of_a_task(server: Server, sign_in: Callable[..., Visit]) -> None:
    page = sign_in(server, "ana").page
    open_task(page, DROPPED)
    press(page, "s c c u")
    assert page.locator("[name=severity]:checked").get_attribute("value") == "may_affect_score"
    assert page.locator("[name=confidence]:checked").get_attribute("value") == "low"
    assert page.locator("[name=flaw]:checked").get_attribute("value") == "cannot_tell"
    press(page, "9 9")
    expect(page.locator("#state")).to_have_text("No category has the keys 99.")
    press(page, "e")
    expect(page.locator("#state")).to_contain_text("unfold after your verdict")
    press(page, "?")
    expect(page.locator("#keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#keys")).to_be_hidden()
    press(page, "b")
    expect(page.locator("#instance-body mark").first).to_be_visible()
    press(page, "e")
    expect(page.locator("mark.current")).to_be_in_viewport()
    press(page, "t")
    expect(page.locator('.part-of[aria-label="Runs"]')).to_be_in_viewport()
    press(page, "y")
    press(page, "Enter")
    expect(page.locator("#state")).to_contain_text("A flaw needs a category")
    press(page, "4 1 Enter")
    expect(page.locator("section:has(#verdict-title) .said")).to_contain_text("Malformed tool calls")
    press(page, "x")
    expect(page.locator("#trial")).to_contain_text("the finding is gone", timeout=30_000)
    page.get_by_role("button", name="Accept the repair").click()
    expect(page.locator("main")).to_contain_text("ana has accepted a patch")
    page.go_back()
    press(page, "/")
    expect(page.locator("h1")).to_have_text("Queue")


def test_everything_can_be_reached_by_tab(server: Server, sign_in: Callable[..., Visit]) -> None:
    page = sign_in(server, "ana").page
    open_task(page, DROPPED)
    reached = set()
    for _ in range(120):
        page.keyboard.press("Tab")
        here = page.evaluate(
            "() => [document.activeElement.id || document.activeElement.name || document.activeElement.rel,"
            " getComputedStyle(document.activeElement).outlineStyle]"
        )
        if here[0]:
            reached.add(here[0])
            assert here[1] != "none", f"the focus on {here[0]} is not visible"
    assert {"help", "next", "flaw", "category", "severity", "confidence", "reason", "reveal"} <= reached


def test_one_of_two_pages_hears_of_the_other(server: Server, sign_in: Callable[..., Visit]) -> None:
    page = sign_in(server, "ana").page
    expect(page.locator("#figures")).to_contain_text("reviewed 0 of 60")
    with server.client("ben") as ben:
        ben.stored(verdict("library/0"))
    expect(page.locator("#figures")).to_contain_text("reviewed 1 of 60")


def test_what_another_process_stores_is_heard_too(
    server: Server, sign_in: Callable[..., Visit], demo_run: Path
) -> None:
    page = sign_in(server, "ana").page
    event = Event(
        id=uuid4(),
        at=datetime.now(UTC),
        by="zoe",
        run="demo",
        kind="verdict",
        target="task",
        target_id="library/0",
        content_hash=ReviewedRun(demo_run).contents["task", "library/0"],
        data={"flaw": "no"},
    )
    expect(page.locator("#figures")).to_contain_text("reviewed 0 of 60")
    with EventStore.of_run(demo_run) as store:
        store.append([event])
    expect(page.locator("#figures")).to_contain_text("reviewed 1 of 60")
