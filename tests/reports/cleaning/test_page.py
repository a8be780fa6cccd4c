"""What the page on cleaning says, read in a real browser."""

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote

import pytest

from agenthard.audit.statistics.result import undefined
from agenthard.reports.cleaning.inputs import LedgerEntry
from agenthard.reports.cleaning.record import GLOSSARY
from agenthard.reports.kit.page import anchor
from agenthard.reports.result import AuditResult
from tests.reports.browsing import Visit, row, words
from tests.reports.figures.sample import sample, without_runs

pytestmark = pytest.mark.browser

Open = Callable[..., Visit]


def test_thirty_seconds_tell_the_outcome_and_five_numbers(open_cleaning: Open) -> None:
    page = open_cleaning(sample()).page
    assert page.title() == "Corner Shop: what cleaning does to its leaderboard"
    assert words(page.locator(".sentence")).startswith("40 of 40 tasks were checked and 10 flagged")
    tiles = [words(tile) for tile in page.locator(".tile").all()]
    assert [tile.split()[0] for tile in tiles] == ["Checked", "Flagged", "New", "Undecided", "Cost"]
    assert tiles[0] == "Checked 40 of 40 tasks" and tiles[1] == "Flagged 10 25.0 % of the tasks"
    assert tiles[2] == "New findings – no earlier audit was given" and tiles[4] == "Cost $0.00 spent on models"
    assert page.locator(".top-findings a").first.get_attribute("href") == "../report.html#finding=000000000000"


def test_split_cards_say_id_size_power_and_what_not_to_compare(open_cleaning: Open) -> None:
    page = open_cleaning(sample()).page
    cleaned = words(page.locator(".split-card.cleaned"))
    assert "30 tasks" in cleaned and "000000000001" in cleaned
    assert "differences of 29.8 points or more" in cleaned, "2.8 · sqrt(0.34 / 30) = 0.2981"
    assert "Do not compare its scores with those of initial 000000000000 or hard 000000000002" in cleaned
    assert "Each model is scored on the tasks that the other models select." in words(page.locator("#splits"))


def test_the_price_of_the_hard_split_stands_next_to_it(open_cleaning: Open) -> None:
    page = open_cleaning(sample()).page
    assert row(page, "unseen", "All issue-cleaned tasks") == [
        *("All issue-cleaned tasks", "30", "60.0 %", "30.0 %", "5.00", "0.400"),
    ]
    cells = [words(cell) for cell in page.locator("#table-unseen tbody tr").nth(1).locator("th, td").all()]
    assert cells[0] == "Solved by at most 87.5 % of the models the rule of this report"
    assert cells[3] == "24.0 % random 21.0 % 15.0–27.0 %" and cells[4] == "4.00 random 3.50 3.00–4.50"
    assert "It costs pairs and gains nothing per task." in words(page.locator("#splits"))
    none = open_cleaning(without_runs()).page
    assert "Not measured. It is undefined because no runs" in words(none.locator("#splits"))


def test_leaderboards_stand_side_by_side_and_in_detail(open_cleaning: Open) -> None:
    page = open_cleaning(sample()).page
    side = row(page, "leaderboards", "vendor-1/model-01")
    assert side == [
        *(
            "vendor-1/model-01",
            "2 supported 1–4",
            "80.4 % 72.4–88.4 %",
            "2 supported 1–4",
            "71.9 % 63.9–79.9 %",
            "2 supported 1–4",
        ),
        *("68.9 % 60.9–76.9 %", "0"),
    ]
    assert not page.locator("#table-leaderboard-hard").is_visible()
    page.get_by_label("Show").select_option("hard split in detail")
    assert page.locator("#table-leaderboard-hard").is_visible() and not page.locator("#table-leaderboards").is_visible()
    detail = row(page, "leaderboard-hard", "vendor-1/model-01")
    assert detail[0] == "2 supported 1–4" and detail[4] == "17 of 24" and detail[5] == "ranks 1–4"
    assert detail[6] == "67.9 % 59.9–75.9 %" and detail[7] == "2", "the other reading of infrastructure errors"
    board = words(page.locator("[data-board=hard]"))
    assert "Leads in resamples 81.0 %" in board and "Pairs that differ significantly 55.0 %" in board
    page.locator("[data-board=hard] summary", has_text="3 tied sets").click()
    assert page.locator("[data-board=hard] .fold li").count() == 3


def test_a_model_without_a_score_or_an_interval_says_why(open_cleaning: Open) -> None:
    analysis = sample()
    board, why = analysis.leaderboards[1], undefined("every run of it broke")
    last = board.rows[-1].model_copy(
        update={"rank": None, "score": why, "rank_interval": why, "rank_errors_as_failures": None}
    )
    first = board.rows[0].model_copy(update={"rank_interval": undefined("one model was given")})
    rows = (first, *board.rows[1:-1], last)
    boards = (analysis.leaderboards[0], board.model_copy(update={"rows": rows}), analysis.leaderboards[2])
    page = open_cleaning(analysis.model_copy(update={"leaderboards": boards})).page
    assert row(page, "leaderboards", first.model)[3] == "1 no interval: undefined because one model was given"
    cells = row(page, "leaderboards", last.model)
    assert cells[3] == cells[4] == "undefined because every run of it broke"
    page.get_by_label("Show").select_option("issue-cleaned split in detail")
    assert row(page, "leaderboard-cleaned", last.model)[7] == "no score, so no rank"


def test_models_that_ran_too_little_stand_apart(open_cleaning: Open) -> None:
    page = open_cleaning(sample()).page
    assert "vendor-9/late-model" not in words(page.locator("#table-leaderboards"))
    outsider = row(page, "not-comparable", "vendor-9/late-model")
    assert outsider == ["vendor-9/late-model", "5 of 40", "4", "5", "1", "attempted 5 of 40 tasks (retail 5/40)"]


def test_every_change_of_rank_is_shown_with_its_null(open_cleaning: Open) -> None:
    page = open_cleaning(sample()).page
    assert page.locator("#stability .verdict").first.inner_text().startswith("≈ No figure exceeds")
    tau = row(page, "stability-initial-cleaned", "Kendall τ-b")
    assert tau[1:4] == ["0.930", "0.950", "0.920–0.980"] and tau[5:] == ["0.3", "0.6", "within the null"]
    first = row(page, "stability-initial-cleaned", "another model comes first")
    assert first[1:3] == ["undefined because two models share first place"] * 2
    other = page.locator("#stability details", has_text="infrastructure errors counted as failures")
    assert other.locator("table").count() == 3 and not other.locator("table").first.is_visible()


def test_stage_table_says_what_ran_and_what_is_outside_its_band(open_cleaning: Open) -> None:
    page = open_cleaning(sample()).page
    stages = page.locator("#table-stages tbody tr")
    assert words(stages.nth(3)) == "Judge the judge was not asked"
    rules = words(stages.nth(1))
    assert "32 8 removed" in rules and "67.6 % ◆ random 66.0 % 65.0–67.0 %" in rules
    assert "beyond random deletion" in stages.nth(1).locator("[role=img]").first.get_attribute("aria-label")  # type: ignore[operator]


def test_no_cell_is_blank_and_nothing_reads_nan(open_cleaning: Open) -> None:
    for analysis in (sample(), without_runs()):
        page = open_cleaning(analysis).page
        blank = page.evaluate(
            "[...document.querySelectorAll('td')].filter(c => !c.textContent.trim() && !c.querySelector('svg'))"
            ".map(c => c.closest('table').id + ' ' + c.closest('tr').textContent)"
        )
        assert blank == []
        assert not re.search(r"\b(nan|none%|null%|inf)\b", page.locator("body").inner_text().lower())


def test_without_runs_every_part_says_why_it_is_missing(open_cleaning: Open) -> None:
    page = open_cleaning(without_runs()).page
    why = "undefined because no runs of models were given"
    for part in ("#leaderboards", "#bounds", "#figure-difficulty", "#figure-separability", "#table-stages", "#splits"):
        assert why in words(page.locator(part)), part
    assert page.locator("#table-stages tbody tr").nth(1).locator("td.undefined").get_attribute("colspan") == "5"
    assert "No ranking to compare" in words(page.locator("#stability"))
    assert page.locator(".drawing svg").count() == 2, "retention and components need no runs"


def test_findings_lead_to_the_audit(open_cleaning: Open) -> None:
    page = open_cleaning(sample()).page
    link = page.locator("#findings").get_by_role("link", name="Too lenient")
    assert link.get_attribute("href") == "../report.html#component=evaluation&category=too-lenient"
    assert words(page.locator("#table-findings tbody tr").first) == "■ User none, but 1 signal 0 0"


def test_coverage_names_the_checks_of_the_audit(open_cleaning: Open, shop: AuditResult) -> None:
    page = open_cleaning(sample()).page
    assert words(page.locator("#table-coverage tbody tr").nth(1)) == "all-models-fail 1 nowhere: 0 of 40 0 0 39 1"
    known = LedgerEntry(check="lenient-substring", version="2", flagged=1, clean=0, not_checked=4, errors=0)
    page = open_cleaning(sample().model_copy(update={"ledger": (known,)}), shop).page
    text = words(page.locator("#table-coverage tbody tr"))
    assert "A required output that almost any reply contains" in text and "no required output (4)" in text


def test_figures_are_described_and_take_part_in_no_other_way(open_cleaning: Open) -> None:
    page = open_cleaning(sample()).page
    for figure in page.locator(".figure").all():
        described = figure.get_by_role("img")
        assert len(described.get_attribute("aria-label") or "") > 60
        assert described.locator("svg").get_attribute("aria-hidden") == "true"
    assert page.locator(".figure").count() == 7


def test_words_lead_to_the_glossary(open_cleaning: Open) -> None:
    page = open_cleaning(sample()).page
    for link in page.locator("a.term").all():
        target = page.locator(f"id={unquote((link.get_attribute('href') or '').removeprefix('#'))}")
        assert target.count() == 1 and link.get_attribute("title")
    assert page.locator(".glossary dt").count() == len(GLOSSARY)


def test_every_word_of_the_templates_is_in_the_glossary() -> None:
    templates = (Path(__file__).parents[3] / "reports" / "templates").glob("cleaning*.html.j2")
    text = "".join(path.read_text(encoding="utf-8") for path in sorted(templates))
    used = re.findall(r'"([^"]+)" \| (?:term|define)', text)
    known = {term.term.casefold() for term in GLOSSARY}
    assert len(used) > 8 and {word for word in used if word.casefold() not in known} == set()


def test_slugs_of_the_glossary_differ() -> None:
    assert len({anchor(term.term) for term in GLOSSARY}) == len(GLOSSARY)
