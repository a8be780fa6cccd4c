"""Equal episodes have equal bytes, in another process and with another order of sets."""

import os
import subprocess
import sys

_PLAY = """
import hashlib
from agenthard.ace.agents import LEADERBOARD, find
from agenthard.ace.environment import Environment
from tests.ace.made import one
puzzle = one(hidden=4, budget=6).puzzle
digest = hashlib.sha256()
for mode in ("paper", "reference"):
    for name in (*LEADERBOARD, "solver+forgetting:0.3+arithmetic:0.3+early-stop:0.01+hallucination:0.1+no-retry"):
        for trial in range(2):
            environment = Environment(puzzle, mode=mode, failure_rate=0.1, seed=trial)
            digest.update(find(name).play(environment, trial).model_dump_json().encode())
print(digest.hexdigest())
"""


def _played(hash_seed: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", _PLAY],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_the_order_of_sets_has_no_influence() -> None:
    first = _played("0")
    assert len(first) == 64 and first == _played("4711")
