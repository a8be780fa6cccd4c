"""The skeleton of a package works as it is written: its own test passes, and its example is audited and replayed."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agenthard.audit.sources.base import SourceError
from agenthard.audit.sources.skeleton import write_skeleton
from agenthard.flows.cli import app

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A skeleton beside the metadata that an installation would leave."""
    folder = tmp_path_factory.mktemp("own") / "package"
    result = CliRunner().invoke(app, ["sources", "new", "my-bench", str(folder)])
    assert result.exit_code == 0, result.output
    groups = tomllib.loads((folder / "pyproject.toml").read_text())["project"]["entry-points"]
    info = folder / "my_bench-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-bench\nVersion: 0.1.0\n")
    lines = [
        line
        for group, entries in groups.items()
        for line in (f"[{group}]", *(f"{k} = {v}" for k, v in entries.items()))
    ]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return folder


def run(package: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(package), str(ROOT)]),
        "PREFECT_HOME": str(package.parent / "prefect"),
    }
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(command, cwd=package, env=environment, capture_output=True, text=True, check=False)


def test_its_own_test_passes(package: Path) -> None:
    done = run(package, "pytest", "-q", "-p", "no:cacheprovider", "tests")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 passed" in done.stdout


@pytest.mark.long
def test_its_example_is_audited_and_executed(package: Path) -> None:
    done = run(
        package, "agenthard.flows.cli", "audit", "my-bench", "example", "--out", "audited", "--workers", "1", "--json"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)["checked"] == 2
    replayed = run(package, "agenthard.flows.cli", "replay", "my-bench", "example", "drop-bread", "--json")
    assert replayed.returncode == 0, replayed.stderr
    result = json.loads(replayed.stdout)
    assert result["verdict"]["passed"] and [step["error"] for step in result["steps"]] == [None]


def test_the_environment_has_about_fifty_lines_of_code(package: Path) -> None:
    lines = (package / "my_bench" / "environment.py").read_text().splitlines()
    assert len([line for line in lines if line.strip()]) <= 60


def test_it_keeps_to_the_rules_of_the_house(package: Path) -> None:
    files = [str(path) for path in sorted(package.rglob("*.py"))]
    done = run(ROOT, "ruff", "check", "--isolated", "--select", "E,W,F,B,UP", "--line-length", "120", *files)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("name", "words"), [("My Bench", "small letters"), ("json", "already"), ("../up", "small letters"), ("", "small")]
)
def test_a_bad_name_is_refused(name: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=words):
        write_skeleton(name, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(SourceError, match="holds something already"):
        write_skeleton("my-bench", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_known_source_is_refused(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["sources", "new", "bfcl", str(tmp_path / "new")])
    assert result.exit_code != 0 and "there is a source 'bfcl' already" in str(result.exception)


def test_sources_alone_lists(package: Path) -> None:
    alone = CliRunner().invoke(app, ["sources", "--json"])
    named = CliRunner().invoke(app, ["sources", "list", "--json"])
    assert alone.exit_code == 0 and alone.output == named.output
    assert {"bfcl", "acebench"} <= {row["name"] for row in json.loads(alone.output)}
    one = CliRunner().invoke(app, ["sources", "native", "--json"])
    assert [row["name"] for row in json.loads(one.output)] == ["native"]
    assert CliRunner().invoke(app, ["sources", "--schema"]).output.startswith("{")
