"""The action for GitHub: its own shell steps, run as a runner does, with the installed command."""

import json
import os
import re
import subprocess
import sys
import venv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from agenthard.flows.demo import benchmark as demo_benchmark

ROOT = Path(__file__).parents[1]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
DATA = Path(demo_benchmark.__file__).parent / "data" / "flawed"


class Runner:
    """Runs the steps of the action that are shell scripts; others are named."""

    def __init__(self, folder: Path, inputs: Mapping[str, str], path: str) -> None:
        self.folder, self.path = folder, path
        self.values = {f"inputs.{name}": str(given.get("default", "")) for name, given in ACTION["inputs"].items()}
        self.values |= {f"inputs.{name}": value for name, value in inputs.items()}
        self.files = {name: folder / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        self.temporary = folder / "temp"
        self.temporary.mkdir()

    def run(self, *skipped: str) -> int:
        """Run all shell steps but some; returns the exit code of the first that fails, else 0."""
        for step in ACTION["runs"]["steps"]:
            if "run" in step and step["id"] not in skipped:
                assert step["shell"] == "bash"
                code = self._step(step)
                if code:
                    return code
        return 0

    def _step(self, step: Mapping[str, Any]) -> int:
        for file in self.files.values():
            file.touch()
        given = {name: self._expression(value) for name, value in step.get("env", {}).items()}
        places = {name: str(file) for name, file in self.files.items()}
        environment = {**os.environ, **places, **given, "RUNNER_TEMP": str(self.temporary), "PATH": self.path}
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        done = subprocess.run(
            command, cwd=self.folder / "checkout", env=environment, capture_output=True, text=True, check=False
        )
        assert "Traceback" not in done.stderr, done.stderr
        for line in self.files["GITHUB_OUTPUT"].read_text().splitlines():
            name, _, value = line.partition("=")
            self.values[f"steps.{step['id']}.outputs.{name}"] = value
        return done.returncode

    def _expression(self, text: str) -> str:
        return re.sub(r"\$\{\{ ([\w.-]+) \}\}", lambda found: self.values[found[1]], text)

    @property
    def sarif(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(Path(self.values["steps.check.outputs.sarif"]).read_text())
        return found

    @property
    def summary(self) -> str:
        return self.files["GITHUB_STEP_SUMMARY"].read_text()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    (folder / ".git").mkdir(parents=True)
    (folder / "data").mkdir()
    for path in DATA.iterdir():
        (folder / "data" / path.name).write_bytes(path.read_bytes())
    return folder


def runner(checkout: Path, **inputs: str) -> Runner:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return Runner(checkout.parent, {name.replace("_", "-"): value for name, value in inputs.items()}, path)


def test_a_check_writes_sarif_and_a_summary_and_fails_for_new_findings(checkout: Path) -> None:
    action = runner(checkout, source="native", path="data")
    assert action.run("install") == 1
    assert action.values["steps.check.outputs.exit-code"] == "1"
    uris = {
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        for result in action.sarif["runs"][0]["results"]
    }
    assert uris == {"data/tasks.jsonl", "data/environments.jsonl"}
    title, blank, *lines = action.summary.splitlines()
    assert re.fullmatch(r"### AgentHard: \d+ new findings", title) and not blank
    assert lines and all(line.startswith("    data/") for line in lines)


def test_new_findings_need_not_fail_the_job_and_known_ones_do_not(checkout: Path) -> None:
    assert runner(checkout, source="native", path="data", fail="false").run("install") == 0
    known = [sys.executable, "-m", "agenthard", "check", "--path", "data", "--baseline", "known.json"]
    subprocess.run([*known, "--update-baseline"], cwd=checkout, check=True, capture_output=True)
    second = checkout.parent / "second"
    second.mkdir()
    checkout.rename(second / "checkout")
    assert runner(second / "checkout", path="data", baseline="known.json").run("install") == 0


@pytest.mark.long
def test_an_audit_writes_the_summary_of_its_run(checkout: Path) -> None:
    action = runner(checkout, mode="audit", source="native", path="data")
    assert action.run("install") == 1
    assert len(action.sarif["runs"][0]["results"]) > 10
    assert "AgentHard" in action.summary and "tasks" in action.summary


def test_inputs_are_never_code(checkout: Path) -> None:
    hostile = '"; touch owned; echo "$(touch owned)`touch owned`'
    for mode in ("check", hostile):
        folder = checkout.parent / f"run-{len(mode)}"
        folder.mkdir()
        (folder / "checkout").symlink_to(checkout)
        action = runner(folder / "checkout", mode=mode, source=hostile, path=hostile, baseline=hostile)
        assert action.run("install") == 64
    assert not (checkout / "owned").exists()
    assert all("${{" not in step.get("run", "") for step in ACTION["runs"]["steps"])


def test_a_fault_of_the_command_fails_the_job_even_where_findings_do_not(checkout: Path) -> None:
    assert runner(checkout, source="absent", fail="false").run("install") == 64


@pytest.mark.long
@pytest.mark.network
def test_the_step_that_installs_makes_the_command(checkout: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=True, system_site_packages=True)
    binary = tmp_path / "venv" / "bin"
    made = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path), str(ROOT)]
    subprocess.run(made, check=True)
    (wheel,) = tmp_path.glob("agenthard-*.whl")
    action = Runner(tmp_path, {"package": str(wheel)}, os.pathsep.join([str(binary), os.environ["PATH"]]))
    (step,) = [step for step in ACTION["runs"]["steps"] if step.get("id") == "install"]
    os.environ["PIP_NO_DEPS"] = "1"  # the dependencies are those of this environment
    try:
        assert action._step(step) == 0
    finally:
        del os.environ["PIP_NO_DEPS"]
    assert (binary / "agenthard").is_file()
