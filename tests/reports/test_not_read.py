"""What was not read is in every output of an audit."""

import json
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet
import pytest

from agenthard.audit.sources.base import NotRead
from agenthard.flows.audit_outputs import AuditOutcome
from agenthard.flows.audit_plan import AuditSettings
from agenthard.flows.commands.audit import show_outcome
from agenthard.reports.findings_json import write_findings_json
from agenthard.reports.page import write_page, write_summary
from agenthard.reports.result import AuditResult
from agenthard.reports.sarif import write_sarif
from agenthard.reports.tables import write_tables

GAP = NotRead(file="domains/banking", tasks=97, reason="a layout that this reader does not know")
UNKNOWN = NotRead(file="pipe\x1b[31m.json", reason="it is a named pipe")
LEFT_OUT = NotRead(file="domains/mock", tasks=10, reason="left out by --domain", left_out=True)


@pytest.fixture
def result(shop: AuditResult) -> AuditResult:
    return replace(shop, not_read=[GAP, UNKNOWN, LEFT_OUT])


def test_it_is_in_the_table_and_its_dictionary(result: AuditResult, tmp_path: Path) -> None:
    write_tables(result, tmp_path, [])
    rows = pyarrow.parquet.read_table(tmp_path / "not_read.parquet").to_pylist()
    assert [(row["file"], row["tasks"], row["left_out"]) for row in rows] == [
        ("domains/banking", 97, False),
        ("pipe\x1b[31m.json", None, False),
        ("domains/mock", 10, True),
    ]
    assert "## not_read.parquet" in (tmp_path / "README.md").read_text()


def test_it_is_in_findings_json_with_its_sums(result: AuditResult, tmp_path: Path) -> None:
    write_findings_json(result, tmp_path / "findings.json")
    data = json.loads((tmp_path / "findings.json").read_text())
    assert [NotRead.model_validate(item) for item in data["not_read"]] == [GAP, UNKNOWN, LEFT_OUT]
    assert (data["totals"]["not_read"], data["totals"]["left_out"], data["totals"]["gaps"]) == (97, 10, 2)
    assert "97 tasks in the folder not read (domains/banking: a layout" in data["summary"]


def test_it_is_a_notification_in_sarif(result: AuditResult, tmp_path: Path) -> None:
    write_sarif(result, tmp_path / "results.sarif")
    run = json.loads((tmp_path / "results.sarif").read_text())["runs"][0]
    told = [(n["level"], n["message"]["text"]) for n in run["invocations"][0]["toolExecutionNotifications"]]
    assert ("error", "Not read: domains/banking (97 tasks): a layout that this reader does not know") in told
    assert ("note", "Left out: domains/mock (10 tasks): left out by --domain") in told
    assert (run["properties"]["tasksNotRead"], run["properties"]["tasksLeftOut"]) == (97, 10)


def test_it_is_on_the_first_screen_of_page_and_summary(result: AuditResult, tmp_path: Path) -> None:
    write_page(result, tmp_path / "report.html")
    top = (tmp_path / "report.html").read_text().partition('<section id="findings"')[0]
    assert "<code>domains/banking</code>, 97 tasks: a layout that this reader does not know" in top
    write_summary(result, tmp_path / "summary.md")
    summary = (tmp_path / "summary.md").read_text()
    assert "| 97 | 10 |" in summary.splitlines()[6]
    assert "* Not read: domains/banking, 97 tasks: a layout" in summary


def test_without_gaps_page_and_summary_say_nothing_of_them(shop: AuditResult, tmp_path: Path) -> None:
    write_page(shop, tmp_path / "report.html")
    write_summary(shop, tmp_path / "summary.md")
    assert "not-read" not in (tmp_path / "report.html").read_text()
    assert "Not read:" not in (tmp_path / "summary.md").read_text()


def outcome(tmp_path: Path, *not_read: NotRead) -> AuditOutcome:
    return AuditOutcome(
        source="tau2",
        benchmark="v1 abc",
        tasks=278,
        checked=278,
        not_checked=0,
        quarantined=0,
        not_read=not_read,
        tasks_not_read=97 if GAP in not_read else 0,
        tasks_left_out=10 if LEFT_OUT in not_read else 0,
        tasks_there=278 + sum(item.tasks or 0 for item in not_read),
        runs=0,
        infrastructure_errors=0,
        quarantined_runs=0,
        findings={},
        confirmed=0,
        check_errors=0,
        decisions={"keep": 278, "unchecked": 0, "review": 0, "drop": 0},
        split_id="x",
        kept=278,
        folder=str(tmp_path),
        report="report.html",
    )


def shown(tmp_path: Path, capsys: pytest.CaptureFixture[str], *not_read: NotRead) -> str:
    settings = AuditSettings(source="tau2", path=".", out=str(tmp_path))
    (tmp_path / "findings.json").write_text('{"findings": []}')
    show_outcome(outcome(tmp_path, *not_read), settings, 0, None)
    return capsys.readouterr().out


def test_the_console_sums_what_is_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(tmp_path, capsys, LEFT_OUT, GAP)
    assert "checked 278 + not checked 0 + quarantined 0 + not read 97 + left out 10 = 385;" in text
    lines = [line.strip() for line in text.splitlines() if "domains/" in line]
    assert lines[0].startswith("not read: domains/banking (97 tasks): a layout")
    assert lines[1].startswith("left out: domains/mock (10 tasks)")
    assert "= at least 375;" in shown(tmp_path, capsys, UNKNOWN, GAP)
    assert "\x1b" not in shown(tmp_path, capsys, UNKNOWN)
    assert "+ not read 0 = 278;" in shown(tmp_path, capsys)


def test_what_was_not_left_out_on_purpose_makes_an_audit_incomplete(tmp_path: Path) -> None:
    absent = NotRead(file="domains/retail", tasks=0, reason="no tasks here")
    assert [outcome(tmp_path, item).incomplete for item in (GAP, UNKNOWN, LEFT_OUT, absent)] == [
        True,
        True,
        False,
        False,
    ]
