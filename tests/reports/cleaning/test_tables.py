"""The JSON twin, the summary and the tables."""

import csv
import json
from pathlib import Path

import pytest

from agenthard.audit.decisions.difficulty import DifficultyRule
from agenthard.reports.cleaning.analysis import analyse
from agenthard.reports.cleaning.inputs import AnalysisSettings
from agenthard.reports.cleaning.record import CleaningAnalysis
from agenthard.reports.cleaning.summary import summary_markdown
from agenthard.reports.cleaning.tables import tables_of, write_analysis
from agenthard.reports.kit.files import write_csv_tables
from tests.reports.cleaning.small import finding, made, runs

HOSTILE = "=HYPERLINK(1)|<b>[x](javascript:1) \ud800"
ROWS = {"a": "11110101", HOSTILE: "1110x001", "c": "11000110", "d": "10000100", "e": "01000010", "half": "11"}
SETTINGS = AnalysisSettings(draws=200, resamples=100, difficulty=DifficultyRule(threshold=0.7, min_models=3))


@pytest.fixture(scope="module")
def analysis() -> CleaningAnalysis:
    found = made("kkkkkrkd", runs(ROWS), categories="xxxxyyyy", findings=[finding(1, "t7", claim=f"Flaw {HOSTILE}")])
    return analyse(found, SETTINGS.model_copy(update={"min_verdicts": 0.5}))


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_equal_analyses_give_equal_bytes(analysis: CleaningAnalysis, tmp_path: Path) -> None:
    first, again = write_analysis(analysis, tmp_path / "1"), write_analysis(analysis, tmp_path / "2")
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in again]
    assert {"analysis.json", "summary.md", "leaderboards.csv", "ranking_stability.csv"} <= {path.name for path in first}


def test_the_json_twin_holds_the_whole_analysis(analysis: CleaningAnalysis, tmp_path: Path) -> None:
    write_analysis(analysis, tmp_path)
    document = json.loads((tmp_path / "analysis.json").read_text(encoding="utf-8"))
    assert document["schema_version"] == "1"
    assert [board["split"] for board in document["leaderboards"]] == [b.split for b in analysis.leaderboards]
    assert document["headline"]["cost"] is None


def test_the_leaderboard_table_holds_every_number_of_the_board(analysis: CleaningAnalysis, tmp_path: Path) -> None:
    write_analysis(analysis, tmp_path)
    rows = read(tmp_path / "tables" / "leaderboards.csv")
    board = analysis.leaderboards[0]
    assert len(rows) == sum(len(b.rows) for b in analysis.leaderboards)
    first, row = rows[0], board.rows[0]
    assert (first["split"], first["split_id"], first["rank"], first["model"]) == (
        "initial",
        board.split_id,
        "1",
        row.model,
    )
    assert float(first["score"]) == pytest.approx(row.passed / row.runs)
    assert first["score_undefined"] == ""
    stages = read(tmp_path / "tables" / "stages.csv")
    assert [stage["ran"] for stage in stages] == ["True", "True", "False", "False", str(len(analysis.splits) == 3)]
    assert stages[0]["compression_from_previous"] == ""
    assert stages[0]["compression_from_previous_undefined"].startswith("undefined because")


def test_a_text_that_a_spreadsheet_would_run_is_defused(tmp_path: Path) -> None:
    rows = [{"model": text, "n": -1} for text in ("=1+1", "@x", "+1", "-1", "plain")]
    (path,) = write_csv_tables({"t": rows}, tmp_path)
    assert [row["model"] for row in read(path)] == ["'=1+1", "'@x", "'+1", "'-1", "plain"]
    assert {row["n"] for row in read(path)} == {"-1"}


def test_every_table_has_equal_keys_in_all_rows(analysis: CleaningAnalysis) -> None:
    for name, rows in tables_of(analysis).items():
        assert rows and all(row.keys() == rows[0].keys() for row in rows), name


def test_the_summary_says_what_the_reader_of_a_scheduled_audit_needs(analysis: CleaningAnalysis) -> None:
    text = summary_markdown(analysis)
    assert text.startswith("# Library: what cleaning does to the leaderboard")
    for part in (
        "| checked | flagged | new since last | undecided | cost |",
        "| 8 of 8 | 1 | no earlier audit | 1 | unknown |",
        "[details](../report.html#finding=000000000001)",
        "do not compare its scores with those of another split",
        "Not comparable: half (attempted 2 of 8 tasks (x 2/4, y 0/4)).",
        "Leads in bootstrap resamples",
        "the null of deleting as many random tasks",
        "1 task under review can move a score",
        "not run: its findings are not known apart from those of the rules",
        "With infrastructure errors as failures:",
    ):
        assert part in text, part


def test_texts_of_the_benchmark_stay_texts_in_the_summary(analysis: CleaningAnalysis, tmp_path: Path) -> None:
    text = summary_markdown(analysis)
    assert "<b>" not in text and "[x](" not in text
    write_analysis(analysis, tmp_path)
    assert "\\ud800" in (tmp_path / "summary.md").read_text(encoding="utf-8")
