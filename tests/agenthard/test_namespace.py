"""`import agenthard as ah`: lazy, complete, and indifferent to files of the working directory."""

import inspect
import os
import pickle
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import agenthard as ah

HEAVY = ("prefect", "pandas", "scipy", "pyarrow", "pydantic", "typer", "openai", "asyncio", "inspect")


def python(code: str, folder: Path, *options: str) -> str:
    command = [sys.executable, *options, "-c", textwrap.dedent(code)]
    # Commands that other tests run in this process protect their children; a user's own interpreter is not protected.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_the_package_imports_nothing_heavy(tmp_path: Path) -> None:
    code = f"import sys, agenthard; print([name for name in {HEAVY!r} if name in sys.modules])"
    assert python(code, tmp_path) == "[]"


def test_every_public_name_exists() -> None:
    assert ah.__all__ == sorted(ah.__all__, key=lambda name: (name.islower(), name))
    assert [name for name in ah.__all__ if not hasattr(ah, name)] == []
    assert dir(ah) == sorted(ah.__all__)
    with pytest.raises(AttributeError, match="module 'agenthard' has no attribute 'nothing'"):
        ah.nothing  # type: ignore[attr-defined]  # noqa: B018


def test_the_names_of_the_documented_api() -> None:
    assert [round(end, 4) for end in ah.statistics.wilson(0, 10)] == [0.0, 0.2775]
    assert issubclass(ah.errors.AgentHardError, Exception)
    instance = next(ah.ace.generate(ah.ace.Parameters(hidden_slots=(1,), decoy_budgets=(0,), domains=("course",))))
    assert ah.ace.verify(instance).unique


def test_audit_is_a_function_and_a_package() -> None:
    import agenthard.audit.sources.base
    from agenthard.api import audit

    assert callable(ah.audit)
    assert ah.audit.__doc__ == audit.__doc__
    assert inspect.signature(ah.audit) == inspect.signature(audit)
    assert agenthard.audit.sources.base.Source is ah.Source  # type: ignore[attr-defined]
    assert pickle.loads(pickle.dumps(ah.audit)) is sys.modules["agenthard.audit"]


@pytest.mark.parametrize(
    "imports",
    [
        "import agenthard as ah, agenthard.audit.sources.base",
        "import agenthard.audit.sources.base, agenthard as ah",
        "from agenthard.audit.shards import check_shard; import agenthard as ah",
        "from agenthard import audit; import agenthard as ah; assert audit is ah.audit",
    ],
)
def test_audit_can_be_called_after_any_order_of_imports(imports: str, tmp_path: Path) -> None:
    code = f"{imports}\ntry:\n    ah.audit()\nexcept TypeError as error:\n    print(error)"
    assert python(code, tmp_path) == "audit() missing 1 required positional argument: 'source'"


def test_help_shows_the_text_of_the_function(tmp_path: Path) -> None:
    assert "run every check on every task" in python("import agenthard as ah; help(ah.audit)", tmp_path)


@pytest.fixture
def crowded(tmp_path: Path) -> Path:
    """A folder with modules of the user's own that have the names of our packages."""
    for name in ("models", "taxonomy", "reports", "flows"):
        (tmp_path / f"{name}.py").write_text("raise ImportError('this is not the module of AgentHard')\n")
    for name in ("audit", "ace"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("MINE = True\n")
    (tmp_path / "audit.py").write_text("MINE = True\n")
    return tmp_path


def test_the_user_may_have_modules_of_these_names(crowded: Path) -> None:
    code = """
        import audit, agenthard as ah
        ah.statistics.wilson(1, 2), ah.open_source, ah.TaskDetector
        import agenthard.models.client, agenthard.taxonomy
        print(audit.MINE, callable(ah.audit))
    """
    assert python(code, crowded) == "True True"


def test_the_command_runs_next_to_modules_of_these_names(crowded: Path) -> None:
    command = [sys.executable, "-m", "agenthard", "checks"]
    done = subprocess.run(command, cwd=crowded, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "call-schema" in done.stdout


def test_workers_run_next_to_modules_of_these_names(crowded: Path) -> None:
    (crowded / "script.py").write_text(
        textwrap.dedent("""
            from pathlib import Path
            import agenthard as ah
            from agenthard.flows.demo import write_demo

            if __name__ == "__main__":
                write_demo(Path("demo"))
                source = ah.open_source("native", "demo")
                print(len(ah.audit(source, workers=2).decisions))
        """)
    )
    done = subprocess.run([sys.executable, "script.py"], cwd=crowded, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "60"
