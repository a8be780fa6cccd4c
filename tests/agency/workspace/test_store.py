"""Snapshots: equal for equal folders, exact when restored, stored once, and safe with what an agent leaves."""

import os
import socket
import stat
import sys
from pathlib import Path

import pytest

from agenthard.agency.workspace import SnapshotError, SnapshotStore, difference, open_eval_space
from agenthard.containment import run_job

OLD = 1_600_000_000_000_000_000


@pytest.fixture
def store(tmp_path: Path) -> SnapshotStore:
    return SnapshotStore(tmp_path / "store")


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    (folder / "src" / "empty").mkdir(parents=True)
    (folder / ".hidden").write_text("kept")
    (folder / "src" / "run.sh").write_text("echo hi")
    (folder / "src" / "run.sh").chmod(0o750)
    (folder / "src" / "big").write_bytes(os.urandom(1 << 20) * 3)
    (folder / "link").symlink_to("src/run.sh")
    return folder


def blobs(tmp_path: Path) -> int:
    return sum(path.is_file() and path.suffix != ".json" for path in (tmp_path / "store").rglob("*"))


def test_a_snapshot_is_restored_exactly(store: SnapshotStore, work: Path, tmp_path: Path) -> None:
    snapshot = store.take(work)
    assert list(snapshot.entries) == [".hidden", "link", "src", "src/big", "src/empty", "src/run.sh"]
    store.restore(snapshot, tmp_path / "copy")
    assert (tmp_path / "copy" / "src" / "run.sh").stat().st_mode & 0o777 == 0o750
    assert os.readlink(tmp_path / "copy" / "link") == "src/run.sh"
    assert store.take(tmp_path / "copy").id == snapshot.id == SnapshotStore(tmp_path / "store").load(snapshot.id).id


def test_a_used_folder_becomes_what_it_was(store: SnapshotStore, work: Path) -> None:
    before = store.take(work)
    (work / "src" / "run.sh").write_text("rm -rf /")
    (work / ".hidden").unlink()
    (work / ".hidden").mkdir()
    (work / ".hidden" / "deep").write_text("x")
    (work / "src" / "empty").rmdir()
    (work / "src" / "empty").write_text("now a file")
    (work / "link").unlink()
    (work / "link").symlink_to("/etc")
    (work / "new").mkdir(mode=0o000)
    after = store.take(work)
    found = difference(before, after)
    assert found.added == (".hidden/deep", "new") and found.removed == ()
    assert found.changed == (".hidden", "link", "src/empty", "src/run.sh")
    store.restore(before, work)
    assert store.take(work).id == before.id and not difference(before, store.take(work))
    assert Path("/etc/passwd").exists()


def test_an_unchanged_file_is_stored_once_over_all_attempts(store: SnapshotStore, work: Path, tmp_path: Path) -> None:
    store.take(work)
    assert blobs(tmp_path) == 3
    for number in range(5):
        (work / "note").write_text(f"attempt {number}")
        store.take(work)
    (work / "copy of big").write_bytes((work / "src" / "big").read_bytes())
    store.take(work)
    assert blobs(tmp_path) == 3 + 5


def test_a_change_that_hides_in_the_times_is_seen(store: SnapshotStore, work: Path) -> None:
    target = work / "src" / "run.sh"
    os.utime(target, ns=(OLD, OLD))
    first = store.take(work)
    target.write_text("echo HI")  # the same size
    os.utime(target, ns=(OLD, OLD))
    assert difference(first, store.take(work)).changed == ("src/run.sh",)


def test_what_is_no_file_is_named_and_left_out(store: SnapshotStore, work: Path) -> None:
    os.mkfifo(work / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(work / "s", Path.cwd()) if len(str(work)) > 90 else str(work / "s"))
        (work / os.fsdecode(b"bad\xff")).write_text("x")
        snapshot = store.take(work)
    assert snapshot.left_out == ("bad\\udcff", "pipe", "s")
    assert not any(path in snapshot.entries for path in ("pipe", "s"))
    (work / "src" / "run.sh").chmod(stat.S_ISUID | 0o755)
    assert store.take(work).entries["src/run.sh"].mode == 0o755


def test_damage_is_an_error(store: SnapshotStore, work: Path, tmp_path: Path) -> None:
    snapshot = store.take(work)
    assert store.read(snapshot, ".hidden") == b"kept"
    content = snapshot.entries[".hidden"].content
    (tmp_path / "store" / content[:2] / content).write_text("bent")
    with pytest.raises(SnapshotError, match=r"stored content of '\.hidden' is damaged"):
        store.read(snapshot, ".hidden")
    (tmp_path / "store" / content[:2] / content).unlink()
    with pytest.raises(SnapshotError, match="cannot be restored: No such file"):
        store.restore(snapshot, tmp_path / "copy")
    with pytest.raises(SnapshotError, match="no file 'link'"):
        store.read(snapshot, "link")
    with pytest.raises(SnapshotError, match="cannot be read in store"):
        store.load("0" * 64)
    place = tmp_path / "store" / snapshot.id[:2] / f"{snapshot.id}.json"
    place.write_text(place.read_text().replace("run.sh", "run.py"))
    with pytest.raises(SnapshotError, match="is damaged: its content has another hash"):
        store.load(snapshot.id)


def test_an_eval_space_holds_gold_that_a_job_cannot_look_into(store: SnapshotStore, work: Path, tmp_path: Path) -> None:
    gold = tmp_path / "gold"
    gold.mkdir()
    (gold / "answer").write_text("42")
    spaces = tmp_path / "spaces"
    with open_eval_space(store, store.take(work), gold, spaces) as space:
        assert (space.gold / "answer").read_text() == "42" and (space.work / ".hidden").read_text() == "kept"
        assert spaces.stat().st_mode & 0o077 == 0
        text = f"cat {space.gold}/answer {gold}/answer; ls {spaces}; true"
        if sys.platform == "linux":
            done = run_job(["/bin/sh", "-c", text], work, hidden=[spaces, gold])
            assert "42" not in done.stdout and done.exit_code == 0
        (space.work / ".hidden").write_text("changed by a grader")
    assert list(spaces.iterdir()) == [] and (work / ".hidden").read_text() == "kept"
