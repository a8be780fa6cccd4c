"""Show the progress of an evaluation while it runs: settled episodes, their rate, costs, and where long plays are."""

import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from agenthard.flows.evaluation.settings import EvaluationSettings
from agenthard.flows.evaluation.store import EpisodeStore
from agenthard.flows.progress import current
from agenthard.models.errors import ModelError
from agenthard.models.ledger import Ledger, Total
from agenthard.models.prices import load_prices

_SECONDS = 1.0
_SHOWN = 2
"""Running plays that are named; the others are counted."""
_WINDOW = 60
"""Updates that the rate is averaged over."""


@contextmanager
def show_episodes(settings: EvaluationSettings, tasks: int) -> Iterator[None]:
    """Show the progress of all processes in the run folder while the block runs.

    Args:
        settings: The evaluation.
        tasks: Number of tasks.
    """
    over = threading.Event()
    store = EpisodeStore(settings.folder.store)
    ledger = Ledger(settings.folder.ledger) if settings.models or settings.helpers() else None
    done = _settled(store, settings)
    current().start("episodes", total=tasks * settings.planned_per_task, done=done)

    def watch() -> None:
        seen = deque([(time.monotonic(), done)], maxlen=_WINDOW)
        while not over.wait(_SECONDS):
            try:
                settled, totals = _settled(store, settings), ledger.totals(by=()) if ledger else []
                places = store.places()
            except ModelError:
                continue  # The processes that play meet the same error and report it.
            current().advance(settled - seen[-1][1])
            seen.append((time.monotonic(), settled))
            (then, before), (now, after) = seen[0], seen[-1]
            current().note(f"{(after - before) / (now - then):.1f}/s{_spent(totals)}{_places(places)}")

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
        store.close()
        if ledger is not None:
            ledger.close()


def _settled(store: EpisodeStore, settings: EvaluationSettings) -> int:
    return store.settled(settings.selection(), settings.attempts)


def _spent(totals: list[Total]) -> str:
    """Describe the costs so far; empty before the first request."""
    if not totals:
        return ""
    if totals[0].cost is None:
        return f", {totals[0].prompt_tokens + totals[0].completion_tokens:,} tokens"
    return f", {totals[0].cost:.2f} {load_prices().currency}"


def _places(places: list[tuple[str, str]]) -> str:
    """Say where plays are that take several tasks.

    >>> _places([("a", "game-task1, attempt 1 of 2"), ("b", "x"), ("c", "y")])
    '; a: game-task1, attempt 1 of 2; b: x; 1 more'
    """
    named = [f"{agent}: {place}" for agent, place in places[:_SHOWN]]
    more = [f"{len(places) - _SHOWN} more"] if len(places) > _SHOWN else []
    return "".join(f"; {each}" for each in (*named, *more))
