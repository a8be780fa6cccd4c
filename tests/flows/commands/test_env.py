"""``agenthard env`` without the network: what it lists, and how it refuses."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agenthard.audit.execution.environment import UnavailableError
from agenthard.audit.sources.fetch import FetchError
from agenthard.audit.sources.registry import sources
from agenthard.flows.cli import app
from agenthard.flows.resume_key import checks_key


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


def test_an_audit_does_not_go_on_after_other_code_was_installed(tmp_path: Path) -> None:
    def key() -> str:
        words: dict[str, tuple[str, ...]] = {"benchmarks": ("bfcl",), "selected": ()}
        return checks_key(sources()["bfcl"], checkout=None, weak_isolation=False, experimental=False, **words)

    before = key()
    (tmp_path / "environments/bfcl/2026.3.23/lib/python3.11/site-packages/bfcl_eval/data").mkdir(parents=True)
    assert key() != before


def test_the_releases_that_can_be_created_are_listed() -> None:
    listed = CliRunner().invoke(app, ["env", "list"]).output
    assert "2025.7.17" in listed and "2026.3.23" in listed and listed.count("not installed") == 3


def test_a_release_without_a_known_hash_is_refused() -> None:
    for command in (["env", "create"], ["fetch"]):
        done = CliRunner().invoke(app, [*command, "bfcl", "--version", "2025.12.1"])
        assert isinstance(done.exception, UnavailableError | FetchError)
        assert "known releases: 2025.7.17, 2026.3.23" in str(done.exception)
        assert "--unpinned" in str(done.exception)


def test_refusals_are_one_message() -> None:
    for arguments in (["remove", "bfcl"], ["create", "checkers"]):
        done = CliRunner().invoke(app, ["env", *arguments])
        assert isinstance(done.exception, UnavailableError | FetchError)
