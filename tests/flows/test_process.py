"""A folder full of modules named like Python's, ours and Prefect's: nothing of it runs, whatever a command starts."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

NAMES = (
    "timeit select random json typing os re socket ssl asyncio logging sqlite3 multiprocessing encodings site "
    "sitecustomize usercustomize numpy yaml pydantic uvicorn prefect audit flows models ace reports taxonomy"
).split()
LOGGING = """
version: 1
formatters:
  harmless: {"()": "os.mkdir", "path": "RAN/logging"}
handlers: {only: {class: logging.StreamHandler, formatter: harmless}}
root: {handlers: [only]}
"""


@pytest.fixture
def evil(tmp_path: Path) -> Path:
    folder, ran = tmp_path / "evil", tmp_path / "ran"
    folder.mkdir()
    ran.mkdir()
    for name in NAMES:
        (folder / f"{name}.py").write_text(f"open({str(ran / name)!r}, 'w')\n")
    (folder / "logging.yml").write_text(LOGGING.replace("RAN", str(ran)))
    (folder / "prefect.toml").write_text(f'[logging]\nconfig_path = "{folder}/logging.yml"\n')
    return folder


def run(evil: Path, *command: str, **variables: str) -> list[str]:
    """Run a command in the folder; return which of its modules ran."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PREFECT"))}
    environment = {**kept, **variables, "PREFECT_HOME": str(evil.parent / "prefect")}
    subprocess.run(command, cwd=evil, env=environment, capture_output=True, check=False, timeout=240)
    ran = sorted(path.name for path in (evil.parent / "ran").iterdir())
    return ran


def start(code: str) -> tuple[str, ...]:
    """Run code as the console script does: with the folder of the script as the first place of modules."""
    return (sys.executable, "-P", "-c", code)


CHILDREN = """
import subprocess, sys
subprocess.run([sys.executable, "-m", "timeit", "-n1", "pass"])
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
    print(pool.submit(abs, -1).result())
"""


def test_the_trap_works(evil: Path) -> None:
    assert "timeit" in run(evil, *start(CHILDREN))


def test_children_of_a_command_run_nothing_of_the_folder(evil: Path) -> None:
    assert run(evil, *start(f"import agenthard.flows.prefect_setup\n{CHILDREN}")) == []


@pytest.mark.long
def test_prefect_takes_no_logging_configuration_from_the_folder(evil: Path) -> None:
    code = "from prefect.logging.configuration import setup_logging; setup_logging()"
    assert run(evil, *start(f"import agenthard.flows.prefect_setup\n{code}")) == []
    assert run(evil, *start(code)) == ["logging"]


@pytest.mark.long
def test_commands_run_nothing_of_the_folder(evil: Path) -> None:
    agenthard = str(Path(sys.executable).with_name("agenthard"))
    generate = (agenthard, "ace", "generate", "--out", "suite", "-H", "3", "-B", "2", "--domain", "course")
    assert run(evil, *generate, "--workers", "2") == []
    assert (evil / "suite").is_dir()
    assert run(evil, agenthard, "audit", "ace", "suite", "--out", "run", "--workers", "2") == []
    assert (evil / "run" / "manifest.json").is_file()
