import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.bfcl import BFCL
from agenthard.taxonomy import AgentTask

FIXTURES = Path(__file__).parent / "fixtures"


@pytest.fixture(autouse=True)
def no_fetched_environments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTHARD_HOME", str(tmp_path / "home"))


@pytest.fixture
def v3() -> Path:
    return FIXTURES / "v3"


@pytest.fixture
def v4() -> Path:
    return FIXTURES / "v4"


@pytest.fixture
def broken() -> Path:
    return FIXTURES / "broken"


@pytest.fixture
def v3_copy(tmp_path: Path, v3: Path) -> Path:
    """A copy of the v3 files that a test may change."""
    return Path(shutil.copytree(v3, tmp_path / "v3"))


@pytest.fixture
def read() -> Callable[[Path], dict[str, AgentTask]]:
    """Read all tasks of a folder by id, and insist that nothing was quarantined."""

    def read_all(root: Path) -> dict[str, AgentTask]:
        quarantine = Quarantine()
        tasks = {task.id: task for task in BFCL(root).tasks(quarantine)}
        assert quarantine.items == []
        return tasks

    return read_all
