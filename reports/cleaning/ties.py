"""Ranks by score, which equal scores share."""

from agenthard.audit.statistics import Estimate
from agenthard.reports.cleaning.leaderboard import Board
from agenthard.reports.kit.text import span

_TIE = 1e-9


def shared_ranks(board: Board) -> dict[str, str]:
    """Give the rank of each model by score; models with equal scores share a range, as in "1–2".

    Args:
        board: the leaderboard.

    Returns:
        Model → its rank in words; models without a rank are left out.
    """
    scores = {
        row.model: row.score.value for row in board.rows if row.rank is not None and isinstance(row.score, Estimate)
    }
    found = {}
    for model, own in scores.items():
        first = 1 + sum(value > own + _TIE for value in scores.values())
        last = sum(value >= own - _TIE for value in scores.values())
        found[model] = str(first) if first == last else span(first, last, "rank")
    return found
