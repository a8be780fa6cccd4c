"""``agenthard env`` without the network: what it lists, and how it refuses."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from flows.cli import app
from flows.errors import CommandError


@pytest.fixture(autouse=True)
def empty_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTHARD_HOME", str(tmp_path))


def test_an_empty_list_names_the_next_command() -> None:
    done = CliRunner().invoke(app, ["env", "list"])
    assert done.exit_code == 0
    assert "agenthard env create bfcl" in done.output
    assert json.loads(CliRunner().invoke(app, ["env", "list", "--json"]).output) == []


def test_an_environment_that_is_there_is_listed_and_removed(tmp_path: Path) -> None:
    folder = tmp_path / "environments/bfcl/2025.7.17"
    site = folder / "lib/python3.11/site-packages"
    (site / "bfcl_eval/data").mkdir(parents=True)
    (site / "bfcl_eval-2025.7.17.dist-info").mkdir()
    (site / "bfcl_eval-2025.7.17.dist-info/METADATA").write_text(
        "Metadata-Version: 2.1\nName: bfcl_eval\nVersion: 2025.7.17\n"
    )
    [listed] = json.loads(CliRunner().invoke(app, ["env", "list", "--json"]).output)
    assert (listed["benchmark"], listed["version"]) == ("bfcl", "2025.7.17")
    assert listed["packages"] == {"bfcl_eval": "2025.7.17"}
    assert "2025.7.17" in CliRunner().invoke(app, ["env", "list"]).output
    removed = CliRunner().invoke(app, ["env", "remove", "bfcl"])
    assert "bfcl 2025.7.17 was removed" in removed.output
    assert not folder.exists()


def test_refusals_are_one_message() -> None:
    for arguments in (["remove", "bfcl"], ["create", "checkers"]):
        done = CliRunner().invoke(app, ["env", *arguments])
        assert isinstance(done.exception, CommandError)
