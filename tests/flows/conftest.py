"""Copies of the demo benchmark with planted flaws."""

import shutil
from pathlib import Path

import pytest

DATA = Path(__file__).parents[2] / "flows" / "demo" / "data" / "flawed"


@pytest.fixture
def flawed_demo(tmp_path: Path) -> Path:
    """The demo benchmark, for one test."""
    return shutil.copytree(DATA, tmp_path / "benchmark")


@pytest.fixture(scope="module")
def flawed_demo_module(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo benchmark, for the tests of a module, which do not change it."""
    return shutil.copytree(DATA, tmp_path_factory.mktemp("demo") / "benchmark")
