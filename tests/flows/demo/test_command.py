"""The demo command as a newcomer runs it, without a network."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from agenthard.flows.demo.benchmark import read_answer_key


@pytest.mark.long
def test_the_whole_demo_finds_every_planted_flaw(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "agenthard", "demo", "--offline", "--full", "--json", "--out", "out"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    result = json.loads(done.stdout)
    assert (result["demo"]["seeded_flaws"], result["demo"]["missed"]) == (18, [])
    assert (result["ace"]["seeded_flaws"], result["ace"]["missed"]) == (14, [])
    assert (result["rooms"]["seeded_flaws"], result["rooms"]["missed"]) == (7, [])
    assert result["bfcl_left_out"] == "--offline was given"
    assert set(result["outcomes"]) == {"demo", "rooms", "ace"}
    evaluation = result["ace_evaluation"]
    assert evaluation["settled"] == evaluation["planned"] > 0
    steps = [done.stderr.index(f"[{step} of 3]") for step in range(1, 4)]
    assert steps == sorted(steps)
    for report in ("demo/report.html", "demo/report/report.html", "ace/report/report.html"):
        assert (tmp_path / "out" / report).is_file()


@pytest.mark.long
def test_the_demo_says_what_was_planted_and_found_in_40_lines_of_80_columns(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "agenthard", "demo", "--offline", "--out", "out"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    progress = re.compile(r"[a-z .]+: (?:[\d,]+ of [\d,]+, )?\d+ s$")  # a line every ten seconds on a slow machine
    lines = [line for line in (done.stdout + done.stderr).splitlines() if not progress.match(line)]
    assert len(lines) <= 38 and max(map(len, lines)) <= 80  # BFCL adds two
    for entry in read_answer_key(tmp_path / "out" / "demo-benchmark"):
        assert any(line.startswith(entry.change) and entry.check in line for line in lines), entry
    assert "18 flaws planted, 18 found" in done.stdout
    assert "7 flaws planted, 7 found; of 14 rooms" in done.stdout
    assert "agenthard findings out/demo" in done.stdout
