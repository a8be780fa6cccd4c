from pathlib import Path

import pytest

from agenthard.audit.execution import venvs
from agenthard.audit.execution.environment import UnavailableError
from tests.audit.sources.test_fetch import use_handmade_index


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An index of hand-made wheels instead of the network, and an empty managed home."""
    use_handmade_index(tmp_path / "wheels", monkeypatch)
    monkeypatch.setenv("AGENTHARD_HOME", str(tmp_path / "home"))


@pytest.mark.usefixtures("index")
def test_an_environment_is_created_listed_found_and_removed() -> None:
    assert venvs.existing() == []
    with pytest.raises(UnavailableError, match="agenthard env create bfcl"):
        venvs.find("bfcl", "2025.7.17")
    made = venvs.create("bfcl")
    assert made.version == "2025.7.17"
    assert {"bfcl_eval": "2025.7.17", "mpmath": "1.3.0"}.items() <= made.packages.items()
    assert venvs.existing() == [made] == [venvs.find("bfcl", "2025.7.17")]
    assert made.python.exists()
    assert venvs.remove("bfcl") == [made]
    assert venvs.existing() == []
    assert not made.python.exists()


@pytest.mark.usefixtures("index")
def test_what_cannot_be_done_says_so() -> None:
    with pytest.raises(UnavailableError, match="nothing to fetch for 'checkers'"):
        venvs.create("checkers")
    with pytest.raises(UnavailableError, match="no environment of bfcl 9.9"):
        venvs.remove("bfcl", "9.9")
    with pytest.raises(UnavailableError, match="could not install bfcl-eval==9.9"):
        venvs.create("bfcl", "9.9", unpinned=True)
    with pytest.raises(UnavailableError, match="--unpinned installs what the index sends"):
        venvs.create("bfcl", "9.9")
