"""The configuration of a project, chosen checks, and suppressed findings, through the command line."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from agenthard.audit.decisions.suppressions import SuppressionError
from agenthard.audit.detectors.selection import SelectionError
from agenthard.audit.sources.base import SourceError
from agenthard.flows.cli import app
from agenthard.flows.demo import write_demo
from agenthard.flows.errors import CommandError, RunFolderError
from agenthard.flows.project_config import ConfigError, find_config

GOLD = "645c06d3375c"
"""Two tasks of the demo with ground truths that exclude each other."""


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_demo(tmp_path_factory.mktemp("demo")).root


@pytest.fixture
def project(benchmark: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the demo's benchmark, which is the current one."""
    shutil.copytree(benchmark, tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(*words: str) -> Result:
    return CliRunner().invoke(app, list(words))


def audited(*words: str) -> tuple[dict[str, Any], dict[str, Any], Result]:
    result = call("audit", "--out", "run", "--workers", "1", *words)
    assert result.exit_code in (0, 1), (result.output, result.exception)
    findings, manifest = (json.loads((Path("run") / name).read_text()) for name in ("findings.json", "manifest.json"))
    return findings, manifest, result


def test_init_writes_what_audit_reads(project: Path) -> None:
    assert call("init", "data").exit_code == 0
    found = find_config(project)
    assert found is not None and (found[1].source, found[1].path) == ("native", "data")
    assert isinstance(call("init", "data").exception, CommandError), "an existing file is kept"
    findings, manifest, result = audited("--select", "call-schema")
    assert {each["check"] for each in findings["findings"]} == {"call-schema"}
    assert "turn-count" in manifest["outcome"]["not_asked"] and "turn-count" in findings["not_asked"]
    count = len(findings["not_asked"])
    assert f"{count} checks were not asked to run: " in result.stdout
    for name in ("report.html", "summary.md", "results.sarif"):
        assert f"{count} checks were not asked to run: " in Path("run", name).read_text(), name


def test_init_of_a_folder_that_no_source_recognises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert isinstance(call("init").exception, SourceError)
    assert not Path("agenthard.toml").exists()
    failed = call("audit")
    assert isinstance(failed.exception, CommandError) and "agenthard init" in str(failed.exception)


def test_another_choice_of_checks_is_another_audit(project: Path) -> None:
    audited("native", "data", "--select", "call-schema")
    again = call("audit", "native", "data", "--out", "run", "--workers", "1", "--select", "turn-count")
    assert isinstance(again.exception, RunFolderError)
    unknown = call("audit", "native", "data", "--ignore", "cal-schema")
    assert isinstance(unknown.exception, SelectionError) and "did you mean call-schema" in str(unknown.exception)


SUPPRESSED = """
[tool.agenthard]
source = "native"
path = "data"

[tool.agenthard.checks]
ignore = ["duplicate-task"]

[[tool.agenthard.suppressions]]
finding = "{finding}"
reason = "accepted"
until = 2999-12-31

[[tool.agenthard.suppressions]]
check = "identical-tool-descriptions"
task = "{task}"
reason = "planned"
until = 2999-12-31

[[tool.agenthard.suppressions]]
check = "turn-count"
task = "parcels/7"
reason = "was to be fixed"
until = 2020-01-31
"""


def test_suppressed_findings_do_not_count_and_expired_ones_do(project: Path) -> None:
    Path("pyproject.toml").write_text(SUPPRESSED.format(finding=GOLD, task="parcels/19"))
    findings, manifest, result = audited()
    by_check = {each["check"]: each for each in findings["findings"]}
    assert GOLD not in {each["id"] for each in findings["findings"]} and "duplicate-task" not in by_check
    assert by_check["identical-tool-descriptions"]["task_ids"] == ["parcels/20", "parcels/21", "parcels/22"]
    assert by_check["turn-count"]["task_ids"] == ["parcels/7"]
    assert [each["reason"] for each in findings["suppressed"]] == ["planned", "accepted"] or [
        each["reason"] for each in findings["suppressed"]
    ] == ["accepted", "planned"]
    assert "a suppression has expired and counts again: turn-count in parcels/7" in result.stderr
    first_screens = [result.stdout, Path("run/report.html").read_text().split('id="first"')[0]]
    for text in (*first_screens, Path("run/summary.md").read_text().replace("\\", "")):
        assert "2 suppressed findings do not count: " in text and "accepted (until 2999-12-31)" in text
        assert "1 suppression has expired and counts again: turn-count in parcels/7: was to be fixed (until" in text
        assert "1 check was not asked to run: duplicate-task" in text
    assert findings["expired"][0]["until"] == "2020-01-31" and findings["not_asked"] == ["duplicate-task"]
    assert len(manifest["outcome"]["suppressed"]) == 2 and len(manifest["suppressions"]) == 3
    log = json.loads(Path("run/results.sarif").read_text())["runs"][0]["results"]
    assert [each["suppressions"][0]["justification"] for each in log if each["partialFingerprints"] == {
        "agenthardFinding/v1": GOLD}] == ["accepted (until 2999-12-31)"]  # fmt: skip
    assert "accepted (until 2999-12-31)" in call("show", "run", GOLD).stdout
    assert "2 suppressed" in call("findings", "run").stderr
    said = json.loads(Path("run/results.sarif").read_text())["runs"][0]["invocations"][0]
    assert [each["level"] for each in said["toolConfigurationNotifications"]] == ["warning", "note"]


def test_a_suppressed_finding_is_shown_replayed_and_compared(project: Path) -> None:
    assert call("audit", "native", "data", "--out", "before", "--workers", "1").exit_code in (0, 1)
    text = SUPPRESSED.format(finding=GOLD, task="parcels/19").replace("2020-01-31", "2999-12-31")
    Path("pyproject.toml").write_text(text.replace("turn-count", "substring-check").replace("parcels/7", "parcels/23"))
    findings, _, _ = audited("--experimental")
    accepted = next(each["finding"] for each in findings["suppressed"] if each["finding"]["id"] == GOLD)
    assert accepted["evidence"][0]["native"]["file"] and accepted["command"]

    for words in (("show", "run", GOLD), ("explain", GOLD, "--run", "run")):
        shown = call(*words)
        assert shown.exit_code == 0 and "accepted (until 2999-12-31)" in shown.stdout, words
        assert "run: has it, suppressed" in shown.stdout and "before: has it (" in shown.stdout
    assert f"suppressed: {GOLD}" in call("show", "run", accepted["task_ids"][0]).stdout
    found = next(each["finding"] for each in findings["suppressed"] if each["finding"]["check"] == "substring-check")
    replayed = call("replay", "--finding", found["id"], "--run", "run")
    assert replayed.exit_code == 0 and found["claim"] in replayed.stdout, replayed.output

    changes = json.loads(call("compare", "before", "run", "--json").stdout)["findings"]
    assert {each["id"]: each["changes"] for each in changes["suppressed"]}[GOLD] == ["accepted (until 2999-12-31)"]
    assert GOLD not in {each["id"] for kind in ("fixed", "unchecked", "new") for each in changes[kind]}
    back = json.loads(call("compare", "run", "before", "--json").stdout)["findings"]
    assert {each["id"]: each["changes"] for each in back["new"]}[GOLD] == [
        "was suppressed: accepted (until 2999-12-31)"
    ]


@pytest.mark.parametrize(
    ("finding", "task", "said"), [("0" * 12, "parcels/19", "does not have"), (GOLD, "parcels/1l", "has no task")]
)
def test_a_suppression_of_something_unknown_is_refused(project: Path, finding: str, task: str, said: str) -> None:
    text = SUPPRESSED.format(finding=finding, task=task).replace('ignore = ["duplicate-task"]', "")
    Path("pyproject.toml").write_text(text)
    result = call("audit", "--out", "run", "--workers", "1")
    assert isinstance(result.exception, SuppressionError) and said in str(result.exception)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('sourc = "native"', "unknown key 'sourc' (did you mean source?)"),
        ('[checks]\nselct = ["a"]', "unknown key 'checks.selct' (did you mean select?)"),
        ("workers = 0", "at workers"),
        ('[[suppressions]]\nfinding = "a"\nreason = "b"', "at suppressions.0.until"),
        ('[[suppressions]]\ncheck = "a"\nreason = "b"\nuntil = 2030-01-01', "give either finding, or check and task"),
        ("source = ", "not valid TOML"),
    ],
)
def test_a_wrong_configuration_is_one_message(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "agenthard.toml").write_text(text)
    with pytest.raises(ConfigError, match="agenthard.toml") as caught:
        find_config(tmp_path)
    assert said in str(caught.value)


def test_the_nearest_file_up_to_the_repository_counts(tmp_path: Path) -> None:
    (tmp_path / "agenthard.toml").write_text('source = "outside"')
    inner = tmp_path / "repository" / "a" / "b"
    inner.mkdir(parents=True)
    assert find_config(inner) is None, "outside of a repository only the folder itself counts"
    (tmp_path / "repository" / ".git").mkdir()
    assert find_config(inner) is None
    (tmp_path / "repository" / "agenthard.toml").write_text('source = "native"\npath = "data"')
    found = find_config(inner)
    assert found is not None and found[1].path == str(tmp_path / "repository" / "data")


def test_a_configuration_of_another_benchmark_is_not_used(project: Path) -> None:
    Path("agenthard.toml").write_text('source = "bfcl"\npath = "elsewhere"\n[checks]\nignore = ["call-schema"]')
    findings, _, result = audited("native", "data")
    assert "call-schema" in {each["check"] for each in findings["findings"]}
    assert "is not used for native" in result.stderr
