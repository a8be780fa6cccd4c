"""Uploading with the real client of the Hugging Face Hub, to a hub on this machine."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agenthard.flows.errors import ExitCode
from agenthard.flows.publishing.signature import verify_folder
from tests.flows.publishing.conftest import Audit, contents, lending, library
from tests.flows.publishing.hub import TOKEN, Hub, running_hub

pytestmark = pytest.mark.long
REPOSITORY = "library/lending"


@pytest.fixture
def hub() -> Iterator[Hub]:
    with running_hub() as found:
        yield found


def run(
    words: list[str], tmp_path: Path, endpoint: str, token: str | None = TOKEN
) -> "subprocess.CompletedProcess[str]":
    """Run Python with the settings of the client, which it reads when it is imported."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith("HF_")}
    given = {**clean, "HF_ENDPOINT": endpoint, "HF_HOME": str(tmp_path / "hf"), "HF_HUB_DISABLE_XET": "1"}
    given |= {"HF_TOKEN": token} if token else {}
    return subprocess.run([sys.executable, "-P", *words], env=given, capture_output=True, text=True, check=False)


def publish(
    audited: Path, tmp_path: Path, endpoint: str, *more: str, token: str | None = TOKEN
) -> "subprocess.CompletedProcess[str]":
    words = ["-m", "agenthard", "publish", str(audited), "--out", str(tmp_path / "out"), "--json", *more]
    return run(words, tmp_path, endpoint, token)


def test_a_version_is_uploaded_in_one_commit_and_what_it_does_not_have_is_deleted(
    hub: Hub, audit: Audit, tmp_path: Path
) -> None:
    tasks = library()
    done = publish(audit([*tasks, lending(9, 9, subtask="returns")]), tmp_path, hub.url, "--push", REPOSITORY)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["pushed"] == f"{hub.url}/datasets/{REPOSITORY}/tree/v1.0.0"
    first = {path: data for path, data in hub.files(REPOSITORY).items() if path != ".gitattributes"}
    assert first == contents(tmp_path / "out")
    assert "data/returns/clean-00000-of-00001.parquet" in first

    done = publish(audit(tasks), tmp_path, hub.url, "--push", REPOSITORY)
    assert done.returncode == 0, done.stderr
    now = hub.files(REPOSITORY)
    assert {path: data for path, data in now.items() if path != ".gitattributes"} == contents(tmp_path / "out")
    assert ".gitattributes" in now and "data/returns/clean-00000-of-00001.parquet" not in now
    assert hub.messages == ["native-clean 1.0.0", "native-clean 1.1.0"]
    assert {path: data for path, data in hub.files(REPOSITORY, "v1.0.0").items() if path != ".gitattributes"} == first


def test_what_was_uploaded_is_downloaded_verified_and_loaded(hub: Hub, audit: Audit, tmp_path: Path) -> None:
    assert publish(audit(library()), tmp_path, hub.url, "--push", REPOSITORY).returncode == 0
    code = (
        "import sys, datasets, huggingface_hub as hub; "
        "hub.snapshot_download(sys.argv[1], repo_type='dataset', revision='v1.0.0', local_dir=sys.argv[2]); "
        "print(datasets.load_dataset(sys.argv[1], 'default', split='clean', revision='v1.0.0')['id'][:])"
    )
    done = run(["-c", code, REPOSITORY, str(tmp_path / "down")], tmp_path, hub.url)
    assert done.returncode == 0, done.stderr[-3000:]
    assert verify_folder(tmp_path / "down").intact
    assert done.stdout.splitlines()[-1] == "['lib/0', 'lib/1', 'lib/3', 'lib/5']"


def test_nothing_is_sent_without_the_option(hub: Hub, audit: Audit, tmp_path: Path) -> None:
    done = publish(audit(library()), tmp_path, hub.url)
    assert done.returncode == 0 and json.loads(done.stdout)["pushed"] is None
    assert hub.requests == []


def test_without_a_token_nothing_is_written_or_sent(hub: Hub, audit: Audit, tmp_path: Path) -> None:
    done = publish(audit(library()), tmp_path, hub.url, "--push", REPOSITORY, token=None)
    assert done.returncode == ExitCode.USAGE and "no token" in done.stderr and "HF_TOKEN" in done.stderr
    assert not (tmp_path / "out").exists() and hub.requests == []


def test_a_token_that_may_not_write_is_refused_with_what_the_hub_says(hub: Hub, audit: Audit, tmp_path: Path) -> None:
    done = publish(audit(library()), tmp_path, hub.url, "--push", REPOSITORY, token="hf_other")
    assert done.returncode == ExitCode.USAGE and "the hub refuses it" in done.stderr
    assert TOKEN not in done.stderr and "hf_other" not in done.stderr
    assert (tmp_path / "out" / "manifest.json").is_file() and hub.repositories == {}


def test_a_hub_that_fails_leaves_the_folder_and_the_same_command_uploads_it(
    hub: Hub, audit: Audit, tmp_path: Path
) -> None:
    audited = audit(library())
    hub.fail_with = 501
    done = publish(audited, tmp_path, hub.url, "--push", REPOSITORY)
    assert done.returncode == ExitCode.INFRASTRUCTURE and "the hub failed" in done.stderr
    before = contents(tmp_path / "out")
    hub.fail_with = None
    done = publish(audited, tmp_path, hub.url, "--push", REPOSITORY)
    assert done.returncode == 0 and json.loads(done.stdout)["changed"] is False
    assert contents(tmp_path / "out") == before and hub.messages == ["native-clean 1.0.0"]


def test_a_hub_that_is_not_there_is_no_defect_of_ours(audit: Audit, tmp_path: Path) -> None:
    done = publish(audit(library()), tmp_path, "http://127.0.0.1:9", "--push", REPOSITORY)
    assert done.returncode == ExitCode.INFRASTRUCTURE and "cannot be reached" in done.stderr


def test_a_name_that_no_repository_can_have_is_refused(hub: Hub, audit: Audit, tmp_path: Path) -> None:
    done = publish(audit(library()), tmp_path, hub.url, "--push", "a/b/c")
    assert done.returncode == ExitCode.USAGE and "--push a/b/c" in done.stderr
