"""What the measurements of evaluations share: suites, a model that a local server plays, and the command at work."""

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.loopback.app import KEY  # noqa: E402
from tests.loopback.fixtures import LoopbackProcess  # noqa: E402

ENVIRONMENT = {**os.environ, **dict.fromkeys(("OPENAI_API_KEY", "GEMINI_API_KEY", "COMPATIBLE_API_KEY"), KEY)}


def suite(folder: Path, *options: str) -> Path:
    """Generate a suite."""
    command = [sys.executable, "-m", "agenthard", "ace", "generate", "--out", str(folder), *options]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return folder


def small_suite(folder: Path, hidden: int = 1, per_cell: int = 5) -> Path:
    """Generate ten instances, or two for each that a cell has."""
    cells = ("--domain", "course", "--domain", "meal", "-H", str(hidden), "-B", "0")
    return suite(folder, *cells, "--per-cell", str(per_cell), "--rows", "3", "--cols", "3", "-K", "6")


def model_file(folder: Path, protocol: str, server: LoopbackProcess, **settings: Any) -> Path:
    """Write the file of a model that the server plays."""
    name = f"google/loop@{server.url}" if protocol == "gemini" else f"compatible/loop@{server.openai_url}"
    price = {"prompt": 1.0, "completion": 4.0, "date": "2026-11"}
    content = {"name": name, "label": "loop", "price": price, "sampling": {"max_output_tokens": 500}, **settings}
    if protocol == "responses":
        content["api"] = "responses"
    path = folder / "model.yaml"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def started(tasks: Path, out: Path, *options: str) -> "subprocess.Popen[bytes]":
    """Start the command in a process group of its own."""
    command = [sys.executable, "-m", "agenthard", "evaluate", "ace", str(tasks), "--out", str(out), *options]
    log = (out.parent / f"{out.name}.log").open("ab")
    return subprocess.Popen(command, stdout=log, stderr=log, env=ENVIRONMENT, start_new_session=True)


def rows(file: Path, query: str) -> list[tuple[Any, ...]]:
    """Read a SQLite file that may be in use, or not there yet."""
    if not file.exists():
        return []
    connection = sqlite3.connect(file, timeout=30)
    try:
        return connection.execute(query).fetchall()
    except sqlite3.OperationalError:
        return []
    finally:
        connection.close()


def settled(out: Path) -> int:
    """How many episodes are in a run folder, whatever attempt they are at."""
    query = "SELECT count(*) FROM (SELECT 1 FROM attempts GROUP BY agent, task_id, failure_rate, trial)"
    found = rows(out / "work" / "episodes.sqlite", query)
    return int(found[0][0]) if found else 0


def measure(chosen: Sequence[str], parts: Mapping[str, Callable[[Path], bool]]) -> int:
    """Measure the chosen parts, or all, each in a folder of its own; returns 1 when one fails."""
    failed = []
    with tempfile.TemporaryDirectory() as name:
        ENVIRONMENT["PREFECT_HOME"] = str(Path(name) / "prefect")
        for part in chosen or parts:
            (Path(name) / part).mkdir()
            if not parts[part](Path(name) / part):
                failed.append(part)
    print(f"\nfailed: {', '.join(failed)}" if failed else "\nall within their limits")
    return int(bool(failed))
