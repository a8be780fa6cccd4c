"""Plays a suite in a process that a test may kill: python -m tests.agency.drive SUITE OUT MODEL [KIND NUMBER].

With KIND and NUMBER it kills itself at one moment: within the given command, snapshot, request of any model or of a
judge, plan in a browser, grade or journal entry. The judges are those of `judges.yaml` next to the file of the model;
the variable DRIVE_OPTIONS may give other conditions as a JSON object, which are played by rules then.
"""

import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agenthard.agency import chain, packs
from agenthard.agency.judges import model_judge, probe
from agenthard.agency.workspace import SnapshotStore, runner
from agenthard.flows.evaluation.settings import EvaluationSettings
from agenthard.flows.evaluation.store import EpisodeJournal
from agenthard.models.client import ModelClient
from agenthard.models.model_file import load_model
from tests.agency import paged
from tests.flows.evaluation.conftest import evaluated

KINDS: dict[str, tuple[Any, str]] = {
    "command": (runner, "run_job"),
    "snapshot": (SnapshotStore, "_write"),
    "request": (ModelClient, "_send"),
    "judge": (model_judge, "parse"),
    "browser": (probe, "browse"),
    "grade": (chain, "open_eval_space"),
    "entry": (EpisodeJournal, "append"),
}
"""What is called at each kind of moment."""
DELAYS = {"command": 0.1, "request": 0.005, "judge": 0.01, "browser": 1.0, "grade": 0.02}
"""Seconds from the call to the kill; the others are killed at the call itself."""


def kill_at(kind: str, number: int) -> None:
    """Let this process kill itself at the given call of a kind, counted from 0."""
    owner, name = KINDS[kind]
    real: Callable[..., Any] = getattr(owner, name)
    calls = iter(range(10**9))

    def counted(*arguments: Any, **named: Any) -> Any:
        if next(calls) == number:
            if kind in DELAYS:
                threading.Timer(DELAYS[kind], die).start()
            else:
                die()
        return real(*arguments, **named)

    setattr(owner, name, counted)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def settings_of(suite: str, out: str, model: str) -> EvaluationSettings:
    judges = Path(model).parent / "judges.yaml"
    options = {"user": "model", "user_model": model, "rounds": "2", "judge": f"panel:{judges}"}
    options = json.loads(os.environ.get("DRIVE_OPTIONS", "null")) or options
    file = load_model(model)
    return EvaluationSettings(
        benchmark="agency", path=suite, models=(file,), agents=("partial",), out=out, options=options
    )


if __name__ == "__main__":
    packs._targets = lambda: iter([paged.__name__])
    if len(sys.argv) > 4:
        kill_at(sys.argv[4], int(sys.argv[5]))
    print("begins", flush=True)
    evaluated(settings_of(*sys.argv[1:4]))
