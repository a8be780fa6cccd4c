"""What models do alike on a task: observations per model, and how a claim says how many agree."""

from collections import defaultdict
from collections.abc import Sequence

from agenthard.audit.detectors.base import Observation, Undecided
from agenthard.audit.statistics.intervals import wilson

MIN_MODELS = 5
"""Fewer models agree by chance too easily."""
EXEMPLARS = 3
"""Runs quoted per task, each of another model."""


def by_task(observations: Sequence[Observation]) -> tuple[dict[str, list[Observation]], list[Undecided]]:
    """Group observations, one per model, by task; tasks with too few models come apart, as not decidable."""
    tasks: dict[str, list[Observation]] = defaultdict(list)
    for item in observations:
        tasks[item.task_id].append(item)
    few = tuple(task for task, items in tasks.items() if len(items) < MIN_MODELS)
    reason = f"fewer than {MIN_MODELS} models with scored runs that can be compared"
    undecided = [Undecided(task_ids=few, reason=reason)] if few else []
    return {task: items for task, items in tasks.items() if len(items) >= MIN_MODELS}, undecided


def how_many(agreeing: int, models: int) -> str:
    """Say how many models agree.

    >>> how_many(4, 7)
    '4 of 7 models (57%, 95 % interval 25% to 84%)'
    """
    low, high = wilson(agreeing, models)
    return f"{agreeing} of {models} models ({agreeing / models:.0%}, 95 % interval {low:.0%} to {high:.0%})"


def measured(agreeing: int, models: int, passing: int) -> dict[str, float]:
    """Return the figures behind such a claim; ``passing`` models mostly pass."""
    low, high = wilson(agreeing, models)
    return {
        "models": models,
        "agreeing": agreeing,
        "share": agreeing / models,
        "low": low,
        "high": high,
        "passing": passing,
    }
