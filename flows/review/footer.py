"""The figures in the footer of every page."""

from agenthard.flows.review.open_run import OpenRun
from agenthard.reports.kit.text import plural


def footer(run: OpenRun, reviewer: str) -> list[str]:
    """Return live figures of a review, in words."""
    with run.lock:
        tasks = [item for (what, _), item in run.state.items() if what == "task"]
        disputes = sum(item.split for _, item in run.state.items())
    reviewed = sum(item.reviewed for item in tasks)
    own = sum(reviewer in item.verdicts for item in tasks)
    return [f"reviewed {reviewed:,} of {len(run):,}", f"yours {own:,}", plural(disputes, "open dispute")]
