"""A benchmark from a folder, a git repository, a hub, a URL: the present version, and nothing from elsewhere."""

import functools
import os
import subprocess
import sys
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from agenthard.flows.errors import CommandError, InfrastructureError
from agenthard.flows.scheduling.origins import keep_copy, present_version
from agenthard.flows.scheduling.settings import GitOrigin, PathOrigin, UrlOrigin
from tests.flows.publishing.hub import running_hub


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    (folder / "bench").mkdir(parents=True)
    (folder / "bench" / "tasks.jsonl").write_text("one\n")
    git(folder, "init", "-q", "-b", "main")
    commit(folder)
    return folder


def git(folder: Path, *words: str) -> None:
    who = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
    subprocess.run(["git", *words], cwd=folder, check=True, env={**os.environ, **who})


def commit(folder: Path) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "a version")


def read(origin: Any, keep: Path) -> dict[str, str]:
    with present_version(origin, keep) as here:
        return {p.relative_to(here).as_posix(): p.read_text() for p in sorted(here.rglob("*")) if p.is_file()}


def test_git_gives_the_present_commit_of_a_branch(repository: Path, tmp_path: Path) -> None:
    origin = GitOrigin(git=str(repository), ref="main", folder="bench")
    assert read(origin, tmp_path / "keep") == {"tasks.jsonl": "one\n"}
    (repository / "bench" / "tasks.jsonl").write_text("two\n")
    commit(repository)
    assert read(origin, tmp_path / "keep") == {"tasks.jsonl": "two\n"}
    assert [each.name for each in (tmp_path / "keep").iterdir()] == ["repository.git"]


@pytest.mark.parametrize(
    ("origin", "error", "words"),
    [
        ({"ref": "no-such"}, InfrastructureError, "git fetch failed: .*no-such"),
        ({"folder": "../.."}, CommandError, "has no folder"),
        ({"folder": "absent"}, CommandError, "has no folder 'absent'"),
        ({"git": "--upload-pack=touch /tmp/x"}, CommandError, "not the address of a repository"),
        ({"git": "ext::sh -c true"}, CommandError, "not the address of a repository"),
    ],
)
def test_a_wrong_repository_is_one_sentence(
    repository: Path, tmp_path: Path, origin: dict[str, str], error: type[Exception], words: str
) -> None:
    given = {"git": str(repository), "ref": "main", **origin}
    with pytest.raises(error, match=words):
        read(GitOrigin(**given), tmp_path / "keep")


@pytest.fixture
def web(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    root = tmp_path / "web"
    root.mkdir()
    handler = functools.partial(SimpleHTTPRequestHandler, directory=str(root))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield root, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_an_archive_behind_a_url_is_unpacked(web: tuple[Path, str], tmp_path: Path) -> None:
    root, address = web
    with zipfile.ZipFile(root / "bench.zip", "w") as file:
        file.writestr("bench/tasks.jsonl", "one\n")
    assert read(UrlOrigin(url=f"{address}/bench.zip"), tmp_path / "keep") == {"tasks.jsonl": "one\n"}


def test_named_files_below_a_url(web: tuple[Path, str], tmp_path: Path) -> None:
    root, address = web
    (root / "data").mkdir()
    (root / "data" / "tasks.jsonl").write_text("one\n")
    origin = UrlOrigin(url=address, files=("data/tasks.jsonl",))
    assert read(origin, tmp_path / "keep") == {"tasks.jsonl": "one\n"}
    with pytest.raises(InfrastructureError, match="could not be fetched"):
        read(UrlOrigin(url=f"{address}/absent.zip"), tmp_path / "keep")
    with pytest.raises(CommandError, match="not a name below"):
        read(UrlOrigin(url=address, files=("../x",)), tmp_path / "keep")
    with pytest.raises(CommandError, match="protocols that are read"):
        read(UrlOrigin(url="file:///etc/passwd"), tmp_path / "keep")


@pytest.mark.long
def test_a_dataset_of_a_hub_gives_its_present_version(tmp_path: Path) -> None:
    """The real client, in a process of its own: it reads its settings when it is imported."""
    script = """
import sys
from pathlib import Path
from agenthard.flows.scheduling.origins import present_version
from agenthard.flows.scheduling.settings import DatasetOrigin
with present_version(DatasetOrigin(dataset="library/lending", folder="data"), Path(sys.argv[1])) as here:
    print((here / "tasks.jsonl").read_text(), end="")
"""

    def fetched(endpoint: str) -> "subprocess.CompletedProcess[str]":
        clean = {key: value for key, value in os.environ.items() if not key.startswith("HF_")}
        given = {**clean, "HF_ENDPOINT": endpoint, "HF_HOME": str(tmp_path / "hf"), "HF_HUB_DISABLE_XET": "1"}
        command = [sys.executable, "-c", script, str(tmp_path / "keep")]
        return subprocess.run(command, env=given, capture_output=True, text=True, check=False)

    with running_hub() as hub:
        hub.repositories["library/lending"], hub.tags["library/lending"] = [{"data/tasks.jsonl": b"one\n"}], {}
        done = fetched(hub.url)
        assert done.stdout == "one\n", done.stderr
        hub.repositories["library/lending"].append({"data/tasks.jsonl": b"two\n"})
        assert fetched(hub.url).stdout == "two\n"
    done = fetched(hub.url)
    assert done.returncode != 0 and "InfrastructureError" in done.stderr and "could not be fetched" in done.stderr


def test_an_archive_writes_nothing_outside(web: tuple[Path, str], tmp_path: Path) -> None:
    root, address = web
    (tmp_path / "evil.txt").write_text("evil")
    with tarfile.open(root / "bench.tar.gz", "w:gz") as file:
        file.add(tmp_path / "evil.txt", arcname="../../../evil-was-here.txt")
    with pytest.raises(InfrastructureError, match="could not be fetched"):
        read(UrlOrigin(url=f"{address}/bench.tar.gz"), tmp_path / "keep")
    assert not list(tmp_path.rglob("evil-was-here.txt"))


def test_a_copy_has_no_files_from_elsewhere(tmp_path: Path) -> None:
    source = tmp_path / "bench"
    source.mkdir()
    (tmp_path / "secret").write_text("s3cret")
    (source / "tasks.jsonl").write_text("one\n")
    (source / "link").symlink_to(tmp_path / "secret")
    (source / ".git").mkdir()
    copy = keep_copy(source, tmp_path / "keep" / "0001")
    assert [each.name for each in copy.iterdir()] == ["tasks.jsonl"]
    (source / "tasks.jsonl").write_text("two\n")
    assert (keep_copy(source, copy) / "tasks.jsonl").read_text() == "one\n"


def test_a_folder_that_is_gone(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="nothing is at this path"):
        read(PathOrigin(path=str(tmp_path / "gone")), tmp_path)
