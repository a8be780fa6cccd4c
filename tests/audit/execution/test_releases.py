"""The code that executes is the code of that data."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agenthard.audit.execution.environment import UnavailableError
from agenthard.audit.execution.managed_environments import release_of
from agenthard.audit.execution.release_contents import FILE, contents
from agenthard.audit.sources.fetch import HOME_VARIABLE, fetched
from tests.builders import make_task

TASK = make_task(benchmark="bfcl")


def of(content_hash: str) -> str:
    found = release_of(TASK.model_copy(update={"content_hash": content_hash}), read_hashes)
    return f"{found.release.version}{' changed' if found.changed else ''}"


def read_hashes(data: Path) -> Iterator[str]:
    yield from (data / "hashes").read_text().split()


def install(home: Path, version: str, *hashes: str) -> None:
    data = home / "environments/bfcl" / version / "lib/python3.11/site-packages/bfcl_eval/data"
    data.mkdir(parents=True)
    (data / "hashes").write_text(" ".join(hashes))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path))
    return tmp_path


def test_each_task_is_of_the_release_that_has_it(home: Path) -> None:
    install(home, "2025.7.17", "v3:1", "v3:2")
    install(home, "2025.12.1", "v4:1", "v4:2")
    install(home, "2026.3.23", "v4:1", "v4:3")
    assert [of(name) for name in ("v3:1", "v4:1", "v4:2", "v3:2", "v4:3")] == [
        "2025.7.17",
        "2026.3.23",
        "2025.12.1",
        "2025.7.17",
        "2026.3.23",
    ]


def test_a_release_that_is_installed_later_is_found(home: Path) -> None:
    with pytest.raises(
        UnavailableError,
        match=r"no code of this release \(data v4; installed: none\): "
        r"`agenthard env create bfcl --version 2026\.3\.23` brings it",
    ):
        of("v4:1")
    install(home, "2025.7.17", "v3:1")
    with pytest.raises(
        UnavailableError, match=r"installed: 2025\.7\.17\): `agenthard env create bfcl --version 2026\.3\.23`"
    ):
        of("v4:1")
    install(home, "2026.3.23", "v4:1")
    assert of("v4:1") == "2026.3.23"


def test_a_changed_task_is_executed_by_a_release_of_its_data_and_by_no_other(home: Path) -> None:
    install(home, "2025.7.17", "v3:1")
    with pytest.raises(UnavailableError, match=r"no code of this release \(data v4; installed: 2025\.7\.17\)"):
        of("v4:2")
    install(home, "2026.3.23", "v4:1")
    install(home, "2026.4.1", "v4:3")
    assert [of(name) for name in ("v3:2", "v4:2")] == ["2025.7.17 changed", "2026.3.23 changed"]
    with pytest.raises(
        UnavailableError, match="question, answer or documentation differs .* --version RELEASE --unpinned`"
    ):
        of("v5:1")
    with pytest.raises(UnavailableError, match="does not tell which release of bfcl it is of"):
        release_of(TASK, read_hashes)


def test_the_contents_of_a_release_are_kept_until_its_data_changes(home: Path) -> None:
    read = list[Path]()

    def reader() -> Callable[[Path], Iterator[str]]:
        """Make a reader that this process has not asked before."""

        def reading(data: Path) -> Iterator[str]:
            read.append(data)
            return read_hashes(data)

        return reading

    install(home, "2025.7.17", "v3:1", "v3:2")
    [release] = fetched("bfcl")
    assert contents(reader(), release) == contents(reader(), release) == {"v3:1", "v3:2"}
    assert len(read) == 1
    (release.data / "hashes").write_text("v3:1 v3:20")
    assert contents(reader(), release) == {"v3:1", "v3:20"}
    for damaged in ("", "[]", '{"key": "other"}', '{"key": 1'):
        (release.path / FILE).write_text(damaged)
        assert contents(reader(), release) == {"v3:1", "v3:20"}
    assert len(read) == 6
