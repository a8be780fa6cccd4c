"""The figures in the footer of every page, and the page of the progress."""

import time
from threading import Lock
from weakref import WeakKeyDictionary

from agenthard.audit.statistics.result import Estimate
from agenthard.flows.review.figures import ReviewFigures, in_words, review_figures
from agenthard.flows.review.web.open_run import OpenRun
from agenthard.reports.kit.text import plural

FRESH_SECONDS = 3.0
"""Intervals are computed again at most this often: many people deciding at once do not need each of them."""
_known: "WeakKeyDictionary[OpenRun, tuple[int, float, ReviewFigures]]" = WeakKeyDictionary()
_computing = Lock()


def footer(run: OpenRun, reviewer: str) -> list[str]:
    """Return live figures of a review, in words."""
    with run.lock:
        tasks = [item for (what, _), item in run.state.items() if what == "task"]
        disputes = sum(item.split for _, item in run.state.items())
    own = sum(reviewer in item.verdicts for item in tasks)
    figures = current_figures(run)
    words = [
        f"reviewed {sum(item.reviewed for item in tasks):,} of {len(run):,}",
        f"yours {own:,}",
        plural(disputes, "open dispute"),
    ]
    if isinstance(figures.agreement, Estimate):
        words.append(in_words(figures.agreement, "agreement"))
    for row in figures.precision[:2]:
        result = row.tasks if isinstance(row.tasks, Estimate) else row.findings
        words.append(in_words(result, f"{row.check} right"))
    if figures.budget_left is not None:
        words.append(f"{figures.budget_left:,} labels to the planned {figures.budget:,}")
    return words


def current_figures(run: OpenRun) -> ReviewFigures:
    """Return the figures of a review as they are now, or were some seconds ago."""
    with _computing:
        seq, at, known = _known.get(run, (-1, 0.0, None))
        if known is not None and (seq == run.state.seq or time.monotonic() - at < FRESH_SECONDS):
            return known
        with run.lock:
            seq = run.state.seq
            decisions = [run.decisions[task_id] for task_id in run.decisions]
            made = review_figures(run.state, decisions, list(run.findings.values()))
        _known[run] = (seq, time.monotonic(), made)
        return made
