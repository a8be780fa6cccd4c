import dataclasses
import hashlib
import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from agenthard.audit.sources import fetch as module
from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.bfcl import BFCL
from agenthard.audit.sources.fetch import FetchError, fetch, fetched, known_releases

QUESTION = '{"id": "irrelevance_0", "question": [[{"role": "user", "content": "Why?"}]], "function": []}\n'


def make_wheel(folder: Path, name: str, version: str, files: dict[str, str]) -> tuple[str, str]:
    """A wheel is a zip file with a few lines of metadata, so that pip can be run without an index.

    Returns the pin: requirement and hash.
    """
    info = f"{name}-{version}.dist-info"
    files = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nRequires-Dist: absent-package\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"])
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(target, "w") as wheel:
        for path, text in {**files, f"{info}/RECORD": record}.items():
            wheel.writestr(path, text)
    return f"{name.replace('_', '-')}=={version}", hashlib.sha256(target.read_bytes()).hexdigest()


def use_handmade_index(wheels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pip find two releases and what they need in a folder of hand-made wheels, whose hashes are pinned."""
    mpmath = make_wheel(wheels, "mpmath", "1.3.0", {"mpmath/__init__.py": ""})
    releases = []
    for version, data in (("2025.7.17", "v3"), ("2026.3.23", "v4")):
        files = {"bfcl_eval/__init__.py": "", f"bfcl_eval/data/BFCL_{data}_irrelevance.json": QUESTION}
        releases.append(module.KnownRelease(version, data, (make_wheel(wheels, "bfcl_eval", version, files), mpmath)))
    make_wheel(wheels, "bfcl_eval", "2025.12.1", files)
    recipe = dataclasses.replace(module._RECIPES["bfcl"], releases=tuple(releases))
    monkeypatch.setitem(module._RECIPES, "bfcl", recipe)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A managed home, and an index of hand-made wheels instead of the network."""
    use_handmade_index(tmp_path / "wheels", monkeypatch)
    monkeypatch.setenv("AGENTHARD_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_a_fetched_package_can_be_read_and_run_and_is_not_installed_twice(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert fetched("bfcl") == []
    found = fetch("bfcl")
    assert (found.benchmark, found.version) == ("bfcl", "2025.7.17")
    assert found.path == home / "environments/bfcl/2025.7.17"
    assert fetched("bfcl") == [found]
    source = BFCL(found.data)
    assert [task.id for task in source.tasks(Quarantine())] == ["irrelevance_0"]
    assert source.version().label == "v3, bfcl-eval 2025.7.17"
    assert BFCL(found.path).version() == source.version()
    done = subprocess.run([found.python, "-c", "import bfcl_eval, mpmath, sys; print(sys.prefix)"], capture_output=True)
    assert Path(done.stdout.decode().strip()) == found.path

    def refuse(*args: object, **options: object) -> None:
        raise AssertionError("nothing should be run")

    monkeypatch.setattr(subprocess, "run", refuse)
    assert fetch("bfcl") == found
    assert fetch("bfcl", "2025.7.17", home) == found


def test_versions_are_listed_in_order(home: Path) -> None:
    for name in ("2025.10.1", "2025.7.17", ".building-1"):
        (home / f"environments/bfcl/{name}/lib/python3.11/site-packages/bfcl_eval/data").mkdir(parents=True)
    assert [item.version for item in fetched("bfcl")] == ["2025.7.17", "2025.10.1"]


def test_a_failed_installation_leaves_nothing(home: Path) -> None:
    with pytest.raises(FetchError, match=r"could not install bfcl-eval==1999\.1\.1 mpmath==1\.3\.0: .*pip download"):
        fetch("bfcl", "1999.1.1", unpinned=True)
    assert list((home / "environments/bfcl").iterdir()) == []
    assert fetched("bfcl") == []


def test_two_releases_stand_next_to_each_other_and_a_later_one_is_found(home: Path) -> None:
    old = fetch("bfcl")
    assert fetched("bfcl") == [old]
    new = fetch("bfcl", "2026.3.23")
    assert [item.version for item in fetched("bfcl")] == ["2025.7.17", "2026.3.23"]
    assert BFCL(old.data).version().label == "v3, bfcl-eval 2025.7.17"
    assert BFCL(new.data).version().label == "v4, bfcl-eval 2026.3.23"
    assert [(release.version, release.data) for release in known_releases("bfcl")] == [
        ("2025.7.17", "v3"),
        ("2026.3.23", "v4"),
    ]


def test_other_bytes_under_a_known_name_are_refused(home: Path, tmp_path: Path) -> None:
    changed = {"bfcl_eval/__init__.py": "import os", "bfcl_eval/data/BFCL_v3_irrelevance.json": QUESTION}
    make_wheel(tmp_path / "wheels", "bfcl_eval", "2025.7.17", changed)
    with pytest.raises(FetchError, match=r"could not install bfcl-eval==2025\.7\.17 .*"):
        fetch("bfcl")
    assert list((home / "environments/bfcl").iterdir()) == []


def test_a_release_without_a_known_hash_needs_the_flag(home: Path) -> None:
    with pytest.raises(FetchError, match=r"2025\.12\.1 is not known here \(known releases: 2025\.7\.17, 2026\.3\.23\)"):
        fetch("bfcl", "2025.12.1")
    assert fetched("bfcl") == []
    assert fetch("bfcl", "2025.12.1", unpinned=True).version == "2025.12.1"


def test_pip_gets_no_variable_of_ours_and_runs_nothing_of_the_current_folder(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    for name in ("timeit", "pip", "venv", "platform", "ssl"):
        (here / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    monkeypatch.chdir(here)
    for name in ("OPENAI_API_KEY", "PIP_TARGET", "PYTHONPATH", "AWS_SECRET_ACCESS_KEY", "LD_PRELOAD"):
        monkeypatch.setenv(name, "secret")
    monkeypatch.setenv("https_proxy", "")
    seen: list[dict[str, str]] = []
    run = subprocess.run

    def spy(*args: Any, env: dict[str, str], **options: Any) -> Any:
        seen.append(env)
        return run(*args, env=env, **options)

    monkeypatch.setattr(subprocess, "run", spy)
    fetch("bfcl")
    assert len(seen) == 2 and not (tmp_path / "ran").exists()
    assert all("PATH" in env and "PIP_FIND_LINKS" in env and "https_proxy" in env for env in seen)
    assert "secret" not in json.dumps(seen)


def test_a_package_without_data_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_install", lambda path, requirements: (path / "bin").mkdir())
    with pytest.raises(
        FetchError, match=r"bfcl-eval==2024\.1\.1 holds no folder bfcl_eval/data; try version 2025\.7\.17"
    ):
        fetch("bfcl", "2024.1.1", unpinned=True)
    assert list((home / "environments/bfcl").iterdir()) == []


def test_a_faster_process_wins(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def install(path: Path, requirements: list[str]) -> None:
        for folder in (path, home / "environments/bfcl/2025.7.17"):
            (folder / "lib/python3.11/site-packages/bfcl_eval/data").mkdir(parents=True)

    monkeypatch.setattr(module, "_install", install)
    assert fetch("bfcl").path == home / "environments/bfcl/2025.7.17"
    assert [path.name for path in (home / "environments/bfcl").iterdir()] == ["2025.7.17"]


def test_an_interrupted_installation_leaves_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*args: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "_install", interrupt)
    with pytest.raises(KeyboardInterrupt):
        fetch("bfcl")
    assert list((home / "environments/bfcl").iterdir()) == []


def test_what_is_in_the_way_is_named(home: Path) -> None:
    (home / "environments/bfcl/2025.7.17").mkdir(parents=True)
    with pytest.raises(FetchError, match="is in the way and holds no bfcl; remove it and fetch again"):
        fetch("bfcl")


def test_a_missing_interpreter_is_reported(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(home / "absent"))
    with pytest.raises(FetchError, match="could not create a virtual environment: .*install Python's venv module"):
        fetch("bfcl")


@pytest.mark.parametrize("version", ["../2025", "--upgrade", "2025 .7", "latest", "1;2"])
def test_what_is_no_version_is_refused(home: Path, version: str) -> None:
    with pytest.raises(FetchError, match="is not a version of a package; give one such as 2025"):
        fetch("bfcl", version)


def test_an_unknown_benchmark_is_refused(home: Path) -> None:
    with pytest.raises(FetchError, match="nothing to fetch for 'chess'; known: bfcl"):
        fetch("chess")
    assert fetched("chess") == []


@pytest.mark.long
@pytest.mark.network
@pytest.mark.parametrize(
    ("version", "count", "documented"),
    [("2025.7.17", 4441, ["receiver_id", "message_id"]), ("2026.3.23", 5106, ["receiver_id"])],
)
def test_the_published_package_holds_the_benchmark_and_its_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, count: int, documented: list[str]
) -> None:
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(tmp_path / "try")]
    if subprocess.run([*pip, "mpmath==1.3.0"], capture_output=True).returncode != 0:
        pytest.skip("pip cannot reach a package index")
    monkeypatch.setenv("AGENTHARD_HOME", str(tmp_path))
    quarantine = Quarantine()
    tasks = {task.id: task for task in BFCL(fetch("bfcl", version).data).tasks(quarantine)}
    assert (len(tasks), quarantine.items) == (count, [])
    turns = [task for task in tasks.values() if task.cluster and task.cluster.startswith("multi_turn/")]
    tools = {tool.name: tool for task in turns for tool in task.environment.tools}
    assert [name for name, tool in tools.items() if tool.implementation is None] == []
    delete = tools["delete_message"]
    assert delete.implementation is not None
    assert list(delete.parameters["properties"]) == documented
    assert delete.implementation.parameters == ("receiver_id",)
