from pathlib import Path

import pytest

from agenthard.audit.execution import managed_environments
from agenthard.audit.execution.environment import UnavailableError
from tests.audit.sources.test_fetch import use_handmade_index


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An index of hand-made wheels instead of the network, and an empty managed home."""
    use_handmade_index(tmp_path / "wheels", monkeypatch)
    monkeypatch.setenv("AGENTHARD_HOME", str(tmp_path / "home"))


@pytest.mark.usefixtures("index")
def test_an_environment_is_created_listed_found_and_removed() -> None:
    assert managed_environments.existing() == []
    with pytest.raises(UnavailableError, match="agenthard env create bfcl"):
        managed_environments.find("bfcl", "2025.7.17")
    made = managed_environments.create("bfcl")
    assert made.version == "2025.7.17"
    assert {"bfcl_eval": "2025.7.17", "mpmath": "1.3.0"}.items() <= made.packages.items()
    assert managed_environments.existing() == [made] == [managed_environments.find("bfcl", "2025.7.17")]
    assert made.python.exists()
    assert managed_environments.remove("bfcl") == [made]
    assert managed_environments.existing() == []
    assert not made.python.exists()


@pytest.mark.usefixtures("index")
def test_what_cannot_be_done_says_so() -> None:
    with pytest.raises(UnavailableError, match="nothing to fetch for 'checkers'"):
        managed_environments.create("checkers")
    with pytest.raises(UnavailableError, match="no environment of bfcl 9.9"):
        managed_environments.remove("bfcl", "9.9")
    with pytest.raises(UnavailableError, match="could not install bfcl-eval==9.9"):
        managed_environments.create("bfcl", "9.9", unpinned=True)
    with pytest.raises(UnavailableError, match="--unpinned installs what the index sends"):
        managed_environments.create("bfcl", "9.9")
