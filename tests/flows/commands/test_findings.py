"""Findings at the prompt: lists, formats, one finding, one task, the report."""

import csv
import io
import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agenthard.flows.audit_plan import AuditSettings
from agenthard.flows.audited_run import read_decisions, read_findings
from agenthard.flows.cli import app
from agenthard.flows.commands.first_findings import show_first
from agenthard.flows.demo import write_demo
from agenthard.flows.errors import CommandError
from agenthard.taxonomy.finding import NativeText, Tier
from tests.flows.audits import audit_by_steps

LINE = re.compile(r"(?P<file>\S.*?):(?P<line>\d+): \[(?P<id>[0-9a-f]{12})\] (?P<check>[\w-]+) \w+ (?P<tier>\w+): .*\(")
CATEGORIES = ("live_parallel", "live_parallel_multiple")
"""Small categories of BFCL v3 with flaws in documentation and ground truth."""


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    write_demo(folder / "benchmark")
    runs = (str(folder / "benchmark" / "runs.jsonl"),)
    path = str(folder / "benchmark")
    audit_by_steps(AuditSettings(source="native", path=path, runs=runs, out=str(folder / "run"), experimental=True))
    return folder / "run"


@pytest.fixture(scope="module")
def bfcl(corpora: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("bfcl") / "run"
    path = str(corpora / "bfcl_v3_2025-07-17")
    audit_by_steps(AuditSettings(source="bfcl", path=path, domains=CATEGORIES, out=str(out)))
    return out


def invoke(*words: object, code: int = 0) -> str:
    result = CliRunner().invoke(app, list(map(str, words)))
    assert result.exit_code == code, (result.output, result.exception)
    return result.stdout


def refused(*words: object) -> str:
    result = CliRunner().invoke(app, list(map(str, words)))
    assert isinstance(result.exception, CommandError), result.output
    return str(result.exception)


def assert_quoted(file: Path, line: int, native: NativeText) -> None:
    content = file.read_bytes()
    words = content[native.start : native.end].decode()
    assert content.count(b"\n", 0, native.start) + 1 == line
    assert words == native.text or json.loads(f'"{words}"') == native.text


@pytest.mark.long
def test_every_line_leads_to_the_quote_in_the_file(demo: Path) -> None:
    lines = invoke("findings", demo, code=1).splitlines()
    findings = {finding.id: finding for finding in read_findings(demo)}
    assert len(lines) == len(findings) > 20
    for line in lines:
        match = LINE.match(line)
        assert match, line
        finding = findings[match["id"]]
        assert (match["check"], match["tier"]) == (finding.check, finding.tier.value)
        native = finding.evidence[0].native
        if native is not None:
            assert_quoted(Path(match["file"]), int(match["line"]), native)


def test_page_summary_and_console_begin_with_the_same_findings(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = re.findall(r'id="look-([0-9a-f]{12})"', (demo / "report.html").read_text())
    begin = (demo / "summary.md").read_text().split("## Look at these first")[1].split("\n## ")[0]
    show_first(demo)
    console = re.findall(r"\[([0-9a-f]{12})\]$", capsys.readouterr().out, flags=re.MULTILINE)
    assert re.findall(r"finding=([0-9a-f]{12})", begin) == console == page[:5]
    assert len(page) == 10


def test_the_gravest_come_first(demo: Path) -> None:
    tiers = [LINE.match(line)["tier"] for line in invoke("findings", demo, code=1).splitlines()]  # type: ignore[index]
    assert tiers == sorted(tiers, key=list(Tier).index)


def test_filters_choose(demo: Path) -> None:
    dropped = {d.task_id for d in read_decisions(demo) if d.action == "drop"}
    found = json.loads(invoke("findings", demo, "--action", "drop", "--json", code=1))["findings"]
    assert {task for each in found for task in each["decisions"]["drop"]} == dropped
    both = json.loads(invoke("findings", demo, "--check", "call-schema", "--check", "turn-count", "--json", code=1))
    assert {each["check"] for each in both["findings"]} == {"call-schema", "turn-count"}
    of_task = json.loads(invoke("findings", demo, "--task", "parcels/11", "--tier", "confirmed", "--json", code=1))
    assert {"parcels/11" in (*each["task_ids"], *each["also_in"]) for each in of_task["findings"]} == {True}
    truth = json.loads(invoke("findings", demo, "--component", "ground_truth", "--json", code=1))
    assert {each["component"] for each in truth["findings"]} == {"ground_truth"}
    nothing = json.loads(invoke("findings", demo, "--check", "call-schema", "--severity", "cosmetic", "--json"))
    assert nothing["findings"] == []


def test_formats(demo: Path) -> None:
    ids = {finding.id for finding in read_findings(demo)}
    rows = list(csv.DictReader(io.StringIO(invoke("findings", demo, "--format", "csv", code=1))))
    assert {row["id"] for row in rows} == ids
    log = json.loads(invoke("findings", demo, "--format", "sarif", "--tier", "confirmed", code=1))
    results = log["runs"][0]["results"]
    confirmed = {finding.id for finding in read_findings(demo) if finding.tier is Tier.CONFIRMED}
    assert {each["partialFingerprints"]["agenthardFinding/v1"] for each in results} == confirmed
    commands = invoke("findings", demo, "--format", "github", "--action", "drop", code=1).splitlines()
    assert commands and all(re.fullmatch(r"::error file=[^,:]+,line=\d+,title=[^:,]+::.+", line) for line in commands)
    assert "conflicting-gold" in invoke("findings", demo, "--format", "table", code=1)


def test_hostile_text_stays_on_its_line(demo: Path, tmp_path: Path) -> None:
    document = json.loads((demo / "findings.json").read_text())
    document["findings"] = document["findings"][:1]
    document["findings"][0]["claim"] = "=1+1\n::error::x\x1b[2J, 100%"
    (tmp_path / "findings.json").write_text(json.dumps(document))
    (tmp_path / "tables").symlink_to(demo / "tables")
    assert len(invoke("findings", tmp_path, code=1).splitlines()) == 1
    (command,) = invoke("findings", tmp_path, "--format", "github", code=1).splitlines()
    assert command.partition("::")[2].partition("::")[2].startswith("=1+1%0A::error::x") and "100%25" in command
    (row,) = csv.DictReader(io.StringIO(invoke("findings", tmp_path, "--format", "csv", code=1)))
    assert row["claim"].startswith("'=1+1")


def test_what_the_audit_does_not_have_is_refused_with_a_suggestion(demo: Path, tmp_path: Path) -> None:
    assert "did you mean call-schema" in refused("findings", demo, "--check", "cal-schema")
    assert "did you mean parcels/1" in refused("findings", demo, "--task", "parcels/1l")
    assert "did you mean parcels/1" in refused("show", demo, "parcels/1l")
    assert "agenthard explain" in refused("show", demo, "call-schema")
    for command in (("findings", tmp_path), ("show", tmp_path, "x"), ("open", tmp_path)):
        assert "no finished audit here" in refused(*command)


def test_a_finding_is_shown_with_both_quotes_and_its_proof(demo: Path) -> None:
    finding = next(each for each in read_findings(demo) if each.check == "call-schema" and each.proof)
    shown = invoke("show", demo, finding.id)
    for text in (finding.claim, finding.why, finding.fix, "drop 1", '"weight_grams": "1250"', '"type": "integer"'):
        assert text in shown, text
    for item in finding.evidence:
        assert item.native and f"{item.native.file}:{item.native.line}" in shown
    assert f"$ agenthard replay --finding {finding.id} --run {demo}" in shown
    assert f"$ {finding.command}" in shown
    facts = json.loads(invoke("show", demo, finding.id, "--json"))
    assert facts["id"] == finding.id and [each["has_it"] for each in facts["history"]] == [True]


def test_a_task_is_shown_with_decision_dialogue_tools_and_findings(demo: Path) -> None:
    shown = invoke("show", demo, "parcels/7")
    for text in (
        "tasks.jsonl:38",
        "drop",
        "user 3",
        "Mind the old bathtub",
        "track_parcel",
        "2025-03-18",
        "turn-count",
    ):
        assert text in shown, text
    facts = json.loads(invoke("show", demo, "parcels/7", "--json"))
    assert facts["decision"]["action"] == "drop" and facts["task"]["id"] == "parcels/7"


def test_a_task_of_a_benchmark_that_is_gone_shows_what_is_left(demo: Path, tmp_path: Path) -> None:
    for name in ("findings.json", "manifest.json", "tables"):
        (tmp_path / name).symlink_to(demo / name)
    shown = invoke("show", tmp_path, "parcels/7")
    assert "The task itself is not shown" in shown and "turn-count" in shown


def test_explain_still_takes_a_finding_and_says_what_shows_it(demo: Path) -> None:
    finding = read_findings(demo)[0]
    result = CliRunner().invoke(app, ["explain", finding.id, "--run", str(demo)])
    assert result.exit_code == 0 and finding.claim in result.stdout
    assert f"agenthard show {demo} {finding.id}" in result.stderr


def test_the_report_is_opened_or_its_path_printed(demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    assert invoke("open", demo).strip() == str(demo / "report.html")
    assert json.loads(invoke("open", demo, "--json")) == {"report": str(demo / "report.html"), "opened": False}


@pytest.mark.corpora
def test_real_findings_lead_to_their_lines(bfcl: Path) -> None:
    found = json.loads(invoke("findings", bfcl, "--json", code=1))["findings"]
    assert len(found) > 5
    quotes = {each["id"]: each["evidence"] for each in found}
    for read in read_findings(bfcl):
        for item, quote in zip(read.evidence, quotes[read.id], strict=True):
            if item.native is not None:
                assert_quoted(Path(quote["file"]), quote["line"], item.native)
    finding = next(each for each in found if each["task_ids"])
    shown = invoke("show", bfcl, finding["task_ids"][0])
    assert finding["id"] in shown and "ground truth" in shown
