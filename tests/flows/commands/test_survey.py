"""``agenthard survey``: what it prints and writes."""

import json
from pathlib import Path

from typer.testing import CliRunner

from agenthard.flows.cli import app
from agenthard.flows.errors import EXPECTED, error_message
from agenthard.reports.survey.record import Survey
from tests.reports.survey.library import audit_library


def test_survey_writes_page_data_and_tables(tmp_path: Path) -> None:
    runs = [audit_library(tmp_path, "first"), audit_library(tmp_path, "bare", models={})]
    page = tmp_path / "out" / "index.html"
    words = ["survey", *map(str, runs), "--out", str(page), "--draws", "200", "--resamples", "200"]
    done = CliRunner().invoke(app, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert "2 audits read 24 of 24 tasks and flagged 4: 4 to drop" in done.stdout
    assert "no recorded model runs" in done.stdout and str(page) in done.stdout
    assert {path.name for path in page.parent.iterdir()} == {"index.html", "survey.json", "tables"}
    assert {path.stem for path in (page.parent / "tables").iterdir()} == {
        "benchmarks", "categories", "evaluators", "models", "history",
    }  # fmt: skip
    printed = CliRunner().invoke(app, [*words, "--json"], catch_exceptions=False).stdout
    assert Survey.model_validate_json(printed).benchmarks[1].run == "bare"
    assert json.loads(printed) == json.loads((page.parent / "survey.json").read_text(encoding="utf-8"))


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["survey", str(tmp_path), "--out", str(tmp_path / "page.html")])
    assert isinstance(done.exception, EXPECTED)
    assert "no finished audit here" in error_message(done.exception)
