"""Fixtures that all tests share."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")

pytest_plugins = ["tests.loopback.fixtures"]


@pytest.fixture(scope="session")
def corpora() -> Path:
    """Folder of real benchmark files: $AGENTHARD_CORPORA, else ../shared/corpora beside the checkout."""
    folder = Path(os.environ.get("AGENTHARD_CORPORA") or Path(__file__).parents[2] / "shared" / "corpora")
    if not folder.is_dir():
        pytest.skip(f"the corpora folder is absent: {folder.name} (set AGENTHARD_CORPORA)")
    return folder
