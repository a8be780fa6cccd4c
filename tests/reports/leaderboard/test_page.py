"""The leaderboard page and its fragments in a real browser; they are functions without a command line."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from agenthard.reports.cleaning.inputs import AnalysisSettings
from agenthard.reports.leaderboard.page import write_leaderboard_page
from agenthard.reports.leaderboard.record import Leaderboards
from tests.reports.browsing import Visit, row, words
from tests.reports.survey.library import ATTACK
from tests.reports.test_accessibility import THEMES, assert_accessible

pytestmark = pytest.mark.browser

Open = Callable[..., Visit]
FEW = AnalysisSettings(draws=200, resamples=200)


@pytest.fixture(scope="module")
def folder(audits: Mapping[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("board") / "out"
    write_leaderboard_page(out, list(audits.values()), ("original", "clean", "hard"), FEW)
    return out


@pytest.mark.long
@pytest.mark.parametrize(("scheme", "width"), [*THEMES, ("dark", 390)])
@pytest.mark.parametrize("name", ["index.html", "embed.html"])
def test_nothing_is_inaccessible_or_wider_than_the_screen(
    open_file: Open, folder: Path, name: str, scheme: str, width: int
) -> None:
    page = open_file(folder / name, color_scheme=scheme, viewport={"width": width, "height": 900}).page
    assert_accessible(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_ranks_are_ranges_with_k_of_n(open_file: Open, folder: Path) -> None:
    page = open_file(folder / "index.html").page
    table = page.locator("#boards table").first.get_attribute("id")
    assert table is not None
    ada = row(page, table.removeprefix("table-"), "ada")
    assert ada[1] == "1–3 1 by score tied with 2", "twelve tasks tell none of the models apart (exact McNemar)"
    assert row(page, table.removeprefix("table-"), ATTACK)[1] == "1–3 3 by score tied with 2"
    assert ada[2].startswith("66.7 %") and ada[2].endswith("8 of 12 runs") and ada[4].endswith("6 of 10 runs")
    assert "No recorded runs." in words(page.locator("#boards"))
    assert "their scores must not be compared" in words(page.locator("#history"))


def test_names_of_models_stay_text(open_file: Open, folder: Path) -> None:
    for name in ("index.html", "embed.html"):
        page = open_file(folder / name).page
        assert ATTACK in [words(head) for head in page.locator("tbody th").all()]
        assert page.locator("img").count() == 0


def test_a_fragment_works_in_a_frame_without_any_script(open_file: Open, folder: Path) -> None:
    fragments = sorted(folder.glob("embed-*.html"))
    assert len(fragments) == 3
    for fragment in [folder / "embed.html", *fragments]:
        html = fragment.read_text(encoding="utf-8")
        assert "<script" not in html.replace(ATTACK, "") and "http" not in html.partition("</head>")[2]
    host = folder / "host.html"
    host.write_text(f'<iframe sandbox src="{fragments[1].name}" width="600" height="400"></iframe>', encoding="utf-8")
    page = open_file(fragments[1]).page
    page.goto("about:blank")
    page.context.new_page().goto(host.as_uri())
    frame = page.context.pages[-1].frames[1]
    assert frame.locator("tbody tr").count() == 3 and "ada" in frame.locator("tbody").inner_text()


def test_the_json_twin_is_the_record(folder: Path, audits: Mapping[str, Path], tmp_path: Path) -> None:
    text = (folder / "leaderboard.json").read_bytes()
    found = Leaderboards.model_validate_json(text)
    assert [each.run for each in found.benchmarks] == ["first", "second", "bare"]
    [history] = found.histories
    assert [version.run for version in history.versions] == ["first", "second", "bare"] and not history.same_tasks
    assert json.loads(text)["schema_version"] == "1"
    write_leaderboard_page(tmp_path / "again", list(audits.values()), ("original", "clean", "hard"), FEW)
    assert (tmp_path / "again" / "leaderboard.json").read_bytes() == text
    assert (tmp_path / "again" / "index.html").read_bytes() == (folder / "index.html").read_bytes()
