"""A small suite, models that a server on loopback plays, and evaluations with and without the command line."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agenthard.ace.generator import Parameters
from agenthard.flows.ace_generation import SuiteFormat, write_suite
from agenthard.flows.evaluation.flow import play_models, prepare
from agenthard.flows.evaluation.play import play_all
from agenthard.flows.evaluation.publish import EvaluationOutcome, publish_evaluation
from agenthard.flows.evaluation.settings import EvaluationSettings
from agenthard.flows.evaluation.store import EpisodeStore

SMALL = Parameters(
    rows=3, cols=3, hidden_slots=(1,), decoy_budgets=(0,), candidates=6, domains=("course", "meal"), per_cell=2
)
"""Four instances of one hidden slot; the server's player takes four requests for each."""


@pytest.fixture(scope="session", autouse=True)
def prefect_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep Prefect's files out of the user's home, and pay for a new home once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PREFECT_HOME", str(tmp_path_factory.mktemp("prefect")))
        yield


@pytest.fixture(scope="session")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four instances in two domains."""
    folder = tmp_path_factory.mktemp("suite")
    write_suite(SMALL, folder, SuiteFormat.JSONL)
    return folder


def model_path(folder: Path, url: str, **settings: Any) -> Path:
    """Write the file of a model that a server on loopback plays."""
    content: dict[str, Any] = {
        "name": f"compatible/loop@{url}/v1",
        "label": "loop",
        "price": {"prompt": 1.0, "completion": 4.0, "date": "2026-11"},
        "sampling": {"max_output_tokens": 500},
        "retries": {"attempts": 2, "first_wait": 0.0},
        "timeout": 20,
    }
    path = folder / "model.yaml"
    path.write_text(json.dumps(content | settings), encoding="utf-8")
    return path


def evaluated(settings: EvaluationSettings) -> EvaluationOutcome:
    """Evaluate in this process: what the flow does, without Prefect."""
    prepare.function(settings)
    if settings.agents:
        play_all(settings)
    stopped = asyncio.run(play_models(settings, threading.Event())) if settings.models else {}
    return publish_evaluation(settings, stopped)


def command(suite: Path, out: Path, *options: str) -> "subprocess.Popen[str]":
    """Start `agenthard evaluate` in a process group of its own.

    It heeds SIGINT also where the tests run in the background of a shell, which ignores it for all that it starts.
    """
    arguments = [sys.executable, "-m", "agenthard", "evaluate", "-q", "ace", str(suite), "--out", str(out), *options]
    return subprocess.Popen(
        arguments,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def attempts(out: Path) -> list[dict[str, Any]]:
    """All attempts in a run folder."""
    store = EpisodeStore(out / "work" / "episodes.sqlite")
    try:
        return list(store.rows())
    finally:
        store.close()


def key(row: dict[str, Any]) -> tuple[Any, ...]:
    """What names an episode."""
    return row["agent"], row["task_id"], row["failure_rate"], row["trial"]
