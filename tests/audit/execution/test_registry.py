import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agenthard.audit.execution import registry
from agenthard.audit.execution.environment import Environment, UnavailableError
from agenthard.audit.execution.tau import Tau2Environment
from agenthard.audit.plugins import all_installed, plugins

ROOT = Path(__file__).parents[3]


@pytest.fixture
def register(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An installed distribution that offers environments."""
    info = tmp_path / "library_bench-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: library-bench\nVersion: 1.0\n")
    lines = ["good = agenthard.audit.execution.tau:Tau2Environment", "gone = no_such_module:X", "odd = json:dumps"]
    (info / "entry_points.txt").write_text("\n".join([f"[{registry.GROUP}]", *lines]) + "\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    all_installed.cache_clear()
    yield info
    all_installed.cache_clear()


def test_an_environment_is_found_by_benchmark(register: Path) -> None:
    assert isinstance(registry.new_environment("good"), Tau2Environment)
    assert "good" in registry.environment_names()


def test_a_benchmark_without_one_has_none(register: Path) -> None:
    assert registry.new_environment("library") is None


@pytest.mark.parametrize(("name", "words"), [("gone", "cannot be loaded"), ("odd", "not a subclass")])
def test_what_cannot_be_loaded_is_said(register: Path, name: str, words: str) -> None:
    with pytest.raises(UnavailableError, match=words):
        registry.new_environment(name)


class _Release(Tau2Environment):
    name = "library-eval"

    def version(self) -> str:
        return "library-eval 2.1"


def test_a_label_names_what_runs_once() -> None:
    assert _Release().label() == "library-eval 2.1"
    assert Tau2Environment().label() == f"{Tau2Environment.name} {Tau2Environment().version()}"


def test_no_code_that_is_generic_names_a_benchmark() -> None:
    """Gates and checks ask what an environment can do, not which it is."""
    for path in (ROOT / "audit").rglob("*.py"):
        if not path.is_relative_to(ROOT / "audit" / "execution" / "tau"):
            assert "TauEnvironment" not in path.read_text(encoding="utf-8"), path


def test_every_environment_of_the_package_loads() -> None:
    for group, targets in registry.BUILT_IN.items():
        for name, plugin in plugins(group, targets).items():
            assert issubclass(plugin.load(), Environment), name
    assert {"tau-bench", "tau2"} <= registry.BUILT_IN[registry.GROUP].keys()
