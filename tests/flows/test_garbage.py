"""What `agenthard gc` lists and removes, and what it never touches."""

import json
import os
import shutil
import sqlite3
import tempfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agenthard.flows.audit_flow import run_audit
from agenthard.flows.audit_plan import AuditInput
from agenthard.flows.cli import app
from agenthard.flows.garbage import DEFAULT, find_garbage, remove, run_folders
from agenthard.flows.review.store import EventStore
from agenthard.flows.verification import verify_run
from tests.flows.operations import audited, demo_settings, kill, start_slow_audit


@pytest.fixture(autouse=True)
def own_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Temporary folders and environments of this test only."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("AGENTHARD_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))


def listed(root: Path, *more: str) -> dict[str, str]:
    found = find_garbage(root, frozenset([*DEFAULT, *more]), 24.0)  # type: ignore[list-item]
    return {Path(item.path).relative_to(root).as_posix(): item.kind for item in found.garbage}


def gc(root: Path, *options: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["gc", str(root), *options])
    return done.exit_code, done.output


def test_a_finished_run_has_nothing_to_remove_and_stays_as_it_is(flawed_demo: Path, tmp_path: Path) -> None:
    run = audited(flawed_demo, tmp_path / "runs" / "a")
    assert listed(tmp_path / "runs") == {}
    assert gc(tmp_path / "runs", "--delete")[0] == 0
    assert verify_run(run).intact


def test_files_of_results_by_content_are_removed_when_asked_for(flawed_demo: Path, tmp_path: Path) -> None:
    runs, reuse = tmp_path / "runs", tmp_path / "runs" / "nightly.results"
    settings = demo_settings(flawed_demo, runs / "a")
    run_audit(AuditInput(settings.model_copy(update={"reuse": str(reuse)})))
    with sqlite3.connect(runs / "other.sqlite") as other:
        other.execute("CREATE TABLE results (key TEXT)")
    assert listed(runs) == {} and listed(runs, "kept results") == {"nightly.results": "kept results"}
    code, output = gc(runs, "--results", "--json")
    assert code == 0 and json.loads(output)["removed"] == [] and reuse.is_file()
    assert "would check them again" in json.loads(output)["garbage"][0]["reason"]
    assert gc(runs, "--delete")[0] == 0 and reuse.is_file()
    assert gc(runs, "--results", "--delete")[0] == 0
    assert not list(runs.glob("nightly.results*")) and (runs / "other.sqlite").is_file()
    assert verify_run(runs / "a").intact


def test_what_a_killed_process_was_writing_is_removed_and_only_listed_before(flawed_demo: Path, tmp_path: Path) -> None:
    run = audited(flawed_demo, tmp_path / "runs" / "a")
    (run / ".findings.json.partial").write_bytes(bytes(3000))
    (run / "work" / ".runs.partial").mkdir()
    (run / "work" / ".runs.partial" / "00000.jsonl").write_bytes(bytes(1000))
    expected = {"a/.findings.json.partial": "unfinished file", "a/work/.runs.partial": "unfinished file"}
    assert listed(tmp_path / "runs") == expected
    code, printed = gc(tmp_path / "runs")
    assert code == 0 and "2 things that nothing needs, 3 KiB; nothing was removed" in printed
    assert listed(tmp_path / "runs") == expected
    assert "removed 2" in gc(tmp_path / "runs", "--delete")[1]
    assert listed(tmp_path / "runs") == {} and verify_run(run).intact


def test_an_audit_that_can_be_continued_stays_until_it_is_asked_for(flawed_demo: Path, tmp_path: Path) -> None:
    settings = demo_settings(flawed_demo, tmp_path / "runs" / "a")
    process = start_slow_audit(settings)
    try:
        found = find_garbage(tmp_path / "runs", frozenset([*DEFAULT, "unfinished audit"]), 24.0)
        assert (found.garbage, found.kept[0].reason) == ((), "a process works in it")
        gc(tmp_path / "runs", "--delete", "--unfinished")
        assert (tmp_path / "runs" / "a" / "work" / "plan.json").is_file()
    finally:
        kill(process)
    assert listed(tmp_path / "runs") == {}
    gc(tmp_path / "runs", "--delete")
    run_audit(AuditInput(settings))  # continued
    kill(start_slow_audit(demo_settings(flawed_demo, tmp_path / "runs" / "b")))
    assert listed(tmp_path / "runs", "unfinished audit") == {"b": "unfinished audit"}
    gc(tmp_path / "runs", "--delete", "--unfinished")
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == ["a"]


@pytest.mark.parametrize("change", ["gone", "changed"])
def test_an_audit_that_can_never_be_continued_is_dead(flawed_demo: Path, tmp_path: Path, change: str) -> None:
    kill(start_slow_audit(demo_settings(flawed_demo, tmp_path / "runs" / "a")))
    run = tmp_path / "runs" / "a"
    with EventStore.of_run(run):
        pass
    (run / "notes.txt").write_text("mine")
    if change == "gone":
        shutil.rmtree(flawed_demo)
    else:
        tasks = flawed_demo / "tasks.jsonl"
        tasks.write_text(tasks.read_text().replace("parcel", "packet", 1))
    assert listed(tmp_path / "runs") == {"a": "dead audit"}
    assert gc(tmp_path / "runs", "--delete")[0] == 0
    # What people have decided, and what is not AgentHard's, stays.
    assert sorted(path.name for path in run.iterdir() if not path.name.endswith(("-wal", "-shm"))) == [
        "notes.txt",
        "review.db",
    ]


def test_a_relative_benchmark_that_is_not_here_may_be_elsewhere(
    flawed_demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kill(start_slow_audit(demo_settings(flawed_demo, tmp_path / "runs" / "a")))
    file = tmp_path / "runs" / "a" / "work" / "settings.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "path": "benchmark"}))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert listed(tmp_path / "runs") == {}


def test_caches_of_replies_are_removed_only_with_their_own_option(flawed_demo: Path, tmp_path: Path) -> None:
    run = audited(flawed_demo, tmp_path / "runs" / "a", runs=False)
    (run / "judge").mkdir()
    for name in ("replies.sqlite", "questions.sqlite"):
        sqlite3.connect(run / "judge" / name).execute("CREATE TABLE t (x)").connection.close()
    (run / "judge" / "identity.json").write_text("{}")
    gc(tmp_path / "runs", "--delete")
    assert (run / "judge" / "replies.sqlite").is_file()
    assert listed(tmp_path / "runs", "reply cache") == {"a/judge/replies.sqlite": "reply cache"}
    gc(tmp_path / "runs", "--delete", "--replies")
    assert sorted(path.name for path in (run / "judge").iterdir()) == ["identity.json", "questions.sqlite"]


def test_temporary_folders_of_killed_processes_go_when_they_are_old(tmp_path: Path) -> None:
    old, new, other = (tmp_path / "tmp" / name for name in ("agenthard-url-old", "agenthard-new", "else"))
    building = tmp_path / "home" / "environments" / "bfcl" / ".building-x"
    for folder in (old, new, other, building):
        folder.mkdir(parents=True)
        (folder / "file").write_bytes(b"12345")
    for folder in (old, other, building):
        os.utime(folder, (0, 0))
    found = find_garbage(tmp_path / "home", frozenset(DEFAULT), 24.0)
    assert sorted(item.path for item in found.garbage) == sorted(map(str, (old, building)))
    for item in found.garbage:
        remove(item)
    assert not old.exists() and not building.exists() and new.exists() and other.exists()


def test_an_environment_that_no_run_is_about_is_listed_with_its_option(flawed_demo: Path, tmp_path: Path) -> None:
    site = tmp_path / "home" / "environments" / "bfcl" / "2026.3.23" / "lib" / "python3.11" / "site-packages"
    (site / "bfcl_eval" / "data").mkdir(parents=True)
    run = audited(flawed_demo, tmp_path / "runs" / "a", runs=False)
    assert listed(tmp_path / "runs") == {}
    found = find_garbage(tmp_path / "runs", frozenset(["environment"]), 24.0)  # type: ignore[list-item]
    assert [item.path for item in found.garbage] == [str(tmp_path / "home" / "environments" / "bfcl" / "2026.3.23")]
    file = run / "work" / "settings.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "source": "bfcl"}))
    assert find_garbage(tmp_path / "runs", frozenset(["environment"]), 24.0).garbage == ()  # type: ignore[list-item]


def test_links_are_not_followed(flawed_demo: Path, tmp_path: Path) -> None:
    audited(flawed_demo, tmp_path / "elsewhere" / "a", runs=False)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "link").symlink_to(tmp_path / "elsewhere")
    assert list(run_folders(tmp_path / "runs")) == []
