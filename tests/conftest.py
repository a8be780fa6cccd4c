"""Fixtures that all tests share."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=50)
settings.register_profile("thorough", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))

pytest_plugins = ["tests.loopback.fixtures"]

LONGEST_FILES = (
    "tests/test_docs.py",
    "tests/audit/execution/bfcl/test_releases.py",
    "tests/flows/judging/test_command.py",
    "tests/flows/evaluation/test_command.py",
    "tests/flows/demo/test_command.py",
    "tests/audit/sources/test_fetch.py",
    "tests/flows/test_ace_commands.py",
    "tests/audit/execution/bfcl/test_corpora.py",
    "tests/audit/execution/tau/test_fidelity.py",
    "tests/flows/commands/test_report.py",
    "tests/reports/cleaning/test_page_use.py",
    "tests/flows/evaluation/test_models.py",
    "tests/reports/cleaning/test_page.py",
    "tests/reports/test_page.py",
    "tests/reports/evaluation/test_page.py",
    "tests/reports/evaluation/test_tables.py",
)
"""They are started first, so that all processes end together."""


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """One process more than there are cores: some tests wait for servers, browsers and other processes."""
    return (os.cpu_count() or 1) + 1


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the files that take longest first."""
    place = {name: number for number, name in enumerate(LONGEST_FILES)}
    items.sort(key=lambda item: place.get(item.nodeid.partition("::")[0], len(place)))


@pytest.fixture(scope="session")
def corpora() -> Path:
    """Folder of real benchmark files: $AGENTHARD_CORPORA, else ../shared/corpora beside the checkout."""
    folder = Path(os.environ.get("AGENTHARD_CORPORA") or Path(__file__).parents[2] / "shared" / "corpora")
    if not folder.is_dir():
        pytest.skip(f"the corpora folder is absent: {folder.name} (set AGENTHARD_CORPORA)")
    return folder
