"""A damaged, missing or added file of a run folder is named, whatever kind of file it is."""

import json
import shutil
import sqlite3
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agenthard.flows.audit_flow import run_audit
from agenthard.flows.audit_plan import AuditInput
from agenthard.flows.checksums import Checksums, nested_runs, write_checksums
from agenthard.flows.cli import app
from agenthard.flows.errors import FolderInUseError
from agenthard.flows.report import ReportSettings, held, make_report
from agenthard.flows.review.decide import DecideSettings, decide_run
from agenthard.flows.review.store import EventStore
from agenthard.flows.review.web.serve import LOG
from agenthard.flows.verification import verify_run
from agenthard.models.storage import Database
from tests.flows.operations import audited, demo_settings, kill, start_slow_audit


@pytest.fixture(scope="module")
def finished(flawed_demo_module: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder with everything that commands write into one: audit, report on cleaning, hard split, decisions."""
    run = audited(flawed_demo_module, tmp_path_factory.mktemp("finished") / "run")
    settings = ReportSettings(run=str(run))
    with held(settings):
        make_report(settings)
    with EventStore.of_run(run):
        (run / LOG).write_text("{}\n")  # of the review application
    decide_run(DecideSettings(run=str(run)))
    return run


def _flip(path: Path, position: int) -> Iterator[None]:
    content = path.read_bytes()
    path.write_bytes(content[:position] + bytes([content[position] ^ 1]) + content[position + 1 :])
    yield
    path.write_bytes(content)


def test_an_undamaged_folder_is_intact_and_every_quote_is_found_again(finished: Path) -> None:
    found = verify_run(finished)
    assert (found.faults, found.lost, found.unfinished) == ((), 0, "")
    assert found.files > 40 and found.quotes == 45
    assert [gap for gap in found.not_checked if not gap.startswith(("quotes: 61 of recorded runs", "review"))] == []


def test_a_changed_byte_of_any_file_is_named(finished: Path) -> None:
    files = [
        path
        for path in sorted(finished.rglob("*"))
        if path.is_file() and path.stat().st_size and path.name[-4:] != "-shm"
    ]
    kinds = {path.relative_to(finished).with_name(f"*{path.suffix}").as_posix() for path in files}
    assert {"tables/*.parquet", "work/shards/*.zip", "report/*.html", "split/hard/*.json", "*.sarif"} <= kinds
    unseen = []
    for path in files:
        name = path.relative_to(finished).as_posix()
        for position in {0, path.stat().st_size // 2, path.stat().st_size - 1}:
            for _ in _flip(path, position):
                found = verify_run(finished)
                if name not in {fault.file for fault in found.faults} or found.intact:
                    unseen.append((name, position))
    # A store that people write to at any time has no hash: a change of its first bytes is seen, one of a text is not.
    assert {name for name, _ in unseen} <= {"review.db", LOG}
    assert ("review.db", 0) not in unseen


def test_missing_and_added_files_are_named(finished: Path, tmp_path: Path) -> None:
    run = shutil.copytree(finished, tmp_path / "run")
    (run / "tables" / "findings.parquet").unlink()
    (run / "work" / "shards" / "00001.zip").unlink()
    (run / "split" / "cleaned" / "extra.jsonl").write_text("{}\n")
    (run / "link").symlink_to("/etc/hostname")
    found = verify_run(run)
    assert {(fault.file, fault.what) for fault in found.faults} == {
        ("tables/findings.parquet", "missing"),
        ("work/shards/00001.zip", "missing"),
        ("split/cleaned/extra.jsonl", "added"),
        ("link", "added"),
    }
    printed = CliRunner().invoke(app, ["verify", str(run)])
    assert printed.exit_code == 1
    assert "missing: tables/findings.parquet (" in printed.output and "added: link\n" in printed.output


def test_a_folder_without_work_is_checked_as_far_as_it_goes(finished: Path, tmp_path: Path) -> None:
    run = shutil.copytree(finished, tmp_path / "run")
    shutil.rmtree(run / "work")
    found = verify_run(run)
    assert found.intact and found.quotes is None
    assert "work/: was deleted; a later command cannot continue from it" in found.not_checked
    assert any(gap.startswith("quotes: the run folder cannot be read") for gap in found.not_checked)


def test_quotes_are_not_checked_when_the_benchmark_is_gone_or_changed(flawed_demo: Path, tmp_path: Path) -> None:
    run = audited(flawed_demo, tmp_path / "run", runs=False)
    moved = flawed_demo.rename(tmp_path / "moved")
    found = verify_run(run)
    assert found.intact and found.quotes is None
    assert any(gap.startswith("quotes: the benchmark is gone") for gap in found.not_checked)
    assert verify_run(run, moved).quotes == 34
    tasks = moved / "tasks.jsonl"
    tasks.write_text(tasks.read_text().replace("parcel", "PARCEL", 1))
    changed = verify_run(run, moved)
    assert changed.quotes is None
    assert any(gap.startswith("quotes: the benchmark has changed since the audit") for gap in changed.not_checked)


def test_a_quote_that_findings_json_invents_is_not_found(flawed_demo: Path, tmp_path: Path) -> None:
    run = audited(flawed_demo, tmp_path / "run", runs=False)
    report = json.loads((run / "findings.json").read_text())
    quoted = next(item for finding in report["findings"] for item in finding["evidence"] if item["native"])
    quoted["native"]["text"] = "made up"
    (run / "findings.json").write_text(json.dumps(report))
    write_checksums(run)  # so that only the quote tells
    found = verify_run(run)
    assert (found.faults, found.lost, found.intact) == ((), 1, False)


def test_a_killed_audit_has_no_hashes_and_says_so_until_it_is_continued(flawed_demo: Path, tmp_path: Path) -> None:
    settings = demo_settings(flawed_demo, tmp_path / "run")
    process = start_slow_audit(settings)
    try:
        with pytest.raises(FolderInUseError):
            verify_run(tmp_path / "run")
    finally:
        kill(process)
    found = verify_run(tmp_path / "run")
    assert (found.files, found.unfinished) == (0, "audit: checking tasks")
    assert CliRunner().invoke(app, ["verify", str(tmp_path / "run")]).exit_code == 2
    run_audit(AuditInput(settings))
    assert verify_run(tmp_path / "run").intact


def test_equal_runs_have_equal_hashes(flawed_demo: Path, tmp_path: Path) -> None:
    first, second = (audited(flawed_demo, tmp_path / name) for name in ("one", "two"))
    assert (first / "checksums.json").read_bytes() == (second / "checksums.json").read_bytes()


def test_a_store_is_checked_by_sqlite_and_its_values_are_unpacked(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    store = tmp_path / "work" / "episodes.sqlite"
    connection = sqlite3.connect(store)
    connection.execute("CREATE TABLE attempts (id INTEGER PRIMARY KEY, trajectory BLOB)")
    connection.execute("INSERT INTO attempts VALUES (1, x'0102')")
    connection.commit()
    connection.close()
    write_checksums(tmp_path)
    (fault,) = verify_run(tmp_path).faults
    assert (fault.file, fault.what) == ("work/episodes.sqlite", "damaged")
    assert "trajectory of row 1 of attempts cannot be unpacked" in fault.detail


def test_runs_inside_a_folder_are_checked_by_their_own_lists(flawed_demo: Path, tmp_path: Path) -> None:
    audited(flawed_demo, tmp_path / "pipeline" / "audit", runs=False)
    (tmp_path / "pipeline" / "tasks.txt").write_text("tasks")
    write_checksums(tmp_path / "pipeline")
    listed = Checksums.model_validate_json((tmp_path / "pipeline" / "checksums.json").read_bytes())
    assert list(listed.files) == ["tasks.txt"]
    assert nested_runs(tmp_path / "pipeline") == [tmp_path / "pipeline" / "audit"]
    (tmp_path / "pipeline" / "audit" / "summary.md").write_text("nothing to see")
    assert [fault.file for fault in verify_run(tmp_path / "pipeline").faults] == ["audit/summary.md"]


def test_answers_of_judges_are_hashed_by_what_they_say(tmp_path: Path) -> None:
    store = tmp_path / "judge" / "questions.sqlite"
    schema = "CREATE TABLE IF NOT EXISTS answers (task_id TEXT PRIMARY KEY, judge TEXT, answer BLOB) WITHOUT ROWID;"
    database = Database(store, schema, version=1)
    with database.write() as connection:
        connection.execute("INSERT INTO answers VALUES ('lib/1', 'flash', ?)", (zlib.compress(b"not flawed"),))
    database.close()
    (tmp_path / "judge" / "identity.json").write_text("{}")
    write_checksums(tmp_path)
    before = store.read_bytes()
    Database(store, schema, version=1).close()  # as every command does that reads answers
    assert store.read_bytes() == before
    database = Database(store, schema, version=1)
    with database.write() as connection:
        connection.execute("PRAGMA user_version = 1")  # as a command does that adds a table
    database.close()
    assert store.read_bytes() != before and verify_run(tmp_path).faults == ()
    assert [path.name for path in store.parent.iterdir() if path.name.endswith(("-shm", "-wal"))] == []
    content = store.read_bytes()
    for word in (b"flash", b"lib/1", zlib.compress(b"not flawed")[2:]):
        for _ in _flip(store, content.index(word)):
            assert [fault.file for fault in verify_run(tmp_path).faults] == ["judge/questions.sqlite"], word
