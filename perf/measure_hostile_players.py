"""Play all six scenarios of our own suite by honest, lazy, cheating and hostile players, repeatedly in random order.

Usage: python perf/measure_hostile_players.py [--runs 10] [--who root|user|bare]
`root` plays as who runs it, `user` as an ordinary user, `bare` as an ordinary user on a machine without user
namespaces, with weak isolation. Who is not root plays as himself. Writes perf/hostile_players.json, of which
docs/agency-suite.md tells. Exit code 1 when a score is not the stated one, or anything is left or changed.
"""

import argparse
import asyncio
import json
import os
import random
import shlex
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from agenthard.agency.packs import packs
from agenthard.agency.suite.catalogue import HERE, NAMES, NOTHING, REFERENCE, expected
from agenthard.agency.suite_files import write_suite
from agenthard.flows.evaluation.benchmark import open_benchmark
from agenthard.play.chain import PlayRoom
from agenthard.play.journal import MemoryJournal
from tests.agency.other_user import run_as_user
from tests.agency.test_hostile import listed, running

TARGET = Path(__file__).parent / "hostile_players.json"
MARK = f"agenthard-measured-player-{os.getpid()}"
PORT = 28000 + os.getpid() % 1000
HOSTILE_SECONDS = "3"
CHEATS = ("cheat_echo", "cheat_empty", "cheat_grader_inputs", "cheat_self_report")
SOLUTIONS = (REFERENCE, "partial", NOTHING, *CHEATS)
NEAR = 1e-6
RUN_SECONDS = 3 * 3600


def attacks(name: str, suite: Path, room: Path) -> dict[str, list[str]]:
    """Return the commands of the hostile players of a scenario, by what they try."""
    other = NAMES[(NAMES.index(name) + 1) % len(NAMES)]
    own = [HERE / name, suite / name, suite, HERE, room]
    outside = suite.parent / "outside"
    read = "for each in {}; do ls -R $each; cat $each/*.py $each/*.json $each/gold/*; done"
    spoil = " ".join(shlex.quote(str(path)) for path in (*own, outside))
    return {
        "forks without end": [f"f() {{ (: {MARK}; f) & (: {MARK}; f) & sleep 30; }}; f; wait"],
        "leaves processes": [f"setsid nohup sh -c 'while :; do sleep 1; : {MARK}; done' >/dev/null 2>&1 &"],
        "fills the disk": [
            "i=0; while :; do head -c 60000000 /dev/zero >big$i || exit 7; i=$((i+1)); done",
            "rm big*",
        ],
        "seeks the network": [
            'python3 -c \'import socket; socket.create_connection(("1.1.1.1", 53), 2); print("REACHED")\'',
            f"python3 -m http.server {PORT} & sleep 1; echo served",
        ],
        "seeks grader and gold": [read.format(" ".join(shlex.quote(str(each)) for each in own))],
        "copies a solution": [f"cp -r {shlex.quote(str(place))}/solutions/reference/*/. ." for place in own[:2]],
        "seeks another scenario": [read.format(" ".join(shlex.quote(str(each / other)) for each in (HERE, suite)))],
        "spoils and kills": [
            f"for each in {spoil}; do echo spoilt > $each/expected.csv; rm -rf $each; done; kill -9 -1; true"
        ],
    }


def players(name: str, suite: Path, place: Path) -> dict[str, str]:
    """Return the players of a scenario and their agents."""
    first, *others = [task.id for task in packs()[name].scenario.tasks]
    found = {each: each for each in SOLUTIONS}
    for tried, commands in attacks(name, suite, place).items():
        calls = [{"name": "run_shell_command", "arguments": {"command": each}} for each in commands]
        script = place / f"{name}-{tried.replace(' ', '-')}.json"
        script.write_text(json.dumps({"tasks": {first: [calls], **dict.fromkeys(others, [[]])}}))
        found[tried] = f"script:{script}"
    return found | {"crashes": "command:/bin/sh -c 'kill -SEGV $$'", "hangs": "command:sleep 100"}


class Measured:
    """One place with a suite, in which players play."""

    def __init__(self, place: Path, weak: bool) -> None:
        """Write the suite, and open it for both kinds of players."""
        self.place, self.suite = place, place / "suite"
        write_suite([packs()[name] for name in NAMES], self.suite)
        (place / "outside").mkdir()
        (place / "outside" / "file.txt").write_text("as it was")
        for each, mode in (("outside", 0o777), ("outside/file.txt", 0o666)):
            (place / each).chmod(mode)
        options = {"rounds": "0", "weak_isolation": str(weak).lower()}
        self._solving = self._tasks(options)
        self._hostile = self._tasks({**options, "command_seconds": HOSTILE_SECONDS})
        self.cases = [
            (name, player, agent) for name in NAMES for player, agent in players(name, self.suite, place).items()
        ]
        self._before = self._outside()
        self.isolation = str(open_benchmark("agency", str(self.suite), options, 0).conditions()["isolation"])

    def _tasks(self, options: Mapping[str, str]) -> dict[str, Any]:
        return {task.id: task for task in open_benchmark("agency", str(self.suite), dict(options), 0).tasks()}

    def _outside(self) -> set[tuple[str, int]]:
        found = listed(HERE, self.suite, self.place / "outside")
        return {each for each in found if "__pycache__" not in each[0]}

    def play(self, name: str, player: str, agent: str) -> dict[str, Any]:
        """Play a scenario; return scores, what the player saw, and what is left or changed."""
        task = (self._solving if player in SOLUTIONS else self._hostile)[name]
        room = Path(tempfile.mkdtemp(prefix="play-", dir=self.place))
        try:
            chain = task.play_chain(agent, None, "", 0.0, 0, PlayRoom(MemoryJournal(), room))
            parts = [part.record for part in asyncio.run(chain).parts]
        finally:
            shutil.rmtree(room)
        events = [each for part in parts for each in part["rollout"]["events"] if each["kind"] == "called"]
        said = " ".join(each["result"]["output"] for each in events)
        return {
            "scores": {part["grade"]["task_id"]: part["grade"]["score"] for part in parts},
            "read": "CHECKS" in said or "SCENARIO" in said or '"criteria"' in said,
            "reached": "REACHED" in said,
            "left": self._left(),
        }

    def _left(self) -> list[str]:
        found = [f"running: {line[:80]}" for line in running(MARK)]
        if self._outside() != self._before:
            found.append("files outside")
        if (self.place / "outside" / "file.txt").read_text() != "as it was":
            found.append("a content outside")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", PORT)) == 0:
                found.append("an open port")
        return found


def wrong_scores(name: str, player: str, scores: Mapping[str, float], weak: bool) -> list[str]:
    """Say which scores of a play are not the stated ones; without isolation of files, a copied solution scores."""
    stated = expected()
    if player in (REFERENCE, NOTHING):
        return [
            f"{task}: {score:g}"
            for task, score in scores.items()
            if player == REFERENCE and abs(score - stated[task, player]) > NEAR or player == NOTHING and score > 2
        ]
    if player == "partial" or (weak and player == "copies a solution"):
        return []
    return [f"{task}: {score:g}" for task, score in scores.items() if score > 2]


def measured(place: Path, runs: int, weak: bool, target: Path) -> None:
    """Play everything in some runs, each in another random order, and write what is known after each."""
    here = Measured(place, weak)
    first: dict[tuple[str, str], dict[str, float]] = {}
    tally: dict[str, Any] = {"isolation": here.isolation, "runs": 0, "plays": 0}
    tally |= {"wrong": [], "different": [], "left": [], "read": [], "reached": []}
    began = time.monotonic()
    for turn in range(runs):
        cases = list(here.cases)
        random.Random(turn).shuffle(cases)
        for name, player, agent in cases:
            found, case = here.play(name, player, agent), f"{name}, {player}"
            tally["plays"] += 1
            tally["wrong"] += [f"{case}: {each}" for each in wrong_scores(name, player, found["scores"], weak)]
            tally["left"] += [f"{case}: {each}" for each in found["left"]]
            for what in ("read", "reached"):
                if found[what] and case not in tally[what]:
                    tally[what].append(case)
            if first.setdefault((name, player), found["scores"]) != found["scores"]:
                tally["different"].append(f"{case}: run {turn + 1}")
        tally |= {"runs": turn + 1, "players": len(here.cases) // len(NAMES)}
        target.write_text(json.dumps(tally), encoding="utf-8")
        bad = {what: len(tally[what]) for what in ("wrong", "different", "left", "read", "reached")}
        print(f"run {turn + 1}: {len(cases)} plays, {time.monotonic() - began:.0f} s, {bad}", flush=True)


def main() -> None:
    """Measure here, or in a process of another user, and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--who", choices=("root", "user", "bare"), default="root")
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inside:
        measured(given.inside / "place", given.runs, given.who == "bare", given.inside / "found.json")
        return
    home = Path(tempfile.mkdtemp(prefix=f"agenthard-players-{given.who}-", dir="/var/tmp"))
    home.chmod(0o755)
    try:
        (home / "place").mkdir()
        if given.who == "root":
            measured(home / "place", given.runs, False, home / "found.json")
        else:
            command = ["python", __file__, "--runs", str(given.runs), "--who", given.who, "--inside", str(home)]
            done = run_as_user(command, home, namespaces=given.who == "user", seconds=RUN_SECONDS)
            print(done.stdout[-2000:], done.stderr[-2000:], sep="\n")
        found = json.loads((home / "found.json").read_text(encoding="utf-8"))
    finally:
        shutil.rmtree(home)
    known = json.loads(TARGET.read_text(encoding="utf-8")) if TARGET.exists() else {}
    TARGET.write_text(json.dumps({**known, given.who: found}, indent=1) + "\n", encoding="utf-8")
    sys.exit(int(bool(found["wrong"] or found["different"] or found["left"])))


if __name__ == "__main__":
    main()
