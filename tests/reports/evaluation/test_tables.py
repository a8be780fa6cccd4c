"""The files of a report: equal bytes for equal input, strict JSON, safe CSV and Markdown, figures of every kind."""

import csv
import json
from pathlib import Path

import pytest

from agenthard.ace.declared import ACE
from agenthard.reports.evaluation import About, EvaluationAnalysis, analyse, read_published, write_evaluation
from agenthard.reports.figures.evaluation import figures
from tests.reports.evaluation.frames import episodes, grid, verdicts
from tests.reports.evaluation.test_published import INSTANCES, written
from tests.reports.figures.reading import marks, parsed, texts
from tests.reports.shop import ATTACK

LAST = ("difficulty", "failures", "pairs")


def whole(folder: Path, names: tuple[str, ...] = ("strong", "strong+forgets", "weak")) -> EvaluationAnalysis:
    published = [read_published(written(folder, "per.csv", INSTANCES), ACE)]
    return analyse(grid(names), About(title="Small", planned=dict.fromkeys(names, 48)), published, declared=ACE)


def test_equal_analyses_give_equal_bytes(tmp_path: Path) -> None:
    first = write_evaluation(whole(tmp_path), tmp_path / "one")
    second = write_evaluation(whole(tmp_path), tmp_path / "two")
    assert [path.name for path in first] == [path.name for path in second] and len(first) == 16
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    assert not any(str(tmp_path) in path.read_text() for path in first), "no path of this machine"


def test_the_twin_is_strict_json_and_reads_back(tmp_path: Path) -> None:
    analysis = whole(tmp_path)
    write_evaluation(analysis, tmp_path)
    text = (tmp_path / "evaluation.json").read_text()
    again = EvaluationAnalysis.model_validate(json.loads(text))
    assert "NaN" not in text and again.model_copy(update={"declared": ACE}) == analysis


def test_tables_hold_reasons_next_to_empty_cells(tmp_path: Path) -> None:
    write_evaluation(whole(tmp_path, ("=cmd()", "b", "c")), tmp_path)
    rows = list(csv.DictReader((tmp_path / "tables" / "failure_rates.csv").read_text().splitlines()))
    assert rows[0]["agent"] == "'=cmd()", "a spreadsheet does not run it"
    assert rows[0]["difference"] == "" and rows[0]["difference_undefined"].startswith("undefined because")
    usage = list(csv.DictReader((tmp_path / "tables" / "usage.csv").read_text().splitlines()))
    assert {row["total"] for row in usage if row["measure"] == "cost" and row["agent"] == "b"} == {""}


def test_the_summary_escapes_names_and_never_shows_an_unknown_price_as_zero(tmp_path: Path) -> None:
    write_evaluation(analyse(episodes(*verdicts("a|b <i>", "10")), About(), declared=ACE), tmp_path)
    text = (tmp_path / "summary.md").read_text()
    assert "a\\|b \\<i\\>" in text and "no price is known for any of 2 attempts" in text and "$0" not in text
    write_evaluation(whole(tmp_path), tmp_path)
    assert "Cost: at least $0.48 (48 of 144 attempts with a price)." in (tmp_path / "summary.md").read_text()


def test_figures_place_scores_where_they_belong(tmp_path: Path) -> None:
    drawn = figures(whole(tmp_path))
    assert list(drawn) == ["board", "cells", "conditions", "slices", "measures", "horizon", *LAST]
    assert drawn.pop("measures").reason == "undefined because the benchmark declares none"
    assert all(figure.svg is not None and len(figure.alt) > 60 for figure in drawn.values())
    heights = [y for _, y, node in marks(drawn["board"], "path") if "of 24" in (node.get("data-tip") or "")]
    assert heights == sorted(heights) and len(heights) == 3
    root = parsed(drawn["cells"])
    above = {child: node for node in root.iter() for child in node}
    fills = {}
    for node in root.iter("path"):
        holder = node
        while holder.get("fill") is None:
            holder = above[holder]
        fills[node.get("data-tip")] = holder.get("fill")
    # strong on H = 1, B = 0: 9 - 1 > 1 in both domains and trials: 4 of 4, the last shade of the ramp.
    # weak on H = 1, B = 2: course 3 - 1 - 1 = 1 > 0 and 0, meal 2 and 1: 3 of 4; .75 opens the seventh step.
    # weak on H = 5, B = 4: below 0 everywhere.
    assert fills["strong\nH = 1, B = 0\n100.0 % (4 of 4)"] == "var(--shade-7)"
    assert fills["weak\nH = 1, B = 2\n75.0 % (3 of 4)"] == "var(--shade-6)"
    assert fills["weak\nH = 5, B = 4\n0.0 % (0 of 4)"] == "var(--shade-0)"
    assert "m *" in texts(drawn["cells"]), "a published map is marked"


@pytest.mark.parametrize("names", [(ATTACK, "\x00\x1b[31m", "\u202eevil"), ("]]>&amp;", "", "é" * 500)])
def test_any_name_is_drawn_and_written_as_text(tmp_path: Path, names: tuple[str, str, str]) -> None:
    analysis = whole(tmp_path, names)
    for figure in (figure for figure in figures(analysis).values() if figure.svg is not None):
        assert {node.tag for node in parsed(figure).iter()} <= {"svg", "g", "path", "text", "tspan", "line", "rect"}
    write_evaluation(analysis, tmp_path / "out")
    html = (tmp_path / "out" / "evaluation.html").read_text()
    assert "<img" not in html and html.count("<script") == 2


def test_figures_that_cannot_be_drawn_say_why(tmp_path: Path) -> None:
    for analysis in (
        analyse(episodes(), About(), declared=ACE),
        analyse(episodes({"passed": None, "hidden_slots": None}), About(), declared=ACE),
    ):
        drawn = figures(analysis)
        assert all(f.svg is None and f.reason.startswith("undefined because") for f in drawn.values())
        assert write_evaluation(analysis, tmp_path)
