"""Sources by name; a broken package does not affect the other sources."""

from pathlib import Path

import pytest

from agenthard.audit import plugins
from agenthard.audit.plugins import Plugin
from agenthard.audit.sources import registry
from agenthard.audit.sources.base import SourceError


@pytest.fixture
def broken_package(monkeypatch: pytest.MonkeyPatch) -> None:
    absent = Plugin("theirs", "package_that_is_not_here:Source", "their-bench")
    monkeypatch.setattr(plugins, "installed_plugins", lambda group: (absent,))


@pytest.mark.usefixtures("broken_package")
def test_a_broken_package_is_named_only_when_it_is_asked_for(tmp_path: Path) -> None:
    assert set(registry.sources()) == set(registry.BUILT_IN)
    with pytest.raises(SourceError, match="'theirs' is registered, but package_that_is_not_here:Source of the package"):
        registry.open_source("theirs", tmp_path)
    with pytest.raises(SourceError, match="no source 'other'"):
        registry.open_source("other", tmp_path)


def test_every_built_in_source_has_its_registered_name() -> None:
    assert {name: source.name for name, source in registry.sources().items()} == {n: n for n in registry.BUILT_IN}
