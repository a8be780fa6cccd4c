"""The pages of the review: accessible in both themes, narrow and enlarged; hostile text does nothing."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from agenthard.flows.audit_plan import AuditSettings
from agenthard.flows.demo import write_demo
from tests.flows.audits import audit_by_steps
from tests.flows.review.web.served import Client, Server, event, verdict
from tests.flows.review.web.test_http import CAUSE
from tests.reports.browsing import Visit
from tests.reports.shop import ATTACK
from tests.reports.test_accessibility import assert_accessible

pytestmark = [pytest.mark.browser, pytest.mark.long]
DROPPED, FIXED = "parcels/11", "a38334e9881a"
LOOKS = [("light", 1440, 1), ("dark", 1440, 1), ("light", 390, 1), ("dark", 720, 2)]
"""Theme, width and scale; the last is a window of 1440 at a zoom of 200 %."""


def prepared(client: Client, other: Client) -> list[str]:
    """Give verdicts so that every page has something to show; return the addresses of the pages."""
    client.stored(verdict(DROPPED), verdict("library/0", "yes", category="too-lenient", reason="Why not?"))
    other.stored(verdict("library/0"), event("reveal", "parcels/7"))
    causes = CAUSE.findall(client.page("causes"))
    client.stored(event("assignment", "library/4", reviewer="ben"))
    return [
        *("queue", "queue?category=malformed-tool-call", "queue?q=nothing", "task?task=library/4"),
        *(f"task?task={DROPPED}", "task?task=library/0", "causes", f"cause?cause={causes[0]}"),
        *(f"cause?cause={causes[-1]}", "disputes", f"repair?task={DROPPED}", "progress", "assign", "history"),
        *("/runs/later/history", f"/runs/later/history?finding={FIXED}"),
    ]


def fits(page: Page) -> bool:
    found: bool = page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    return found


def test_a_page_learns_what_was_stored_while_it_was_on_its_way(
    serve: Callable[..., Server], demo_run: Path, sign_in: Callable[..., Visit]
) -> None:
    server = serve(demo_run)
    page = sign_in(server, "ana").page

    def slow(route: Route) -> None:
        rendered = route.fetch()
        with server.client("ana") as ana:  # what an earlier page of hers had sent
            ana.stored(verdict("library/0"))
        route.fulfill(response=rendered)

    page.route(re.compile("/task\\?"), slow, times=1)
    page.goto(f"{server.base}/runs/demo/task?task=library/0")
    expect(page.locator(".said").first).to_contain_text("not flawed")


@pytest.mark.parametrize(("scheme", "width", "scale"), LOOKS)
def test_pages_are_accessible_and_fit(
    serve: Callable[..., Server],
    demo_run: Path,
    later: Path,
    sign_in: Callable[..., Visit],
    scheme: str,
    width: int,
    scale: int,
) -> None:
    server = serve(demo_run, later)
    size = {"width": width, "height": 900 // scale}
    page = sign_in(server, "ana", color_scheme=scheme, viewport=size, device_scale_factor=scale).page
    with server.client("ana") as ana, server.client("ben") as ben:
        for address in prepared(ana, ben):
            page.goto(server.base + (address if address.startswith("/") else f"/runs/demo/{address}"))
            if address.startswith("task"):
                expect(page.locator("#instance-body .part-of").first).to_be_visible()
            if address.startswith("repair"):
                expect(page.locator("#trial")).to_contain_text("the finding is gone", timeout=30_000)
            assert_accessible(page)
            assert fits(page), address
    page.keyboard.press("?")
    assert_accessible(page)
    page.context.clear_cookies()
    page.goto(f"{server.base}/enter")
    assert_accessible(page)


@pytest.fixture
def hostile_run(tmp_path: Path) -> Path:
    """Run folder of the demo benchmark with an attack in ids, dialogues, tools, policies, gold calls and runs."""
    benchmark = tmp_path / "bench"
    write_demo(benchmark)
    attack = json.dumps(ATTACK)[1:-1]
    for name, old, new in (
        ("tasks.jsonl", '"1250"', f'"1250 {attack}"'),
        ("tasks.jsonl", '"parcels/11"', f'"parcels/11{attack}"'),
        ("runs.jsonl", '"parcels/11"', f'"parcels/11{attack}"'),
        ("tasks.jsonl", "KP-", f"{attack}KP-"),
        ("environments.jsonl", "Rule P1", f"{attack} Rule P1"),
        ("environments.jsonl", "Whether the next", f"{attack} Whether the next"),
        ("runs.jsonl", '"model": "quill-3"', f'"model": "quill-3{attack}"'),
        ("runs.jsonl", "I claim", f"{attack} I claim"),
    ):
        file = benchmark / name
        text = file.read_text(encoding="utf-8")
        assert old in text, (name, old)
        file.write_text(text.replace(old, new), encoding="utf-8")
    settings = AuditSettings(
        source="native", path=str(benchmark), runs=(str(benchmark / "runs.jsonl"),), out=str(tmp_path / "demo")
    )
    audit_by_steps(settings)
    return tmp_path / "demo"


@pytest.fixture
def hostile(serve: Callable[..., Server], hostile_run: Path) -> Iterator[Server]:
    yield serve(hostile_run)


def test_hostile_text_stays_text(hostile: Server, sign_in: Callable[..., Visit], tmp_path: Path) -> None:
    task_id = f"parcels/11{ATTACK}"
    page = sign_in(hostile, "ana").page

    def inert(wanted: str = "") -> None:
        assert page.locator("img, iframe, object, embed, [onerror], [onclick]").count() == 0
        assert page.locator("script:not([src]):not([type='application/json'])").count() == 0
        if wanted:
            expect(page.locator("body")).to_contain_text(wanted)

    with hostile.client("ana") as ana, hostile.client("ben") as ben:
        ana.stored(verdict(task_id, reason=ATTACK))
        ben.stored(verdict(task_id, "yes", category="too-strict", reason=ATTACK))
        causes = CAUSE.findall(ana.page("causes"))
        page.goto(f"{hostile.base}/runs/demo/queue?q=11")
        inert(ATTACK)
        page.get_by_role("link", name=task_id).click()
        expect(page.locator("#instance-body .part-of").first).to_be_visible()
        inert(ATTACK)
        assert page.locator("#instance-body mark").count() > 0
        page.keyboard.press("x")
        page.wait_for_url("**/repair?*")
        page.wait_for_load_state("load")
        path = "/ground_truth/turns/0/0/arguments/weight_grams"
        page.locator("#patch-text").fill(json.dumps([{"op": "replace", "path": path, "value": 1250}]))
        page.locator("#try").click()
        expect(page.locator("#trial")).to_contain_text("tasks.jsonl", timeout=30_000)
        inert(ATTACK)
        for address in ("disputes", "causes", "progress", *(f"cause?cause={cause}" for cause in causes)):
            page.goto(f"{hostile.base}/runs/demo/{address}")
            inert()
        page.goto(f"{hostile.base}/runs/demo/queue?q={ATTACK}&category={ATTACK}&page={ATTACK}")
        inert("No instance matches")
        refused = page.goto(f"{hostile.base}/runs/demo/task?task={ATTACK}")
        inert(ATTACK)
        assert refused is not None and refused.status == 400
        rows = ana.http.get("/runs/demo/export", params={"format": "csv"}).text
        assert not any(line.startswith(("=", "+", "@")) for line in rows.splitlines())
    # The last page was refused on purpose, which the browser notes.
    visit_problem = "Failed to load resource: the server responded with a status of 400 (Bad Request)"
    sign_in.problems_expected.append(visit_problem)  # type: ignore[attr-defined]


@pytest.mark.long
def test_the_same_in_postgresql(
    serve: Callable[..., Server], demo_run: Path, postgresql_url: str, sign_in: Callable[..., Visit]
) -> None:
    server = serve(demo_run, store=postgresql_url)
    page = sign_in(server, "ana").page
    page.goto(f"{server.base}/runs/demo/task?task={DROPPED}")
    expect(page.locator("#instance-body .part-of").first).to_be_visible()
    for key in ("n", "Enter"):
        page.keyboard.press(key)
    expect(page.locator("#why")).to_be_visible()
    with server.client("ben") as ben:
        ben.stored(verdict(DROPPED, "yes", category="malformed-tool-call"))
    expect(page.locator("#others")).to_contain_text("ben: ✕ flawed")
    page.keyboard.press("z")
    expect(page.locator("#state")).to_contain_text("Taken back")
    assert not (demo_run / "review.db").exists()
