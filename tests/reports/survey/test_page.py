"""The page of a survey in a real browser: what it says first, anchors, hostile texts, both themes, a phone."""

from collections.abc import Callable, Mapping
from html import unescape
from pathlib import Path

import pytest

from agenthard.reports.cleaning.inputs import AnalysisSettings
from agenthard.reports.survey.page import write_survey
from agenthard.reports.survey.survey import survey
from tests.reports.browsing import Visit, row, words
from tests.reports.survey.library import ATTACK
from tests.reports.test_accessibility import THEMES, assert_accessible

pytestmark = pytest.mark.browser

Open = Callable[..., Visit]


@pytest.fixture(scope="module")
def page_file(audits: Mapping[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = survey(list(audits.values()), AnalysisSettings(draws=200, resamples=200), title=f"Library {ATTACK}")
    return write_survey(found, tmp_path_factory.mktemp("survey") / "index.html")[0]


@pytest.mark.long
@pytest.mark.parametrize(("scheme", "width"), [*THEMES, ("dark", 390)])
def test_nothing_is_inaccessible_or_wider_than_the_screen(
    open_file: Open, page_file: Path, scheme: str, width: int
) -> None:
    page = open_file(page_file, color_scheme=scheme, viewport={"width": width, "height": 900}).page
    assert_accessible(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_first_screen_says_what_is_missing(open_file: Open, page_file: Path) -> None:
    page = open_file(page_file, viewport={"width": 1440, "height": 900}).page
    assert words(page.locator(".sentence")).startswith("4 audits read 48 of 48 tasks and flagged 6")
    table = page.locator("#table-benchmarks tbody tr")
    bare, other = words(table.nth(2)), words(table.nth(3))
    assert "no recorded model runs" in bare and "2 of 12" in bare
    assert "audited differently: not comparable" in other and "1 check not asked to run" in other
    box = table.nth(3).bounding_box()
    assert box is not None and box["y"] + box["height"] < 900, "four benchmarks fit on the first screen"


def test_names_of_models_and_tasks_stay_text(open_file: Open, page_file: Path) -> None:
    visit = open_file(page_file)
    heads = [words(head) for head in visit.page.locator("#models tbody th").all()]
    assert ATTACK in heads and "bob <b>" in heads
    assert words(visit.page.locator("h1")) == f"Library {ATTACK}"
    assert visit.page.locator("img").count() == 0
    assert visit.page.evaluate("document.scripts.length") == 2, "the data and the page's own script"


def test_every_benchmark_and_model_has_an_anchor_of_its_own(open_file: Open, page_file: Path) -> None:
    page = open_file(page_file).page
    ids = page.eval_on_selector_all("[id]", "nodes => nodes.map(node => node.id)")
    assert len(ids) == len(set(ids))
    release = next(each for each in ids if each.startswith("native-") and each.endswith("-first"))
    assert f"{release}--ada" in ids and f"{release}-models" in ids
    broken = page.eval_on_selector_all(
        "a[href^='#']", "links => links.map(a => a.hash.slice(1)).filter(id => !document.getElementById(id))"
    )
    assert broken == []


def test_bounds_ranges_and_intervals_are_shown(open_file: Open, page_file: Path) -> None:
    page = open_file(page_file).page
    table = page.locator("#models table").first.get_attribute("id")
    assert table is not None
    ada = row(page, table.removeprefix("table-"), "ada")
    assert ada[1] == "66.7 % 12 of 12 tasks" and ada[2].endswith("1 by score") and ada[4] == "25.0 %"
    assert "as the runs were given" in words(page.locator("#history"))
    assert "No recorded scores." in words(page.locator("#models"))


def test_the_policy_of_the_page_allows_its_own_script_only(page_file: Path) -> None:
    html = unescape(page_file.read_text(encoding="utf-8"))
    assert "default-src 'none'" in html and "unsafe" not in html.partition("</head>")[0]
    assert "http://" not in html and "https://" not in html
