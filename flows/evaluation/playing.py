"""Agents without a model, in a process of their own."""

import multiprocessing.process
import os
import signal
import threading
import time

from agenthard.flows.evaluation.episodes import Attempt, episodes_of
from agenthard.flows.evaluation.settings import EvaluationSettings
from agenthard.flows.evaluation.store import EpisodeStore
from agenthard.flows.evaluation.workers import Worker


def play_all(settings: EvaluationSettings) -> int:
    """Play whatever nobody else has played or is playing, task by task.

    Returns:
        How many episodes were played here.
    """
    folder = settings.folder
    store, worker = EpisodeStore(folder.store), Worker(folder.workers)
    played = 0
    try:
        for task in settings.open().tasks():
            wanted = episodes_of(task.id, settings.agents, settings.failure_rates, settings.trials)
            for episode, number in store.claim(wanted, worker.name, settings.attempts):
                start = time.perf_counter()
                run = task.play(episode.agent, episode.condition, episode.failure_rate, episode.trial)
                seconds = time.perf_counter() - start
                store.add(episode, Attempt(number=number, trajectory=run, seconds=seconds))
                played += 1
    finally:
        store.release(worker.name)
        worker.close()
        store.close()
    return played


def follow_parent() -> None:
    """Leave Ctrl-C to the parent process, and end with it, even if it is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None
    threading.Thread(target=_end_after, args=(parent,), daemon=True).start()


def _end_after(parent: multiprocessing.process.BaseProcess) -> None:
    parent.join()
    os._exit(1)
