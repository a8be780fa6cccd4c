"""The tiny scenario as an installed pack, and a suite of it on disk."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agenthard.agency import packs as installed
from agenthard.agency.packs import pack_of
from agenthard.agency.suite_files import write_suite
from tests.agency import tiny

PACK = pack_of(tiny)


@pytest.fixture
def tiny_pack(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install the tiny scenario for one test."""
    monkeypatch.setattr(installed, "_targets", lambda: iter([tiny.__name__]))
    installed.packs.cache_clear()
    yield
    installed.packs.cache_clear()


@pytest.fixture
def suite(tiny_pack: None, tmp_path: Path) -> Path:
    """A suite with the tiny scenario."""
    write_suite([PACK], tmp_path / "suite")
    return tmp_path / "suite"
