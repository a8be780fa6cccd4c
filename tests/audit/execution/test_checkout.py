import sys
from pathlib import Path

import pytest

from agenthard.audit.execution.acebench import AceBenchEnvironment
from agenthard.audit.execution.checkout import (
    code_version,
    definitions,
    interpreter,
    python_files,
)
from agenthard.audit.execution.context import Execution
from agenthard.audit.execution.environment import UnavailableError
from agenthard.audit.execution.registry import check_checkout
from agenthard.audit.execution.tau import TauBenchEnvironment
from agenthard.audit.execution.tau.own_code import TauBenchCheckout
from tests.builders import make_task


def test_definitions_are_read_and_never_run(acebench: Path) -> None:
    found = {(name, path.relative_to(acebench).as_posix()) for name, path in definitions(acebench)}
    assert ("normal_checker", "model_eval/checker.py") in found
    assert ("MessageApi", "scenarios/phone.py") in found
    assert not any(path == "broken.py" for _, path in found)


def test_installed_packages_are_left_out(acebench: Path) -> None:
    for folder in (".venv/lib", "venv/lib", ".git"):
        (acebench / folder).mkdir(parents=True)
        (acebench / folder / "other.py").write_text("def normal_checker(): ...\n")
    assert all(path.name != "other.py" for path in python_files(acebench))


def test_the_checkouts_own_interpreter_comes_first(acebench: Path) -> None:
    assert interpreter(acebench) == Path(sys.executable)
    own = acebench / ".venv" / "bin" / "python"
    own.parent.mkdir(parents=True)
    own.write_text("")
    assert interpreter(acebench) == own


def test_an_own_interpreter_and_its_packages_are_part_of_the_version(acebench: Path) -> None:
    versions = []
    package = acebench / ".venv" / "lib" / "python3.11" / "site-packages" / "dependency.py"
    own = acebench / ".venv" / "bin" / "python"
    for path, text in (
        (acebench / "README", ""),
        (own, "one"),
        (own, "two"),
        (package, "x = 1\n"),
        (package, "x = 10\n"),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        code_version.cache_clear()
        versions.append(code_version(acebench))
    assert len(set(versions)) == 5


def test_an_execution_opens_the_code_of_its_checkout(tau_bench: Path) -> None:
    task = make_task(benchmark="tau-bench")
    with Execution() as built_in, Execution(tau_bench) as own:
        assert isinstance(built_in.environment_for(task), TauBenchEnvironment)
        assert own.checkout == tau_bench
        assert isinstance(own.environment_for(task), TauBenchCheckout)
        with pytest.raises(UnavailableError, match="the code of library cannot be run from a checkout"):
            own.environment_for(make_task())
        assert isinstance(built_in.environment_for(make_task(benchmark="acebench")), AceBenchEnvironment)


def test_a_wrong_checkout_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="no folder at this path"):
        check_checkout("acebench", tmp_path / "absent")
    with pytest.raises(UnavailableError, match="bfcl cannot be run from a checkout"):
        check_checkout("bfcl", tmp_path)
