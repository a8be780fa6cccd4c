"""A source, a check, an environment and a rule of another package are found once pip has installed it."""

import json
import os
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent / "plugin_package"
EXAMPLE = str(PACKAGE / "example")


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a fresh virtual environment in which the package is installed; it sees our own packages."""
    folder = tmp_path_factory.mktemp("plugin")
    venv.create(folder / "venv", with_pip=False, symlinks=os.name != "nt")
    interpreter = folder / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    own = subprocess.run(
        [interpreter, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip
    # addsitedir, unlike a plain line with the path, also follows the .pth file of our editable install.
    (Path(own) / "agenthard.pth").write_text(f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n")
    install = ["install", "--quiet", "--no-index", "--no-deps", wheel(folder)]
    command = [sys.executable, "-m", "pip", "--python", interpreter, *install]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return interpreter


def wheel(folder: Path) -> Path:
    """Pack the wheel that hatchling would build; the build itself would need the package index."""
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    info = f"reading_room-{project['version']}.dist-info"
    groups = "".join(
        f"[{group}]\n" + "".join(f"{name} = {target}\n" for name, target in entries.items())
        for group, entries in project["entry-points"].items()
    )
    files = {
        "reading_room.py": (PACKAGE / "reading_room.py").read_text(encoding="utf-8"),
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": groups,
    }
    files[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in [*files, f"{info}/RECORD"])
    path = folder / f"reading_room-{project['version']}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as packed:
        for name, text in files.items():
            packed.writestr(name, text)
    return path


def agenthard(python: Path, *arguments: str, status: int = 0) -> str:
    folder = python.parents[2]
    environment = {**os.environ, "PREFECT_HOME": str(folder / "prefect")}
    command = [str(python), "-m", "agenthard.flows.cli", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


def test_it_is_not_installed_here() -> None:
    assert find_spec("reading_room") is None


@pytest.mark.long
def test_its_source_and_its_check_are_listed(python: Path) -> None:
    listed = {row["name"] for row in json.loads(agenthard(python, "sources", "--json"))}
    assert {"reading-room", "bfcl"} <= listed
    assert "reading-room-unnamed-book" in agenthard(python, "checks")


def test_its_check_and_its_rule_find_something(python: Path) -> None:
    agenthard(python, "audit", "reading-room", EXAMPLE, "--out", "audited", "--workers", "1", status=1)
    report = json.loads((python.parents[2] / "audited" / "findings.json").read_text(encoding="utf-8"))
    found = {(item["check"], task, item["claim"]) for item in report["findings"] for task in item["task_ids"]}
    assert ("reading-room-unnamed-book", "three-books", "The request does not name the book 'almanac'.") in found
    assert ("gold-breaks-policy", "three-books", "The ground truth lends a third book to the reader.") in found
    assert not any(task == "one-book" for detector, task, _ in found if detector == "gold-breaks-policy")


def test_its_environment_replays_a_ground_truth(python: Path) -> None:
    result = json.loads(agenthard(python, "replay", "reading-room", EXAMPLE, "one-book", "--json"))
    assert result["verdict"]["passed"] and [step["error"] for step in result["steps"]] == [None]
