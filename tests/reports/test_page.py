"""The HTML report in a real browser: opened from disk, read, filtered, and fed with hostile text."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from agenthard.audit.decisions.policy import load_policy
from agenthard.audit.decisions.tickets import tickets
from agenthard.audit.detectors.support.sharing import ANSWERS, ANSWERS_WRONG
from agenthard.audit.leaderboard import ModelRow
from agenthard.reports.page import write_page
from agenthard.reports.result import AuditResult
from agenthard.taxonomy.finding import Finding, Level
from tests.reports.browsing import Visit, contrast, words
from tests.reports.shop import ATTACK, changed

pytestmark = pytest.mark.browser


@pytest.fixture
def visit(open_file: Callable[..., Visit], tmp_path: Path) -> Callable[..., Visit]:
    """Writes the page of a result and opens it."""

    def open_page(result: AuditResult, fragment: str = "", **context: object) -> Visit:
        write_page(result, tmp_path / "report.html")
        return open_file(tmp_path / "report.html", fragment, **context)

    return open_page


def shown_claims(page: Page) -> list[str]:
    return page.locator(".finding .claim").all_inner_texts()


def test_page_says_the_outcome_and_every_count_of_n(visit: Callable[..., Visit], shop: AuditResult) -> None:
    page = visit(shop).page
    assert page.title() == "Corner Shop: audit by AgentHard"
    tiles = [words(tile) for tile in page.locator(".tile").all()]
    there, *went = [int(re.search(r"\d+", text).group()) for text in tiles]  # type: ignore[union-attr]
    assert (there, went) == (6, [2, 2, 1, 0, 1]) and there == sum(went)
    flagged = words(page.locator(".flagged"))
    assert flagged.startswith(
        "4 flagged by a confirmed or suspected finding = 1 to drop + 2 to review + 1 kept (1: only"
    )
    assert "AgentHard flagged 4 of 5 tasks" in page.locator(".sentence").inner_text()
    assert "No shared cause was found" in page.locator("#tickets").inner_text()
    assert page.locator("#shown").inner_text() == "4 findings"
    coverage = page.locator("#coverage tbody tr").nth(1).inner_text()
    assert "1 of 5" in coverage and "no required output" in coverage
    models = page.locator("#models tbody tr").nth(1).inner_text()
    assert "50.0 %" in models and "2 of 4" in models and "40.0 %" in models


def test_hostile_text_stays_text(visit: Callable[..., Visit], shop: AuditResult) -> None:
    page = visit(shop, "#finding=ccccccccccc2").page
    finding = page.locator("#finding-ccccccccccc2")
    assert ATTACK in finding.locator(".claim").inner_text()
    marks = finding.locator("mark").all_inner_texts()
    assert ATTACK in marks and f"mail{ATTACK}" in marks
    assert f"model-a {ATTACK}" in page.locator("#models").inner_text()
    assert ATTACK in page.locator("#quarantine").inner_text()
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2


def test_quote_stands_in_its_surroundings_with_both_sides(visit: Callable[..., Visit], shop: AuditResult) -> None:
    page = visit(shop).page
    page.locator("#finding-aaaaaaaaaaa0 summary").click()
    expect(page.locator("#finding-aaaaaaaaaaa0 .quote")).to_have_count(2)
    rule, call = page.locator("#finding-aaaaaaaaaaa0 .quote").all()
    assert rule.locator("mark").inner_text() == "An order that was handed to the carrier cannot be cancelled."
    assert "Greet the customer." in rule.inner_text() and "policy.md:5" in rule.inner_text()
    assert '"name": "cancel_order"' in call.inner_text() and '"order_id": "W17"' in call.inner_text()
    assert call.locator("mark").inner_text() == '"order_id": "W17"'
    boxes = [side.bounding_box() for side in (rule, call)]
    assert boxes[0] and boxes[1] and boxes[0]["y"] == boxes[1]["y"], "both sides are next to one another"


def test_filters_narrow_and_count(visit: Callable[..., Visit], shop: AuditResult) -> None:
    page = visit(shop).page
    assert not page.get_by_role("checkbox", name="Only what drops a task").is_visible()
    page.locator("#filters summary").click()
    page.get_by_role("checkbox", name="Only what drops a task").check()
    assert len(shown_claims(page)) == 1
    assert page.locator("#shown").inner_text() == "1 of 4 findings"
    assert page.locator("label.facet", has_text="Suspected").locator(".count").inner_text() == "0"
    page.get_by_role("button", name="Clear filters").click()
    page.get_by_role("checkbox", name="Confirmed").check()
    assert len(shown_claims(page)) == 2
    page.get_by_role("checkbox", name="Environment").check()
    assert len(shown_claims(page)) == 1
    expect(page).to_have_url(re.compile("tier=confirmed"))
    expect(page).to_have_url(re.compile("component=environment"))
    page.get_by_role("button", name="Clear filters").click()
    page.get_by_role("searchbox").fill("GIFT card")
    expect(page.locator("#shown")).to_have_text("0 of 4 findings")
    page.get_by_role("searchbox").fill("refunded 2 models")
    expect(page.locator("#shown")).to_have_text("1 of 4 findings")


def test_view_can_be_passed_on(visit: Callable[..., Visit], shop: AuditResult) -> None:
    page = visit(shop, "#tier=confirmed&q=task:shop/0&finding=aaaaaaaaaaa0").page
    assert page.locator("#shown").inner_text() == "2 of 4 findings"
    assert page.locator("#finding-aaaaaaaaaaa0").evaluate("row => row.open")
    assert page.get_by_role("checkbox", name="Confirmed").is_checked()


def test_task_leads_to_its_findings(visit: Callable[..., Visit], shop: AuditResult) -> None:
    page = visit(shop).page
    assert page.locator("#decided tr").count() == 3
    page.locator("#decided").get_by_role("button", name="shop/1").click()
    page.get_by_role("button", name="Show these in the list").click()
    assert page.get_by_role("searchbox").input_value() == "task:shop/1"
    assert len(shown_claims(page)) == 2


def test_tables_sort(visit: Callable[..., Visit], shop: AuditResult) -> None:
    page = visit(shop).page
    header = page.locator("#coverage th", has_text="Flagged")
    header.get_by_role("button").click()
    header.get_by_role("button").click()
    assert header.get_attribute("aria-sort") == "descending"
    assert [int(t) for t in page.locator("#coverage tbody td:nth-child(4)").all_inner_texts()] == [4, 1, 1, 1]
    page.locator("#decisions-table th", has_text="Decision").get_by_role("button").click()
    assert page.locator("#decided tr").first.inner_text().startswith("shop/0")


def test_keyboard_alone_reaches_everything(visit: Callable[..., Visit], shop: AuditResult) -> None:
    page = visit(shop).page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the findings"
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "search"
    page.locator("#finding-aaaaaaaaaaa0 summary").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#finding-aaaaaaaaaaa0 .quote")).to_have_count(2)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.tagName") == "PRE", "a quote that scrolls can be reached"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_readable(visit: Callable[..., Visit], shop: AuditResult, scheme: str) -> None:
    page = visit(shop, "#finding=aaaaaaaaaaa0", color_scheme=scheme).page
    measured = contrast(page, *TEXTS)
    assert min(measured.values()) >= 4.5, measured


TEXTS = (
    *(".sentence", ".lead", ".tile dt", ".tile .note", ".glyph.drop", ".glyph.review", ".glyph.keep"),
    *(".claim", ".meta span", ".meta .drop", ".quote pre", ".quote .where", "mark", ".count", "a", ".warn", ".chip"),
    "thead th",
)


def test_zoomed_to_200_percent_nothing_is_cut_off(visit: Callable[..., Visit], shop: AuditResult) -> None:
    page = visit(shop, viewport={"width": 640, "height": 450}, device_scale_factor=2).page
    page.locator("#finding-ccccccccccc2 summary").click()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator("#filters").evaluate("node => node.open") is False
    assert page.get_by_role("searchbox").is_visible()


def test_a_wide_table_says_that_it_scrolls(visit: Callable[..., Visit], shop: AuditResult) -> None:
    page = visit(shop, viewport={"width": 390, "height": 844}).page
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    hints = page.locator("#coverage .hint")
    expect(hints).to_have_text("Scroll sideways to see all of it →")
    page.set_viewport_size({"width": 1440, "height": 900})
    expect(hints).to_be_hidden()


def test_nothing_found_says_what_was_checked(visit: Callable[..., Visit], clean_shop: AuditResult) -> None:
    page = visit(clean_shop).page
    text = page.locator("#findings").inner_text()
    assert "0 findings" in text and "2 of 5 tasks checked; 3 not checked (3 no ground truth)" in text
    assert "No task has this decision" in page.locator("#decided").inner_text()
    page.locator("#which").select_option("unchecked")
    assert page.locator("#decided").inner_text().count("no deciding check") == 3
    assert "No runs were given" in page.locator("#models").inner_text()
    assert "Every record could be read" in page.locator("#quarantine").inner_text()
    assert "nowhere: 0 of 5" in page.locator("#coverage").inner_text()


def test_model_that_was_never_scored_has_no_accuracy(visit: Callable[..., Visit], shop: AuditResult) -> None:
    row = ModelRow(
        model="m",
        protocol="p1",
        runs=3,
        tasks=3,
        passed=0,
        infrastructure_errors=3,
        accuracy=None,
        low=None,
        high=None,
        accuracy_counting_errors=0.0,
    )
    result = AuditResult(**{**{k: getattr(shop, k) for k in AuditResult.__dataclass_fields__}, "models": [row]})
    text = visit(result).page.locator("#models tbody").inner_text()
    assert "–" in text and "0 of 0" in text and "nothing could be scored" in text and "p1" in text


@pytest.mark.long
def test_2000_findings_open_within_two_seconds(visit: Callable[..., Visit], shop: AuditResult) -> None:
    findings = [_numbered(shop.findings[i % 4], i) for i in range(2000)]
    result = changed(shop, findings=findings)
    durations = []
    for _ in range(3):
        page = visit(result).page
        assert page.locator("#shown").inner_text() == "2,000 findings"
        durations.append(page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd"))
    assert min(durations) < 2000, f"loaded in {durations} ms"
    first = page.locator(".category").first
    assert first.locator(".finding").count() == 40
    first.get_by_role("button", name="Show 100 more of 460").click()
    assert first.locator(".finding").count() == 140
    page.get_by_role("searchbox").fill("number 1236")
    expect(page.locator("#shown")).to_have_text("1 of 2,000 findings")


def _numbered(finding: Finding, number: int) -> Finding:
    return finding.model_copy(update={"id": f"{number:012x}", "claim": f"{finding.claim} This is number {number}."})


def test_shared_causes_are_tickets_with_examples_and_a_command(visit: Callable[..., Visit], shop: AuditResult) -> None:
    command = "agenthard replay shop PATH shop/1 --mutant 'off-by-one:/ground_truth/turns/0/0'"
    measures = {ANSWERS: 10.0, ANSWERS_WRONG: 9.0}
    changes = {"level": Level.EVALUATOR, "command": command, "measures": measures}
    findings = [f.model_copy(update=changes) if f.id == "bbbbbbbbbbb1" else f for f in shop.findings]
    shared = tickets(load_policy(), findings)
    page = visit(changed(shop, findings=findings, tickets=shared)).page
    [row] = page.locator("#tickets-table tbody tr").all()
    assert "Evaluator" in row.inner_text() and "90.0 % of constructed answers" in row.inner_text()
    row.locator("summary").click()
    assert row.locator(".command code").inner_text() == command
    row.get_by_role("link").click()
    expect(page.locator("#finding-bbbbbbbbbbb1")).to_have_attribute("open", "")
    assert command in page.locator("#finding-bbbbbbbbbbb1").inner_text()
    assert page.locator("label.facet", has_text="Evaluator").locator(".count").text_content() == "1"
