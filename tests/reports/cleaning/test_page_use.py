"""The page on cleaning in use: sorted, downloaded, pointed at, zoomed, and fed with hostile names."""

import csv
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.reports.browsing import Visit, contrast, words
from tests.reports.figures.sample import sample
from tests.reports.shop import ATTACK

pytestmark = pytest.mark.browser

Open = Callable[..., Visit]
TEXTS = (
    *(".sentence", ".lead", ".tile .note", ".legend li", "figcaption", ".undefined", ".term", ".verdict"),
    *(".top-findings a", ".split-card dt", ".split-card p:last-child", "td .muted", "thead th", "td a, th a"),
    *(".glossary dd", ".more button"),
)


def test_tables_sort_with_undefined_values_at_one_end(open_cleaning: Open) -> None:
    page = open_cleaning(sample()).page
    head = page.locator("#table-stability-initial-cleaned th", has_text="Observed")
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    cells = page.locator("#table-stability-initial-cleaned tbody td:nth-child(2)").all_inner_texts()
    assert cells[0].startswith("undefined") and cells[-1] == "0.930"


def saved(page: Page, button: str, tmp_path: Path) -> list[list[str]]:
    with page.expect_download() as waiting:
        page.get_by_role("button", name=button, exact=True).click()
    path = tmp_path / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return list(csv.reader(path.read_text(encoding="utf-8-sig").splitlines()))


def test_tables_download_as_they_are_sorted(open_cleaning: Open, tmp_path: Path) -> None:
    page = open_cleaning(sample(names={2: '=HYPERLINK("x")'})).page
    page.locator("#table-leaderboards th", has_text="Model").get_by_role("button").click()
    head, *rows = saved(page, "Download the leaderboards as CSV", tmp_path)
    assert (tmp_path / "corner-shop-leaderboards.csv").is_file()
    assert head[:7] == [
        "model",
        *(f"initial_{n}" for n in ("rank", "rank_low", "rank_high", "score", "score_low", "score_high")),
    ]
    assert len(head) == 20 and all(len(cells) == 20 for cells in rows)
    assert [cells[0] for cells in rows] == sorted((cells[0] for cells in rows), key=lambda name: name.strip("'"))
    best = next(cells for cells in rows if cells[0] == "vendor-0/model-00")
    assert [float(cell) for cell in best[1:7]] == pytest.approx([1, 1, 3, 0.9, 0.82, 0.98])
    assert '\'=HYPERLINK("x")' in [cells[0] for cells in rows], "a spreadsheet does not run it"


def test_stage_table_downloads_reasons_in_place_of_numbers(open_cleaning: Open, tmp_path: Path) -> None:
    page = open_cleaning(sample()).page
    head, *rows = saved(page, "Download the stage table as CSV", tmp_path)
    rules, judge = rows[1], rows[3]
    assert float(rules[head.index("agreement")]) == pytest.approx(0.676)
    assert float(rules[head.index("agreement_random_low")]) == pytest.approx(0.65)
    assert judge[head.index("n")] == judge[head.index("diversity")] == "the judge was not asked"


def test_figures_give_their_data(open_cleaning: Open, tmp_path: Path) -> None:
    analysis = sample()
    page = open_cleaning(analysis).page
    head, *rows = saved_figure(page, "difficulty", tmp_path)
    assert head[:3] == ["task", "category", "difficulty"] and len(rows) == 38
    assert float(rows[3][2]) == pytest.approx(analysis.items.points[3].difficulty.value)  # type: ignore[union-attr]
    figure = page.locator("#figure-agreement")
    figure.locator("summary").click()
    expect(figure.locator(".data tbody tr")).to_have_count(15)
    assert words(figure.locator(".data thead")) == "model other_model initial_n_40 cleaned_n_30 hard_n_24"
    assert "vendor-1/model-01 vendor-3/model-03 – – –" in [words(line) for line in figure.locator("tbody tr").all()]


def saved_figure(page: Page, figure: str, tmp_path: Path) -> list[list[str]]:
    with page.expect_download() as waiting:
        page.locator(f"#figure-{figure}").get_by_role("button", name="Download the data as CSV").click()
    waiting.value.save_as(tmp_path / "figure.csv")
    assert waiting.value.suggested_filename == f"corner-shop-figure-{figure}.csv"
    return list(csv.reader((tmp_path / "figure.csv").read_text(encoding="utf-8-sig").splitlines()))


def test_long_data_are_shown_in_part(open_cleaning: Open) -> None:
    page = open_cleaning(sample(tasks=400)).page
    figure = page.locator("#figure-difficulty")
    figure.locator("summary").click()
    expect(figure.locator(".data tbody tr")).to_have_count(300)
    assert "98 more rows in the CSV." in words(figure.locator(".data"))


def test_a_picked_model_stands_out_with_its_rank_intervals(open_cleaning: Open) -> None:
    page = open_cleaning(sample()).page
    figure = page.locator("#figure-ranks")
    interval = figure.locator(".quiet[data-of='vendor-3/model-03']").first
    assert interval.evaluate("node => getComputedStyle(node).visibility") == "hidden"
    figure.get_by_label("Highlight").select_option("vendor-3/model-03")
    assert interval.evaluate("node => getComputedStyle(node).visibility") == "visible"
    faded = figure.locator("[data-of='vendor-4/model-04']").first
    assert float(faded.evaluate("node => getComputedStyle(node).opacity")) < 0.3
    figure.get_by_label("Highlight").select_option("no model")
    assert interval.evaluate("node => getComputedStyle(node).visibility") == "hidden"


def test_a_mark_says_what_it_is(open_cleaning: Open) -> None:
    page = open_cleaning(sample()).page
    assert not page.locator(".tip").is_visible()
    page.locator("#figure-components path[data-tip]").first.hover()
    expect(page.locator(".tip")).to_have_text("Environment3 confirmed findings")
    page.locator("#figure-agreement text[data-tip*='model-01 and vendor-3/model-03']").first.hover()
    expect(page.locator(".tip")).to_contain_text("no common task")


def test_hostile_names_stay_text(open_cleaning: Open) -> None:
    names = {0: f"evil {ATTACK}", 1: "a\"b'c & \x1b[31m\u202e", 2: "x" * 300}
    analysis = sample(names=names)
    page = open_cleaning(analysis).page
    assert page.locator("img").count() == 0 and page.locator("script").count() == 2
    assert ATTACK in page.locator("#table-leaderboards").inner_text()
    marks = page.locator("#figure-ranks [data-tip]").evaluate_all("nodes => nodes.map(n => n.dataset.of)")
    assert names[0] in marks
    page.locator("#figure-ranks").get_by_label("Highlight").select_option(names[0])
    assert page.locator("#figure-ranks .on").count() > 5
    page.locator("#figure-ranks text.on").first.hover()
    assert ATTACK in page.locator(".tip").inner_text()
    page.locator("#figure-ranks summary").click()
    expect(page.locator("#figure-ranks .data")).to_contain_text(ATTACK)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_readable(open_cleaning: Open, scheme: str) -> None:
    page = open_cleaning(sample(), color_scheme=scheme).page
    measured = contrast(page, *TEXTS)
    assert min(measured.values()) >= 4.5, measured
    drawn = page.locator(".drawing text").first
    ink = drawn.evaluate("node => getComputedStyle(node).fill")
    assert ink == ("rgb(30, 29, 26)" if scheme == "light" else "rgb(237, 234, 227)"), "a drawing follows the scheme"


def test_zoomed_to_200_percent_nothing_is_cut_off(open_cleaning: Open) -> None:
    page = open_cleaning(sample(16), viewport={"width": 640, "height": 450}, device_scale_factor=2).page
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    drawing = page.locator("#figure-ranks .drawing")
    assert drawing.evaluate("node => node.scrollWidth > node.clientWidth"), "wide drawings scroll, they do not shrink"
    drawing.focus()
    page.keyboard.press("End")
    assert page.evaluate("document.activeElement.className").startswith("scroll")


def test_drawings_fit_a_wide_page(open_cleaning: Open) -> None:
    names = {i: f"a-vendor-with-a-name/and-a-long-model-{i:02d}" for i in range(20)}
    page = open_cleaning(sample(20, names=names), viewport={"width": 1280, "height": 900}).page
    wide = page.locator(".drawing").evaluate_all(
        "nodes => nodes.filter(n => n.scrollWidth > n.clientWidth + 1).map(n => n.ariaLabel)"
    )
    assert wide == []


def test_without_a_script_everything_is_there(open_cleaning: Open) -> None:
    page = open_cleaning(sample(), java_script_enabled=False).page
    for table in ("leaderboards", "leaderboard-initial", "leaderboard-cleaned", "leaderboard-hard"):
        assert page.locator(f"#table-{table}").is_visible()
    assert page.locator(".drawing svg").count() == 7


def test_keyboard_reaches_the_content(open_cleaning: Open) -> None:
    page = open_cleaning(sample()).page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the leaderboards"
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("#leaderboards$"))


@pytest.mark.long
def test_71_models_and_1700_tasks_stay_small_and_readable(open_cleaning: Open, tmp_path: Path) -> None:
    page = open_cleaning(sample(71, 1700), viewport={"width": 1280, "height": 900}).page
    assert (tmp_path / "report.html").stat().st_size < 3_000_000
    assert page.locator("#table-leaderboards tbody tr").count() == 71
    labels = page.locator("#figure-ranks .drawing text").evaluate_all(
        "nodes => nodes.filter(n => /^vendor/.test(n.textContent)).map(n => n.getBoundingClientRect())"
        ".map(b => [b.top, b.bottom]).sort((a, b) => a[0] - b[0])"
    )
    assert len(labels) == 71
    assert all(upper[1] <= lower[0] + 3 for upper, lower in zip(labels, labels[1:], strict=False)), (
        "labels do not overlap"
    )
