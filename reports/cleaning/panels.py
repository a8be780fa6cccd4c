"""Retention per category, and what the undecided tasks could do to the scores."""

from collections.abc import Collection, Mapping

from agenthard.audit.statistics import ScoreBounds, ScoreMatrix, Undefined, category_coverage, retention, score_bounds
from agenthard.audit.statistics.result import undefined
from agenthard.reports.amounts import plural
from agenthard.reports.cleaning.analysis import Retention, Undecided
from agenthard.reports.cleaning.splits import Split

_NAMED = 5
"""Categories named in a sentence."""


def retention_of(split: Split, categories: Mapping[str, str], safeguard: float) -> Retention:
    """Count what a split keeps of each category.

    Args:
        split: the split.
        categories: category by task id, for all tasks of the initial benchmark.
        safeguard: least share of each category that should stay.

    Returns:
        The table with its sentence.
    """
    rows = retention(categories, split.task_ids, safeguard)
    below = [row.category or "(no category)" for row in rows if row.below_safeguard]
    share = f"{100 * safeguard:g} %"
    if below:
        more = f" and {len(below) - _NAMED} more" if len(below) > _NAMED else ""
        sentence = (
            f"The {split.title} split keeps less than {share} of {len(below)} of {len(rows)} categories: "
            f"{', '.join(below[:_NAMED])}{more}."
        )
    else:
        sentence = f"The {split.title} split keeps at least {share} of each of {len(rows)} categories."
    return Retention(
        split=split.name,
        split_id=split.split_id,
        safeguard=safeguard,
        coverage=category_coverage(categories, split.task_ids),
        rows=rows,
        sentence=sentence,
    )


def undecided_bounds(matrix: ScoreMatrix, review: Collection[str]) -> Undecided | Undefined:
    """Bound the scores on the issue-cleaned split over all ways to decide the tasks under review.

    Args:
        matrix: scores on the issue-cleaned split, best initial score first.
        review: its tasks under review.

    Returns:
        The bounds with their sentence; undefined when nothing is under review.
    """
    if not review:
        return undefined("no task is under review", 0, "tasks")
    bounds = score_bounds(matrix, review)
    if isinstance(bounds, Undefined):
        return Undecided(n=len(review), bounds=bounds, sentence=f"The score bounds are {bounds.reason}.")
    ordered = sorted(bounds, key=lambda row: -row.kept)
    widest = max(bounds, key=lambda row: row.most - row.least)
    sentence = (
        f"{plural(len(review), 'task')} under review can move a score by up to "
        f"{100 * (widest.most - widest.least):.1f} points ({widest.model}: {100 * widest.least:.1f} to "
        f"{100 * widest.most:.1f} %)"
    )
    return Undecided(n=len(review), bounds=tuple(ordered), sentence=f"{sentence}{_leader(ordered)}.")


def _leader(ordered: list[ScoreBounds]) -> str:
    if len(ordered) < 2:
        return ""
    rivals = [row.model for row in ordered[1:] if row.most >= ordered[0].least - 1e-12]
    if not rivals:
        return f"; {ordered[0].model} leads however they are decided"
    return f"; whether {ordered[0].model} leads may depend on them ({plural(len(rivals), 'model')} may draw level)"
