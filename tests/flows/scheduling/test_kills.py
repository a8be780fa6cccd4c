"""A schedule that is killed at any moment: nothing is lost or doubled, and every byte is that of an undisturbed one."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agenthard.flows.demo import write_demo
from agenthard.flows.scheduling.series import SeriesFolder

pytestmark = pytest.mark.long
KILLS, SEED = 12, 7
LONGEST = 4.0
"""Seconds within which a kill comes; an undisturbed audit takes about half of them, or more where others work too."""


def write_schedule(folder: Path) -> Path:
    write_demo(folder / "bench")
    config = folder / "schedule.yaml"
    config.write_text(
        "name: nightly\nsource: native\norigin: {path: bench}\nfolder: audits\nworkers: 2\n"
        "runs: [bench/runs.jsonl]\npublish: {split: clean, gate: false}\n",
        encoding="utf-8",
    )
    return config


def start(config: Path) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-m", "agenthard", "--quiet", "schedule", "run", config.name],
        cwd=config.parent,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def drop_first_task(folder: Path) -> None:
    tasks = folder / "bench" / "tasks.jsonl"
    tasks.write_text(tasks.read_text(encoding="utf-8").partition("\n")[2], encoding="utf-8")


def outputs(folder: Path) -> dict[str, bytes]:
    """All files that a reader gets, of all audits and of what is published."""
    roots = [folder / "audits" / name for name in ("runs", "published", "benchmarks")]
    files = (path for root in roots for path in root.rglob("*") if path.is_file() and "work" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def facts(folder: Path) -> list[dict[str, object]]:
    history = json.loads((folder / "audits" / "history.json").read_bytes())
    return [{name: value for name, value in each.items() if name != "at"} for each in history]


def test_a_killed_schedule_goes_on_as_if_nothing_had_been(tmp_path: Path) -> None:
    rng, kills, unhurt = random.Random(SEED), 0, tmp_path / "unhurt"
    killed = tmp_path / "killed"
    configs = {folder: write_schedule(folder) for folder in (unhurt, killed)}
    versions = 0
    while kills < KILLS:
        versions += 1
        for _ in range(3):
            process = start(configs[killed])
            time.sleep(rng.uniform(0.3, LONGEST))
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                kills += 1
            process.wait()
        for folder in (killed, unhurt):
            process = start(configs[folder])
            assert process.wait(120) in (0, 1)
            drop_first_task(folder)
    audits = [record for record in SeriesFolder(killed / "audits").history if record.run]
    assert len(audits) == versions and kills >= KILLS
    differences = [record["difference"] for record in facts(killed) if record["difference"]]
    undisturbed = [record["difference"] for record in facts(unhurt) if record["difference"]]
    counts = ("checked",)  # a result that was there before the kill is not made again
    assert [{k: v for k, v in each.items() if k not in counts} for each in differences] == [  # type: ignore[attr-defined]
        {k: v for k, v in each.items() if k not in counts}  # type: ignore[attr-defined]
        for each in undisturbed
    ]
    mine, expected = outputs(killed), outputs(unhurt)
    numbered = {name.split("/")[2][5:] if name.startswith("audits/runs") else name for name in mine}
    assert numbered == {name.split("/")[2][5:] if name.startswith("audits/runs") else name for name in expected}
    assert sorted(mine.values()) == sorted(expected.values())
    assert not list((killed / "audits").rglob("*.partial")) and not list((killed / "audits").rglob(".fetching-*"))
