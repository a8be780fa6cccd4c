"""Sources by name; a broken package of somebody's takes no other source along."""

from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from agenthard.audit.sources import registry
from agenthard.audit.sources.base import SourceError


@pytest.fixture
def broken_package(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    known = tuple(registry.entry_points(group=registry.GROUP))
    absent = EntryPoint("theirs", "package_that_is_not_here:Source", registry.GROUP)
    monkeypatch.setattr(registry, "entry_points", lambda group: (*known, absent))
    registry._loaded.cache_clear()
    yield
    registry._loaded.cache_clear()


@pytest.mark.usefixtures("broken_package")
def test_a_broken_package_is_named_only_when_it_is_asked_for(tmp_path: Path) -> None:
    assert {"bfcl", "native"} <= set(registry.sources())
    with pytest.raises(SourceError, match="'theirs' is registered, but package_that_is_not_here:Source cannot be load"):
        registry.open_source("theirs", tmp_path)
    with pytest.raises(SourceError, match="no source 'other'"):
        registry.open_source("other", tmp_path)
