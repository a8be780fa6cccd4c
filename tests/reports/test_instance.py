"""A task opened from the report: in a real browser, from files next to the page, with the quotes where they are."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from agenthard.reports.instance import Instances
from agenthard.reports.page import write_page
from agenthard.reports.places import Places
from agenthard.reports.result import AuditResult
from agenthard.taxonomy.finding import Proof
from agenthard.taxonomy.task import ToolCall
from tests.reports.browsing import Visit, contrast, words
from tests.reports.shop import ATTACK, changed, shop_replay, shop_runs


def with_proof(shop: AuditResult) -> AuditResult:
    """The shop with a proof of its first finding."""
    call = ToolCall(name="cancel_order", arguments={"order_id": ATTACK})
    proof = Proof(
        task_id="shop/0",
        kind="constructed",
        turns=((call,),),
        replies=("Done.",),
        passes=False,
        should_pass=True,
        evaluator="shop 1",
        reason=f"the state differs {ATTACK}",
    )
    first = shop.findings[0].model_copy(update={"proof": proof, "command": "agenthard replay shop 'my shop' shop/0"})
    return changed(shop, findings=(first, *shop.findings[1:]))


def test_quotes_are_spans_of_the_text_that_the_file_has(shop: AuditResult) -> None:
    task = Instances(shop, Places(shop)).describe(shop.tasks[0])
    found = {
        (part["title"], piece[0])
        for part in task["parts"]
        for block in part["blocks"]
        for piece in block["text"]
        if not isinstance(piece, str) and "aaaaaaaaaaa0" in piece[1]
    }
    assert found == {
        ("Policy", "An order that was handed to the carrier cannot be cancelled."),
        ("Ground truth", '"order_id": "W17"'),
    }
    gold = next(part for part in task["parts"] if part["title"] == "Ground truth")
    text = "".join(piece if isinstance(piece, str) else piece[0] for piece in gold["blocks"][0]["text"])
    written = (shop.root / "tasks.json").read_text(encoding="utf-8")
    assert "".join(text.split()) in "".join(written.split())
    assert gold["blocks"][0]["place"] == "tasks.json:5"


def test_runs_are_those_that_failed_and_passed_and_the_quoted_one(shop: AuditResult) -> None:
    runs = [run for run in shop_runs() if run.task_id == "shop/4"]
    [first, second] = Instances(shop, Places(shop)).describe(shop.tasks[4], runs)["models"]
    assert first["model"].startswith("model-a") and (first["passed"], first["scored"]) == (0, 1)
    assert ["I have refunded it", ["ddddddddddd3"]] in first["runs"][0]["messages"][1]["text"]
    assert second["runs"][0]["passed"] is False


@pytest.fixture
def visit(open_file: Callable[..., Visit], tmp_path: Path, shop: AuditResult) -> Callable[..., Page]:
    """Writes the page of the shop with its runs and opens it."""

    def open_page(fragment: str = "", **context: object) -> Page:
        runs = sorted(shop_runs(), key=lambda run: run.task_id)
        write_page(with_proof(shop), tmp_path / "report.html", runs, [shop_replay("shop/0"), shop_replay("shop/77")])
        return open_file(tmp_path / "report.html", fragment, **context).page

    return open_page


pytestmark = pytest.mark.browser


def test_findings_to_look_at_first_lead_to_their_task(visit: Callable[..., Page]) -> None:
    page = visit()
    look = page.locator(".look").first
    assert look.locator("mark").all_inner_texts() == [
        "An order that was handed to the carrier cannot be cancelled.",
        '"order_id": "W17"',
    ]
    assert look.locator(".command code").inner_text() == "agenthard replay --finding aaaaaaaaaaa0"
    assert look.locator(".output").inner_text() == f"fails: the state differs {ATTACK}\nit should pass (shop 1)"
    look.get_by_role("link", name="Open shop/0").click()
    panel = page.get_by_role("dialog")
    expect(panel.get_by_role("heading", name="shop/0")).to_be_visible()
    expect(panel.locator("mark.current")).to_have_text('"order_id": "W17"')
    assert ATTACK in words(panel.locator(".proof"))
    expect(page).to_have_url(re.compile(r"#task=shop%2F0&at=aaaaaaaaaaa0$"))  # the browser tells addresses later
    page.keyboard.press("e")
    expect(panel.locator("mark.current")).to_have_text("An order that was handed to the carrier cannot be cancelled.")
    page.keyboard.press("j")
    assert panel.locator("[aria-pressed=true]").inner_text().startswith("cancel_order says")
    page.keyboard.press("Escape")
    expect(page.locator("#instance")).to_be_hidden()
    expect(page).not_to_have_url(re.compile("task="))
    assert page.locator("img").count() == 0 and page.locator("script").count() == 2


def test_what_tools_answered_to_the_ground_truth(visit: Callable[..., Page]) -> None:
    page = visit("#task=shop/0")
    part = page.get_by_role("region", name="Ground truth executed")
    expect(part).to_contain_text("What the tools answered, step by step, in shop 1.")
    first, second = (words(each) for each in part.locator(".steps > li").all())
    assert first == f'turn 1 → get_order {{"order_id": "W17"}} {"x" * 40} 1,234 more characters'
    assert second.startswith("✕ fails turn 2 · changes the state → cancel_order {} Error: ") and ATTACK in second
    expect(part).to_contain_text("2 more calls.")
    assert page.get_by_role("button", name="Ground truth executed").count() == 1, "the list of parts leads there"
    other = visit("#task=shop/1")
    expect(other.locator("#instance-body .part-of").first).to_be_visible()
    assert other.get_by_role("region", name="Ground truth executed").count() == 0


def test_failed_and_quoted_run_can_be_read(visit: Callable[..., Page]) -> None:
    page = visit("#task=shop/4&at=ddddddddddd3")
    expect(page.locator("#instance .run h4")).to_contain_text("failed, trial 1")
    expect(page.locator("#instance mark.current")).to_have_text("I have refunded it")
    page.locator(".model-choice").select_option("1")
    expect(page.locator("#instance .run")).to_contain_text("The log holds no messages of this run.")


def test_keys_go_through_findings_and_open_tasks(visit: Callable[..., Page]) -> None:
    page = visit()
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.id") == "look-aaaaaaaaaaa0"
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    expect(page.locator("#instance-title")).to_have_text("shop/0")
    expect(page.locator("#instance")).to_be_visible()
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.dataset.task ?? document.activeElement.id")
    page.locator("#finding-aaaaaaaaaaa0 > summary").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#finding-aaaaaaaaaaa0 .quote")).to_have_count(2)
    page.keyboard.press("e")
    assert page.evaluate("document.activeElement.tagName") == "PRE"
    page.locator("#finding-aaaaaaaaaaa0 > summary").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#instance-title")).to_have_text("shop/0")
    page.keyboard.press("Escape")
    page.keyboard.press("t")
    assert page.evaluate("document.activeElement.id") == "which"
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "which", "a key that a control uses is left to it"
    page.locator("#keys-button").click()
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#keys")).to_be_hidden()


def test_few_stops_before_the_first_finding(visit: Callable[..., Page]) -> None:
    page = visit()
    for _ in range(13):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.closest('.look') !== null"):
            break
    assert page.evaluate("document.activeElement.closest('.look') !== null")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"


def test_commands_are_copied_as_they_are(visit: Callable[..., Page]) -> None:
    page = visit("#finding=aaaaaaaaaaa0")
    row = page.locator("#finding-aaaaaaaaaaa0 .body > .command")
    row.get_by_role("button", name="Copy").click()
    expect(row.get_by_role("button")).to_have_text("Copied")
    page.locator("#search").fill("")
    page.locator("#search").press("Control+v")
    assert page.locator("#search").input_value() == "agenthard replay shop 'my shop' shop/0"


def test_a_page_without_its_files_says_so(open_file: Callable[..., Visit], tmp_path: Path, shop: AuditResult) -> None:
    write_page(shop, tmp_path / "report.html")
    (tmp_path / "instances" / "0001.js").unlink()
    visit = open_file(tmp_path / "report.html", "#task=shop/0")
    expect(visit.page.locator("#instance-body")).to_contain_text("Keep the page and that folder together")
    assert len(visit.problems) == 1 and "0001.js" in visit.problems[0] or "ERR_FILE_NOT_FOUND" in visit.problems[0]
    visit.problems.clear()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
def test_panel_fits_and_is_readable(visit: Callable[..., Page], scheme: str, width: int) -> None:
    page = visit("#task=shop/0&at=aaaaaaaaaaa0", color_scheme=scheme, viewport={"width": width, "height": 844})
    expect(page.locator("mark.current")).to_have_count(1)
    measured = contrast(page, "#instance mark", ".block pre", ".where", ".claim-button .meta", ".panel-parts button")
    assert min(measured.values()) >= 4.5, measured
    body = page.locator("#instance-body" if width > 800 else ".panel-body")
    assert body.evaluate("node => node.scrollWidth <= node.clientWidth")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_old_files_of_tasks_are_removed(shop: AuditResult, tmp_path: Path) -> None:
    (tmp_path / "instances").mkdir()
    (tmp_path / "instances" / "0009.js").write_text("old")
    write_page(shop, tmp_path / "report.html")
    assert [path.name for path in (tmp_path / "instances").iterdir()] == ["0001.js"]
