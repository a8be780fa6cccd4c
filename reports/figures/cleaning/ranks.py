"""The bump chart: rank of each model on each split."""

from collections import Counter
from collections.abc import Iterable

from markupsafe import Markup

from agenthard.audit.statistics import Estimate
from agenthard.reports.cleaning.leaderboard import Board, BoardRow
from agenthard.reports.cleaning.record import CleaningAnalysis, sampling
from agenthard.reports.cleaning.splits import TITLES
from agenthard.reports.kit.figure import Figure, Key, Mark, draw, short
from agenthard.reports.kit.text import amount, result_text, sentence, span

TITLE = "Rank of each model on each split"
WIDTH = 1120
"""Width of the drawing with its labels, in pixels; short names leave it narrower."""
STEPS = (180, 330)
"""Least and largest width between two splits, in pixels."""
GAP = "\N{EN SPACE}"
DIRECTIONS = {
    "risen": ("▲", "blue", "better on the last split than on the first"),
    "fallen": ("▼", "vermillion", "worse"),
    "between": ("◆", "green", "moves and returns"),
    "stayed": ("●", "grey", "same rank"),
}


def rank_chart(analysis: CleaningAnalysis) -> Figure:
    """Draw ranks over the splits, with each model's rank interval shown when it is picked.

    Args:
        analysis: the analysis.

    Returns:
        The figure, with one row of data per model and split.
    """
    boards = [board for board in analysis.leaderboards if any(row.rank is not None for row in board.rows)]
    columns = ("model", "split", "split_id", "n", "rank", "rank_low", "rank_high", "score", "score_low", "score_high")
    rows = [
        (row.model, board.split, board.split_id, board.n, row.rank, *_ends(row.rank_interval), *_score(row))
        for board in boards
        for row in board.rows
    ]
    if len(boards) < 2:
        reason = f"undefined because {len(boards)} split(s) have ranked models; a change of rank needs two"
        return Figure("ranks", TITLE, "", "", reason=reason, columns=columns, rows=rows)
    paths = _paths(boards)
    counts = Counter(_direction(path) for path in paths.values())
    sizes = ", ".join(f"{TITLES[board.split]} {_size(board)}" for board in boards)
    verdict = next((row.sentence for row in analysis.stability if row.before == boards[0].split), "")
    return Figure(
        id="ranks",
        title=TITLE,
        caption=f"{sentence(sizes)} {len(paths)} models. Ordinal ranks, ties keep the initial order. {verdict} Pick a "
        f"model, or point at it, to see its rank intervals. {sampling(analysis)}",
        alt=f"Bump chart of {len(paths)} models on {len(boards)} splits ({sizes}). From the first split to the last "
        f"{counts['risen']} models rise, {counts['fallen']} fall, {counts['between']} return to their rank and "
        f"{counts['stayed']} keep it. "
        f"First on each split: {', '.join(_leader(board) for board in boards)}.",
        svg=_drawn(boards, paths),
        keys=tuple(Key(*DIRECTIONS[name]) for name in DIRECTIONS if counts[name]),
        subjects=tuple(paths),
        columns=columns,
        rows=rows,
    )


def _paths(boards: list[Board]) -> dict[str, list[tuple[Board, BoardRow]]]:
    """Collect each model's rows on the boards that rank it, best initial rank first."""
    paths: dict[str, list[tuple[Board, BoardRow]]] = {}
    for board in boards:
        for row in board.rows:
            if row.rank is not None:
                paths.setdefault(row.model, []).append((board, row))
    return paths


def _size(board: Board) -> str:
    """State how many tasks the scores are based on: those with a verdict for every model."""
    return f"n = {board.n:,}" if board.complete == board.n else f"n = {board.complete:,} of {board.n:,}"


def _direction(path: list[tuple[Board, BoardRow]]) -> str:
    ranks = [row.rank or 0 for _, row in path]
    if ranks[0] == ranks[-1]:
        return "stayed" if len(set(ranks)) == 1 else "between"
    return "risen" if ranks[0] > ranks[-1] else "fallen"


def _leader(board: Board) -> str:
    best = min((row for row in board.rows if row.rank is not None), key=lambda row: row.rank or 0)
    return f"{best.model} ({TITLES[board.split]}, {result_text(best.score, 'share')})"


def _ends(result: object) -> tuple[float | None, float | None]:
    return (result.low, result.high) if isinstance(result, Estimate) else (None, None)


def _score(row: BoardRow) -> tuple[float | None, ...]:
    return (row.score.value, row.score.low, row.score.high) if isinstance(row.score, Estimate) else (None, None, None)


def _drawn(boards: list[Board], paths: dict[str, list[tuple[Board, BoardRow]]]) -> Markup:
    import altair as alt

    points: list[Mark] = []
    intervals: list[Mark] = []
    names: dict[str, list[Mark]] = {"names before": [], "names after": []}
    for line, (model, path) in enumerate(paths.items()):
        for board, row in path:
            position = boards.index(board)
            place = {"subject": model, "line": line, "position": position, "rank": row.rank, "tip": _tip(board, row)}
            place |= {"direction": _direction(path)}
            points.append(place)
            if position in (0, len(boards) - 1):
                side = "names after" if position else "names before"
                names[side].append({**place, "label": _label(path, row, first=position == 0)})
            low, high = _ends(row.rank_interval)
            if low is not None and high is not None:
                intervals.append({**place, "low": low, "high": high, "quiet": True})
    size = 11 if len(paths) > 48 else 12
    height = len(paths) * (24 if len(paths) <= 24 else 18 if len(paths) <= 48 else 15)
    last, most = len(boards) - 1, max(len(paths), 2)
    titles = " : ".join(f"datum.value == {i} ? '{TITLES[b.split]}, {_size(b)}'" for i, b in enumerate(boards))
    x = alt.X("position:Q").scale(domain=[0, last], nice=False)
    x = x.axis(
        values=list(range(last + 1)),
        labelExpr=f"{titles} : ''",
        orient="top",
        domain=False,
        ticks=False,
        title=None,
        labelFontWeight=600,
        labelPadding=18,
        labelFontSize=13,
        labelLimit=0,
        labelFlush=False,
    )
    scale = alt.Scale(domain=[0.5, most + 0.5], reverse=True, nice=False, zero=False)
    y, least = (alt.Y(f"{field}:Q", scale=scale, axis=None) for field in ("rank", "low"))
    colour = alt.Scale(domain=list(DIRECTIONS), range=[f"var(--{DIRECTIONS[name][1]})" for name in DIRECTIONS])
    shape = alt.Scale(domain=list(DIRECTIONS), range=["triangle-up", "triangle-down", "diamond", "circle"])
    stroke = alt.Stroke("direction:N", scale=colour, legend=None)
    base = alt.Chart(alt.NamedData("points")).encode(x=x, y=y)
    layers = [
        alt.Chart(alt.NamedData("intervals"))
        .mark_rule(strokeWidth=9, strokeCap="round", opacity=0.35)
        .encode(x=x, y=least, y2=alt.Y2("high:Q"), stroke=stroke, description=alt.Description("mark:N")),
        base.mark_line(interpolate="monotone", strokeWidth=2).encode(
            detail=alt.Detail("line:N"), stroke=stroke, description=alt.Description("mark:N")
        ),
        base.mark_point(size=80, opacity=1, strokeWidth=0).encode(
            shape=alt.Shape("direction:N", scale=shape, legend=None),
            fill=alt.Fill("direction:N", scale=colour, legend=None),
            description=alt.Description("mark:N"),
        ),
        alt.Chart(alt.NamedData("names before"))
        .mark_text(align="right", dx=-14, fontSize=size)
        .encode(x=x, y=y, text=alt.Text("label:N"), description=alt.Description("mark:N")),
        alt.Chart(alt.NamedData("names after"))
        .mark_text(align="left", dx=14, fontSize=size)
        .encode(x=x, y=y, text=alt.Text("label:N"), description=alt.Description("mark:N")),
    ]
    return draw(
        alt.layer(*layers).properties(width=_step(paths, last) * last, height=height),
        {"points": points, "intervals": intervals, **names},
    )


def _step(paths: Iterable[str], steps: int) -> float:
    """Share out the width that the labels leave; a character takes about 6.3 pixels."""
    labels = 2 * 6.3 * (max(len(short(model)) for model in paths) + 16)
    return min(max((WIDTH - labels) / steps, STEPS[0]), STEPS[1])


def _label(path: list[tuple[Board, BoardRow]], row: BoardRow, *, first: bool) -> str:
    score = amount(row.score.value, "share") if isinstance(row.score, Estimate) else ""
    if first:
        return f"{short(row.model)}{GAP}{score}{GAP}{row.rank}"
    gained = (path[0][1].rank or 0) - (row.rank or 0)
    move = f"{GAP}▲{gained}" if gained > 0 else f"{GAP}▼{-gained}" if gained < 0 else ""
    return f"{row.rank}{GAP}{score}{GAP}{short(row.model)}{move}"


def _tip(board: Board, row: BoardRow) -> str:
    low, high = _ends(row.rank_interval)
    interval = f" (interval {span(low, high, 'rank')})" if low is not None and high is not None else ""
    place = f"{TITLES[board.split]}, {_size(board)}\nrank {row.rank}{interval}"
    return f"{row.model}\n{place}\nscore {result_text(row.score, 'share')}"
