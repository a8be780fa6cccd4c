"""One audited benchmark for all tests of this folder."""

from pathlib import Path

import pytest

from tests.flows.judging.made import audit, write_benchmark

COUNT = 40


@pytest.fixture(scope="session")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run folder of an audit of forty cases; no test changes it."""
    folder = tmp_path_factory.mktemp("judged")
    return audit(write_benchmark(folder / "library", COUNT), folder / "run")
