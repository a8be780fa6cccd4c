"""The page of an evaluation, read in a real browser in the light and the dark scheme."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from agenthard.ace.declared import ACE
from agenthard.reports.evaluation import About, EvaluationAnalysis, analyse, write_evaluation
from tests.reports.browsing import Visit, contrast, row, words
from tests.reports.evaluation.frames import episodes, verdicts
from tests.reports.evaluation.test_tables import whole
from tests.reports.shop import ATTACK

pytestmark = pytest.mark.browser

TEXTS = (".sentence", ".lead", ".tile .note", ".legend li", "figcaption", "td .muted", "thead th", ".mark-published")


@pytest.fixture
def open_evaluation(open_file: Callable[..., Visit], tmp_path: Path) -> Callable[..., Visit]:
    """Writes the report of an analysis and opens its page."""

    def open_page(analysis: EvaluationAnalysis, **context: object) -> Visit:
        write_evaluation(analysis, tmp_path / "report")
        return open_file(tmp_path / "report" / "evaluation.html", **context)

    return open_page


def test_the_page_tells_the_outcome(open_evaluation: Callable[..., Visit], tmp_path: Path) -> None:
    page = open_evaluation(whole(tmp_path)).page
    assert page.title() == "Small: evaluation"
    tiles = [words(tile) for tile in page.locator(".tile").all()]
    assert tiles[0] == "Episodes 144 of 144 missing: 0" and tiles[4] == "Cost ≥ $0.48 48 of 144 attempts priced"
    strong = row(page, "leaderboard", "strong")
    assert strong[:4] == ["1", "strong", "24 / 24", "48 of 48"]
    assert strong[4].startswith("100.0 %") and strong[5].startswith("100.0 %"), "Wilson and clustered by task"
    published = page.locator("#table-leaderboard tr.published")
    assert words(published).startswith("– m published * 2 / 3 3 66.7 %") and "other instances" in words(published)
    assert page.locator(".figure svg").count() == 8
    assert row(page, "usage", "weak")[3] == "no price"


def test_no_cell_is_blank_and_nothing_reads_nan(open_evaluation: Callable[..., Visit], tmp_path: Path) -> None:
    broken = episodes({"passed": None, "status": None, "hidden_slots": None, "domain": None, "ending": None})
    one = analyse(episodes(*verdicts("a", "1x")), About(planned={"a": 2, "never": 1}), declared=ACE)
    for analysis in (
        whole(tmp_path),
        analyse(episodes(), About(), declared=ACE),
        analyse(broken, About(), declared=ACE),
        one,
    ):
        page = open_evaluation(analysis).page
        blank = page.evaluate("[...document.querySelectorAll('td')].filter(c => !c.textContent.trim()).length")
        assert blank == 0
        assert not re.search(
            r"\b(nan|none|null|inf|undefined)\b(?! because)", page.locator("body").inner_text().lower()
        )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_schemes_can_be_read(open_evaluation: Callable[..., Visit], tmp_path: Path, scheme: str) -> None:
    page = open_evaluation(whole(tmp_path), color_scheme=scheme, viewport={"width": 1280, "height": 900}).page
    assert {name: value for name, value in contrast(page, *TEXTS).items() if value < 4.5} == {}
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "the page itself never scrolls sideways"
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_hostile_names_stay_text(open_evaluation: Callable[..., Visit], tmp_path: Path) -> None:
    analysis = whole(tmp_path, (f"evil {ATTACK}", "a\"b'c & \u202e", "x" * 300))
    page = open_evaluation(analysis).page
    assert page.locator("img").count() == 0 and page.locator("script").count() == 2
    assert ATTACK in page.locator("#table-leaderboard").inner_text()
    page.locator("#figure-board text[data-tip]").first.hover()
    expect(page.locator(".tip")).to_contain_text(ATTACK)
    page.locator("#figure-board summary").click()
    expect(page.locator("#figure-board .data")).to_contain_text(ATTACK)


@pytest.mark.long
def test_tables_sort_and_every_link_of_the_page_leads_somewhere(
    open_evaluation: Callable[..., Visit], tmp_path: Path
) -> None:
    page = open_evaluation(whole(tmp_path)).page
    page.locator("#table-leaderboard th", has_text="Passed").get_by_role("button").click()
    names = page.locator("#table-leaderboard tbody th").all_inner_texts()
    assert names[0].startswith("m") and names[-1] == "strong"
    for link in page.locator("nav a, #leaderboard a[href]").all():
        assert page.locator(link.get_attribute("href") or "").count() == 1
