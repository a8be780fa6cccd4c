"""The demo benchmark: a library desk and a parcel service, with flaws in known places.

The files in ``data/`` are the frozen output of a simulation of eight models of different strength. ``data/flawed`` has
60 tasks, 960 runs, and an answer key with every seeded flaw. ``data/sound`` has the same tasks without flaws, and 101
further tasks at the library desk; ``agenthard faults plant`` plants flaws into them.
"""

import gzip
import json
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from agenthard.audit.sources.formats.native_files import ENVIRONMENTS, RUNS, TASKS
from agenthard.flows.audited_run import read_findings, read_quarantined
from agenthard.taxonomy.record import Record

ANSWER_KEY = "answer_key.jsonl"
LABELS = "labels.jsonl"
SCORES = "scores.csv"
QUARANTINE = "quarantine"
"""Used in place of a check id: the task is expected to be quarantined as unreadable."""


class KeyEntry(Record):
    """One entry of the answer key."""

    check: str
    """Id of the check that is expected to find the flaw."""
    category: str
    """Taxonomy category."""
    cause: str
    """Location of the flaw: a task by its id, or a tool, a policy or a user simulator in words."""
    task_ids: tuple[str, ...]
    """Tasks that it affects."""
    change: str
    """Description of the change."""


class ScoredEntry(Record):
    """One entry of the answer key, compared with an audit."""

    entry: KeyEntry
    """The seeded flaw."""
    missed: tuple[str, ...]
    """Tasks in which the expected check did not find it."""


@dataclass(frozen=True)
class DemoBenchmark:
    """The demo benchmark on disk."""

    root: Path
    """Folder of the benchmark, in the native format."""
    answer_key: Path
    """File of the seeded flaws; no audit reads it."""
    seeded: tuple[KeyEntry, ...]
    """The seeded flaws."""
    tasks: int
    """Number of tasks."""
    runs: int
    """Number of runs."""


def write_demo(out: Path) -> DemoBenchmark:
    """Write the demo benchmark with its flaws, the answer key, and labels and scores derived from them.

    Args:
        out: Folder to write; it is created, and files of an earlier demo are replaced.
    """
    _copy("flawed", out)
    (out / ANSWER_KEY).write_bytes((_data("flawed") / ANSWER_KEY).read_bytes())
    key = read_answer_key(out)
    tasks, runs = _read_lines(out / TASKS), _read_lines(out / RUNS)
    flawed = {task_id for entry in key for task_id in entry.task_ids}
    labels = (json.dumps({"task_id": task["id"], "flawed": task["id"] in flawed}) for task in tasks)
    _write_lines(out / LABELS, labels)
    _write_lines(out / SCORES, ["model,task_id,trial,score", *map(_score_row, runs)])
    return DemoBenchmark(out, out / ANSWER_KEY, tuple(key), len(tasks), len(runs))


def write_sound_demo(out: Path) -> Path:
    """Write the demo's tasks without flaws, and the further tasks at the library desk, all with runs.

    Args:
        out: Folder to write; it is created.

    Returns:
        The folder.
    """
    _copy("sound", out)
    return out


def read_answer_key(benchmark: Path) -> list[KeyEntry]:
    """Read the answer key in the folder of a demo benchmark."""
    lines = (benchmark / ANSWER_KEY).read_text(encoding="utf-8").splitlines()
    return [KeyEntry.model_validate_json(line) for line in lines]


def score_audit(benchmark: Path, run: Path) -> tuple[ScoredEntry, ...]:
    """Compare the findings of an audit with the answer key.

    Args:
        benchmark: Folder of a demo benchmark.
        run: Run folder of its audit.
    """
    found = {(f.check, task_id) for f in read_findings(run) for task_id in (*f.task_ids, *f.also_in)}
    found |= {(QUARANTINE, item.task_id) for item in read_quarantined(run) if item.task_id is not None}
    return tuple(
        ScoredEntry(entry=entry, missed=tuple(task for task in entry.task_ids if (entry.check, task) not in found))
        for entry in read_answer_key(benchmark)
    )


def _data(name: str) -> Traversable:
    return resources.files("agenthard.flows.demo") / "data" / name


def _copy(name: str, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    for file in (ENVIRONMENTS, TASKS):
        (out / file).write_bytes((_data(name) / file).read_bytes())
    (out / RUNS).write_bytes(gzip.decompress((_data(name) / f"{RUNS}.gz").read_bytes()))


def _read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")


def _score_row(run: dict[str, Any]) -> str:
    passed = run.get("passed")
    return f"{run['model']},{run['task_id']},{run.get('trial', 0)},{'' if passed is None else int(passed)}"
