"""Plugins by name: built-in ones need no installation, and another package cannot take their names."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agenthard.audit.plugins import Plugin, PluginError, all_installed, plugins

GROUP = "agenthard.sources"
BUILT_IN = {"zeta": "json:dumps", "alpha": "json:loads"}

Install = Callable[[str, str], None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Put the metadata of an installed package with one entry point on the path."""
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])

    def write(package: str, entry: str) -> None:
        info = tmp_path / f"{package.replace('-', '_')}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[{GROUP}]\n{entry}\n")
        all_installed.cache_clear()

    yield write
    all_installed.cache_clear()


def test_built_in_plugins_come_first_in_their_order(install: Install) -> None:
    install("other-bench", "mine = json:load")
    assert list(plugins(GROUP, BUILT_IN)) == ["zeta", "alpha", "mine"]
    assert plugins(GROUP, BUILT_IN)["mine"] == Plugin("mine", "json:load", "other-bench")


def test_a_built_in_name_is_refused_and_the_package_named(install: Install) -> None:
    install("other-bench", "alpha = json:load")
    with pytest.raises(PluginError, match="the package other-bench registers 'alpha' .* that AgentHard itself uses"):
        plugins(GROUP, BUILT_IN)


def test_two_packages_cannot_share_a_name(install: Install) -> None:
    install("a-bench", "mine = json:load")
    install("b-bench", "mine = json:load")
    with pytest.raises(PluginError, match="the package b-bench registers 'mine' .* that the package a-bench uses"):
        plugins(GROUP, BUILT_IN)


def test_entry_points_of_an_older_installation_of_ours_are_ignored(install: Install) -> None:
    install("agenthard", "alpha = moved_since:Gone")
    assert plugins(GROUP, BUILT_IN)["alpha"].target == "json:loads"


@pytest.mark.parametrize("target", ["no_such_module:X", "json:no_such_name"])
def test_what_cannot_be_loaded_names_the_package(target: str) -> None:
    with pytest.raises(PluginError, match=f"{target} of the package theirs cannot be loaded"):
        Plugin("mine", target, "theirs").load()
