"""Repeating an audit: equal bytes, what explains other bytes, and what is refused."""

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agenthard.audit.detectors.ground_truth.call_schema import CallSchema
from agenthard.flows.cli import app
from agenthard.flows.errors import CommandError, RunFolderError
from agenthard.flows.report import ReportSettings, held, make_report
from agenthard.flows.rerun import default_out, rerun
from agenthard.flows.review.decide import DecideSettings, ReviewedRun, decide_run
from agenthard.flows.review.events import Event
from agenthard.flows.review.store import EventStore
from tests.flows.operations import audited, demo_settings, kill, start_slow_audit
from tests.flows.review.build_events import finding_verdict


def test_a_repetition_is_equal_byte_for_byte(flawed_demo: Path, tmp_path: Path) -> None:
    run = audited(flawed_demo, tmp_path / "run")
    settings = ReportSettings(run=str(run))
    with held(settings):
        make_report(settings)
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    found = rerun(run, tmp_path / "again", workers=2)
    assert (found.differences, found.reasons) == ((), ())
    files = [path.relative_to(tmp_path / "again").as_posix() for path in (tmp_path / "again").rglob("*.*")]
    assert {"findings.json", "results.sarif", "report/report.html", "split/hard/manifest.json"} <= set(files)
    assert found.equal > 30
    assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == before


def test_a_killed_repetition_is_continued(flawed_demo: Path, tmp_path: Path) -> None:
    run = audited(flawed_demo, tmp_path / "run")
    kill(start_slow_audit(demo_settings(flawed_demo, tmp_path / "again")))
    assert rerun(run, tmp_path / "again").differences == ()


def test_verdicts_of_people_are_decided_with_again(flawed_demo: Path, tmp_path: Path) -> None:
    run = audited(flawed_demo, tmp_path / "run", runs=False)
    finding = json.loads((run / "findings.json").read_text())["findings"][0]["id"]
    with EventStore.of_run(run) as store:
        store.append([_rejection(run, finding)])
    decide_run(DecideSettings(run=str(run)))
    assert finding in [each["finding"]["id"] for each in json.loads((run / "findings.json").read_text())["suppressed"]]
    assert rerun(run, tmp_path / "again").differences == ()


def test_a_damaged_run_differs_and_nothing_else_explains_it(flawed_demo: Path, tmp_path: Path) -> None:
    run = audited(flawed_demo, tmp_path / "run", runs=False)
    (run / "summary.md").write_text("All is well.\n")
    (run / "tables" / "README.md").unlink()
    printed = CliRunner().invoke(app, ["rerun", str(run), "--out", str(tmp_path / "again"), "-q"])
    assert printed.exit_code == 1
    assert printed.output.startswith(
        "differs: summary.md\nonly now: tables/README.md\nnothing is known to have changed"
    )
    assert "not as they were written, so a difference may be theirs: summary.md, tables/README.md" in printed.output


def test_what_has_changed_since_is_named(flawed_demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = audited(flawed_demo, tmp_path / "run", runs=False)
    monkeypatch.setattr(CallSchema, "version", "999")
    found = rerun(run, tmp_path / "other-check")
    assert "check call-schema: version 999 instead of 6" in found.reasons
    assert "manifest.json" in [each.file for each in found.differences]
    monkeypatch.undo()
    tasks = flawed_demo / "tasks.jsonl"
    tasks.write_text(tasks.read_text().replace("parcel", "packet", 1))
    found = rerun(run, tmp_path / "other-benchmark")
    assert any(reason.startswith("the benchmark has changed: content ") for reason in found.reasons)
    assert {"findings.json", "split/cleaned/manifest.json"} <= {each.file for each in found.differences}


def test_what_cannot_be_repeated_is_refused_with_the_reason(flawed_demo: Path, tmp_path: Path) -> None:
    run = audited(flawed_demo, tmp_path / "run", runs=False)
    with pytest.raises(CommandError, match="lies in the run that is repeated"):
        rerun(run, run / "again")
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "notes.txt").touch()
    with pytest.raises(RunFolderError, match="holds no audit"):
        rerun(run, tmp_path / "taken")
    judged = shutil.copytree(run, tmp_path / "judged")
    (judged / "judge").mkdir()
    (judged / "judge" / "identity.json").write_text("{}")
    with pytest.raises(CommandError, match="replies of models are not repeatable"):
        rerun(judged, tmp_path / "again")
    shutil.rmtree(flawed_demo)
    with pytest.raises(CommandError, match="name its folder with --benchmark"):
        rerun(run, tmp_path / "again")
    assert not (tmp_path / "again").exists()
    assert default_out(Path("runs/x")) == Path("runs/x-rerun")


def _rejection(run: Path, finding: str) -> Event:
    content = ReviewedRun(run).contents["finding", finding]
    event = finding_verdict(finding, "false", content=content)
    return event.model_copy(update={"run": run.name})
