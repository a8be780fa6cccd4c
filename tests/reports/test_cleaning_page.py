"""The page on what cleaning does, in a real browser: read, sorted, downloaded, and fed with hostile text."""

import csv
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote

import pytest
from playwright.sync_api import Locator, Page, expect

from reports.cleaning.analysis import CleaningAnalysis
from reports.cleaning.glossary import GLOSSARY
from reports.cleaning.inputs import LedgerEntry
from reports.cleaning_page import slug, write_cleaning_page
from reports.result import AuditResult
from reports.statistics.result import undefined
from tests.reports.browsing import Visit, contrast
from tests.reports.figures.sample import sample, without_runs
from tests.reports.shop import ATTACK

pytestmark = pytest.mark.browser

Open = Callable[..., Visit]
TEXTS = (
    *(
        ".sentence",
        ".lead",
        ".tile .note",
        ".legend li",
        "figcaption",
        ".undefined",
        ".term",
        ".verdict",
        ".top-findings a",
    ),
    *(
        ".split-card dt",
        ".split-card p:last-child",
        "td .muted",
        "thead th",
        "td a, th a",
        ".glossary dd",
        ".more button",
    ),
)


@pytest.fixture
def visit(open_file: Open, tmp_path: Path) -> Open:
    """Writes the page of an analysis and opens it."""

    def open_page(analysis: CleaningAnalysis, audit: AuditResult | None = None, **context: object) -> Visit:
        write_cleaning_page(analysis, tmp_path / "report.html", audit)
        return open_file(tmp_path / "report.html", **context)

    return open_page


def words(place: Locator) -> str:
    return re.sub(r"\s+", " ", place.inner_text()).strip()


def row(page: Page, table: str, head: str) -> list[str]:
    found = page.locator(f"#table-{table} tbody tr").filter(has=page.get_by_role("rowheader", name=head, exact=True))
    return [words(cell) for cell in found.locator("th, td").all()]


def saved(page: Page, button: str, tmp_path: Path) -> list[list[str]]:
    with page.expect_download() as waiting:
        page.get_by_role("button", name=button, exact=True).click()
    path = tmp_path / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return list(csv.reader(path.read_text(encoding="utf-8-sig").splitlines()))


def test_thirty_seconds_tell_the_outcome_and_five_numbers(visit: Open) -> None:
    page = visit(sample()).page
    assert page.title() == "Corner Shop: what cleaning does to its leaderboard"
    assert words(page.locator(".sentence")).startswith("40 of 40 tasks were checked and 10 flagged")
    tiles = [words(tile) for tile in page.locator(".tile").all()]
    assert [tile.split()[0] for tile in tiles] == ["Checked", "Flagged", "New", "Undecided", "Cost"]
    assert tiles[0] == "Checked 40 of 40 tasks" and tiles[1] == "Flagged 10 25.0 % of the tasks"
    assert tiles[2] == "New findings – no earlier audit was given" and tiles[4] == "Cost $0.00 spent on models"
    assert page.locator(".top-findings a").first.get_attribute("href") == "../report.html#finding=000000000000"


def test_split_cards_say_id_size_power_and_what_not_to_compare(visit: Open) -> None:
    page = visit(sample()).page
    cleaned = words(page.locator(".split-card.cleaned"))
    assert "30 tasks" in cleaned and "000000000001" in cleaned
    assert "differences of 29.8 points or more" in cleaned, "2.8 · sqrt(0.34 / 30) = 0.2981"
    assert "Do not compare its scores with those of initial 000000000000 or hard 000000000002" in cleaned
    assert "Each model is scored on the tasks that the other models select." in words(page.locator("#splits"))


def test_leaderboards_stand_side_by_side_and_in_detail(visit: Open) -> None:
    page = visit(sample()).page
    side = row(page, "leaderboards", "vendor-1/model-01")
    assert side == [
        *("vendor-1/model-01", "2 1–4", "80.4 % 72.4–88.4 %", "2 1–4", "71.9 % 63.9–79.9 %", "2 1–4"),
        *("68.9 % 60.9–76.9 %", "0"),
    ]
    assert not page.locator("#table-leaderboard-hard").is_visible()
    page.get_by_label("Show").select_option("hard split in detail")
    assert page.locator("#table-leaderboard-hard").is_visible() and not page.locator("#table-leaderboards").is_visible()
    detail = row(page, "leaderboard-hard", "vendor-1/model-01")
    assert detail[0] == "2 1–4" and detail[4] == "17 of 24" and detail[5] == "3 models, ranks 1–4"
    assert detail[6] == "67.9 % 59.9–75.9 %" and detail[7] == "2", "the other reading of infrastructure errors"
    board = words(page.locator("[data-board=hard]"))
    assert "P(top-1 unchanged) 81.0 %" in board and "Pairs that differ significantly 55.0 %" in board
    page.locator("[data-board=hard] summary", has_text="3 tied sets").click()
    assert page.locator("[data-board=hard] .fold li").count() == 3


def test_a_model_without_a_score_or_an_interval_says_why(visit: Open) -> None:
    analysis = sample()
    board, why = analysis.leaderboards[1], undefined("every run of it broke")
    last = board.rows[-1].model_copy(
        update={"rank": None, "score": why, "rank_interval": why, "rank_errors_as_failures": None}
    )
    first = board.rows[0].model_copy(update={"rank_interval": undefined("one model was given")})
    rows = (first, *board.rows[1:-1], last)
    boards = (analysis.leaderboards[0], board.model_copy(update={"rows": rows}), analysis.leaderboards[2])
    page = visit(analysis.model_copy(update={"leaderboards": boards})).page
    assert row(page, "leaderboards", first.model)[3] == "1 no interval: undefined because one model was given"
    cells = row(page, "leaderboards", last.model)
    assert cells[3] == cells[4] == "undefined because every run of it broke"
    page.get_by_label("Show").select_option("issue-cleaned split in detail")
    assert row(page, "leaderboard-cleaned", last.model)[7] == "no score, so no rank"


def test_models_that_ran_too_little_stand_apart(visit: Open) -> None:
    page = visit(sample()).page
    assert "vendor-9/late-model" not in words(page.locator("#table-leaderboards"))
    outsider = row(page, "not-comparable", "vendor-9/late-model")
    assert outsider == ["vendor-9/late-model", "5 of 40", "4", "5", "1", "attempted 5 of 40 tasks (retail 5/40)"]


def test_every_change_of_rank_stands_beside_its_null(visit: Open) -> None:
    page = visit(sample()).page
    assert page.locator("#stability .verdict").first.inner_text().startswith("≈ No figure exceeds")
    tau = row(page, "stability-initial-cleaned", "Kendall τ-b")
    assert tau[1:4] == ["0.930", "0.950", "0.920–0.980"] and tau[5:] == ["20", "within the band"]
    first = row(page, "stability-initial-cleaned", "another model comes first")
    assert first[1:3] == ["undefined because two models share first place"] * 2
    other = page.locator("#stability details", has_text="infrastructure errors counted as failures")
    assert other.locator("table").count() == 3 and not other.locator("table").first.is_visible()


def test_stage_table_says_what_ran_and_what_is_outside_its_band(visit: Open) -> None:
    page = visit(sample()).page
    stages = page.locator("#table-stages tbody tr")
    assert words(stages.nth(3)) == "Judge the judge was not asked"
    rules = words(stages.nth(1))
    assert "32 8 removed" in rules and "67.6 % ◆ random 66.0 % 65.0–67.0 %" in rules
    assert "outside the band" in stages.nth(1).locator("[role=img]").first.get_attribute("aria-label")  # type: ignore[operator]


def test_no_cell_is_blank_and_nothing_reads_nan(visit: Open) -> None:
    for analysis in (sample(), without_runs()):
        page = visit(analysis).page
        blank = page.evaluate(
            "[...document.querySelectorAll('td')].filter(c => !c.textContent.trim() && !c.querySelector('svg'))"
            ".map(c => c.closest('table').id + ' ' + c.closest('tr').textContent)"
        )
        assert blank == []
        assert not re.search(r"\b(nan|none%|null%|inf)\b", page.locator("body").inner_text().lower())


def test_without_runs_every_part_says_why_it_is_missing(visit: Open) -> None:
    page = visit(without_runs()).page
    why = "undefined because no runs of models were given"
    for part in ("#leaderboards", "#bounds", "#figure-difficulty", "#figure-separability", "#table-stages", "#splits"):
        assert why in words(page.locator(part)), part
    assert page.locator("#table-stages tbody tr").nth(1).locator("td.undefined").get_attribute("colspan") == "5"
    assert "No ranking to compare" in words(page.locator("#stability"))
    assert page.locator(".drawing svg").count() == 2, "retention and components need no runs"


def test_findings_lead_to_the_audit(visit: Open) -> None:
    page = visit(sample()).page
    link = page.locator("#findings").get_by_role("link", name="Too lenient")
    assert link.get_attribute("href") == "../report.html#component=evaluation&category=too-lenient"
    assert words(page.locator("#table-findings tbody tr").first) == "■ User none, but 1 signal 0 0"


def test_coverage_names_the_checks_of_the_audit(visit: Open, shop: AuditResult) -> None:
    page = visit(sample()).page
    assert words(page.locator("#table-coverage tbody tr").nth(1)) == "all-models-fail 1 nowhere: 0 of 40 0 0 39 1"
    known = LedgerEntry(check="lenient-substring", version="2", flagged=1, clean=0, not_checked=4, errors=0)
    page = visit(sample().model_copy(update={"ledger": (known,)}), shop).page
    text = words(page.locator("#table-coverage tbody tr"))
    assert "A required output that almost any reply contains" in text and "no required output (4)" in text


def test_tables_sort_with_undefined_values_at_one_end(visit: Open) -> None:
    page = visit(sample()).page
    head = page.locator("#table-stability-initial-cleaned th", has_text="Observed")
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    cells = page.locator("#table-stability-initial-cleaned tbody td:nth-child(2)").all_inner_texts()
    assert cells[0].startswith("undefined") and cells[-1] == "0.930"


def test_tables_download_as_they_are_sorted(visit: Open, tmp_path: Path) -> None:
    page = visit(sample(names={2: '=HYPERLINK("x")'})).page
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


def test_stage_table_downloads_reasons_in_place_of_numbers(visit: Open, tmp_path: Path) -> None:
    page = visit(sample()).page
    head, *rows = saved(page, "Download the stage table as CSV", tmp_path)
    rules, judge = rows[1], rows[3]
    assert float(rules[head.index("agreement")]) == pytest.approx(0.676)
    assert float(rules[head.index("agreement_random_low")]) == pytest.approx(0.65)
    assert judge[head.index("n")] == judge[head.index("diversity")] == "the judge was not asked"


def test_figures_give_their_data(visit: Open, tmp_path: Path) -> None:
    analysis = sample()
    page = visit(analysis).page
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


def test_long_data_are_shown_in_part(visit: Open) -> None:
    page = visit(sample(tasks=400)).page
    figure = page.locator("#figure-difficulty")
    figure.locator("summary").click()
    expect(figure.locator(".data tbody tr")).to_have_count(300)
    assert "98 more rows in the CSV." in words(figure.locator(".data"))


def test_a_picked_model_stands_out_with_its_rank_intervals(visit: Open) -> None:
    page = visit(sample()).page
    figure = page.locator("#figure-ranks")
    interval = figure.locator(".quiet[data-of='vendor-3/model-03']").first
    assert interval.evaluate("node => getComputedStyle(node).visibility") == "hidden"
    figure.get_by_label("Highlight").select_option("vendor-3/model-03")
    assert interval.evaluate("node => getComputedStyle(node).visibility") == "visible"
    faded = figure.locator("[data-of='vendor-4/model-04']").first
    assert float(faded.evaluate("node => getComputedStyle(node).opacity")) < 0.3
    figure.get_by_label("Highlight").select_option("no model")
    assert interval.evaluate("node => getComputedStyle(node).visibility") == "hidden"


def test_a_mark_says_what_it_is(visit: Open) -> None:
    page = visit(sample()).page
    assert not page.locator(".tip").is_visible()
    page.locator("#figure-components path[data-tip]").first.hover()
    expect(page.locator(".tip")).to_have_text("Environment3 confirmed findings")
    page.locator("#figure-agreement text[data-tip*='model-01 and vendor-3/model-03']").first.hover()
    expect(page.locator(".tip")).to_contain_text("no common task")


def test_hostile_names_stay_text(visit: Open) -> None:
    names = {0: f"evil {ATTACK}", 1: "a\"b'c & \x1b[31m\u202e", 2: "x" * 300}
    analysis = sample(names=names)
    page = visit(analysis).page
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


def test_figures_are_described_and_take_part_in_no_other_way(visit: Open) -> None:
    page = visit(sample()).page
    for figure in page.locator(".figure").all():
        described = figure.get_by_role("img")
        assert len(described.get_attribute("aria-label") or "") > 60
        assert described.locator("svg").get_attribute("aria-hidden") == "true"
    assert page.locator(".figure").count() == 6


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_readable(visit: Open, scheme: str) -> None:
    page = visit(sample(), color_scheme=scheme).page
    measured = contrast(page, *TEXTS)
    assert min(measured.values()) >= 4.5, measured
    drawn = page.locator(".drawing text").first
    ink = drawn.evaluate("node => getComputedStyle(node).fill")
    assert ink == ("rgb(30, 29, 26)" if scheme == "light" else "rgb(237, 234, 227)"), "a drawing follows the scheme"


def test_zoomed_to_200_percent_nothing_is_cut_off(visit: Open) -> None:
    page = visit(sample(16), viewport={"width": 640, "height": 450}, device_scale_factor=2).page
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    drawing = page.locator("#figure-ranks .drawing")
    assert drawing.evaluate("node => node.scrollWidth > node.clientWidth"), "wide drawings scroll, they do not shrink"
    drawing.focus()
    page.keyboard.press("End")
    assert page.evaluate("document.activeElement.className").startswith("scroll")


def test_drawings_fit_a_wide_page(visit: Open) -> None:
    names = {i: f"a-vendor-with-a-name/and-a-long-model-{i:02d}" for i in range(20)}
    page = visit(sample(20, names=names), viewport={"width": 1280, "height": 900}).page
    wide = page.locator(".drawing").evaluate_all(
        "nodes => nodes.filter(n => n.scrollWidth > n.clientWidth + 1).map(n => n.ariaLabel)"
    )
    assert wide == []


def test_without_a_script_everything_is_there(visit: Open) -> None:
    page = visit(sample(), java_script_enabled=False).page
    for table in ("leaderboards", "leaderboard-initial", "leaderboard-cleaned", "leaderboard-hard"):
        assert page.locator(f"#table-{table}").is_visible()
    assert page.locator(".drawing svg").count() == 6


def test_keyboard_reaches_the_content(visit: Open) -> None:
    page = visit(sample()).page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the leaderboards"
    page.keyboard.press("Enter")
    assert page.url.endswith("#leaderboards")


def test_words_lead_to_the_glossary(visit: Open) -> None:
    page = visit(sample()).page
    for link in page.locator("a.term").all():
        target = page.locator(f"id={unquote((link.get_attribute('href') or '').removeprefix('#'))}")
        assert target.count() == 1 and link.get_attribute("title")
    assert page.locator(".glossary dt").count() == len(GLOSSARY)


def test_every_word_of_the_template_is_in_the_glossary() -> None:
    template = Path(__file__).parents[2] / "reports" / "templates" / "cleaning.html.j2"
    used = re.findall(r'"([^"]+)" \| (?:term|define)', template.read_text(encoding="utf-8"))
    known = {term.term.casefold() for term in GLOSSARY}
    assert used and {word for word in used if word.casefold() not in known} == set()


def test_slugs_of_the_glossary_differ() -> None:
    assert len({slug(term.term) for term in GLOSSARY}) == len(GLOSSARY)


def test_71_models_and_1700_tasks_stay_small_and_readable(visit: Open, tmp_path: Path) -> None:
    page = visit(sample(71, 1700), viewport={"width": 1280, "height": 900}).page
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
