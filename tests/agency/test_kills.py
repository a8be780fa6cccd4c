"""A scenario with a model, a simulated user, judges that read and see, and a scripted agent: killed and resumed."""

import gzip
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from agenthard.agency.packs import pack_of
from agenthard.agency.suite_files import write_suite
from tests.agency import paged
from tests.agency.test_judges_of_evaluations import panel
from tests.flows.evaluation.conftest import model_path
from tests.loopback.fixtures import LoopbackProcess

ROOT = Path(__file__).parents[2]
Start = Callable[..., LoopbackProcess]
ROUND = [("command", 0), ("request", 0), ("judge", 0), ("browser", 0), ("snapshot", 0), ("entry", 1), ("judge", 2)]
TARGETED = ROUND * 3
"""Moments of the rest of the play, one after the other: each play ends at one of them, and the next one continues."""
RANDOM = 4


def played(suite: Path, out: Path, model: Path, *kill: object) -> int:
    command = [sys.executable, "-m", "tests.agency.drive", str(suite), str(out), str(model), *map(str, kill)]
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=False).returncode


def killed_after(suite: Path, out: Path, model: Path, seconds: float) -> int:
    command = [sys.executable, "-m", "tests.agency.drive", str(suite), str(out), str(model)]
    running = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE)
    assert running.stdout is not None and running.stdout.readline() == b"begins\n"
    time.sleep(seconds)
    os.kill(running.pid, signal.SIGKILL)
    return running.wait()


def rollouts(out: Path) -> list[dict[str, Any]]:
    with gzip.open(out / "rollouts.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def told_again(events: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return events without times, and without the calls that a kill cut off: each was made again, as a new call."""
    found: list[dict[str, Any]] = []
    for event in events:
        if event["kind"] == "called" and event["result"]["trouble"] == "interrupted":
            found.pop()
            continue
        plain = json.loads(json.dumps(event))
        plain.pop("seconds", None)
        for call in [plain.get("call", {}), *plain.get("calls", ())]:
            call.pop("id", None)
        plain.get("result", {}).pop("seconds", None)
        found.append(plain)
    return found


def outline(out: Path) -> list[tuple[Any, ...]]:
    return [
        (
            *(row[name] for name in ("agent", "task_id", "attempt", "before", "after", "grade")),
            row["feedback"] and {**row["feedback"], "usage": None, "cost": None},
            told_again(row["rollout"]["events"]),
        )
        for row in rollouts(out)
    ]


def jobs_left() -> list[str]:
    found = []
    for place in Path("/proc").iterdir():
        try:
            line = (place / "cmdline").read_bytes() if place.name.isdigit() else b""
        except OSError:
            continue
        if b"sleep\x000.2" in line or b"tests.agency.drive" in line:
            found.append(line.decode())
    return found


@pytest.mark.long
def test_a_killed_play_continues_and_nothing_is_lost_repeated_or_paid_twice(
    keys: str, loopback_process: Start, tmp_path: Path
) -> None:
    server = loopback_process(brain="tests.loopback.agency_brain:judges", latency=0.02)
    model, suite = model_path(tmp_path, server.url), tmp_path / "suite"
    panel(tmp_path, server.openai_url, vision=["one.yaml"])
    write_suite([pack_of(paged)], suite)
    assert played(suite, tmp_path / "whole", model) == 0
    expected = outline(tmp_path / "whole")
    assert [row[:3] for row in expected if row[0] == "loop"] == [
        ("loop", "Code/tiny/one", 0),
        ("loop", "Code/tiny/one", 1),
        ("loop", "Code/tiny/two", 0),
    ]
    whole = server.counts["distinct"]
    server.reset()

    out, chance, kills = tmp_path / "killed", random.Random(0), 0
    for kind, number in TARGETED:
        kills += played(suite, out, model, kind, number) == -signal.SIGKILL
    for _ in range(RANDOM):
        kills += killed_after(suite, out, model, chance.uniform(0, 2)) == -signal.SIGKILL
    assert played(suite, out, model) == 0
    assert kills >= 20, kills
    assert outline(out) == expected
    billed, distinct = (server.counts[name] for name in ("billed", "distinct"))
    paid, once = (sum(each["requests"] for each in counts.values()) for counts in (billed, distinct))
    assert paid - once <= kills  # a reply that was in flight at a kill is lost, as the client says
    judges = [name for name in whole if name.startswith("judge-")]
    assert len(judges) == 2 and all(distinct[name] == whole[name] for name in judges)
    print(f"{kills} kills: {once} replies, {paid - once} of them paid twice")
    assert jobs_left() == []
