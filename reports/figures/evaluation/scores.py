"""The figures of scores: leaderboard, tested pairs, difficulty, failing tools; and the length of episodes."""

from collections.abc import Sequence

from agenthard.audit.statistics import Estimate, Result
from agenthard.reports.evaluation.analysis import EvaluationAnalysis
from agenthard.reports.evaluation.rates import Rate
from agenthard.reports.evaluation.scaling import FACTOR_LETTERS, LENGTHS
from agenthard.reports.figures.evaluation.charts import Axes, Entry, Point, Style, forest, keys, small_multiples
from agenthard.reports.kit.figure import Figure, Key
from agenthard.reports.kit.text import amount, plural, result_text, span

MOST_LINES = 80
"""Lines of a forest that are drawn; the table and the data hold all."""
LENGTH_STYLES = {
    "turns": Style("●", "circle", "blue", "turns: replies of the model"),
    "messages": Style("■", "square", "vermillion", "messages: the paper’s steps"),
    "calls": Style("▲", "triangle-up", "green", "tool calls"),
}
FACTOR_STYLES = {
    "decoy_budget": Style("●", "circle", "blue", "against decoys (B)"),
    "hidden_slots": Style("▲", "triangle-up", "vermillion", "against hidden slots (H)"),
}
PERCENT = (0.0, 100.0)


def board_intervals(analysis: EvaluationAnalysis) -> Figure:
    """Draw the score of every agent with its interval; published models follow with marks of their own."""
    title, columns = "Scores with their intervals", ("name", "published", "passed", "n", "score", "low", "high")
    rows: list[tuple[object, ...]] = []
    entries: list[Entry] = []
    shown: list[tuple[str, bool, int, int, Result]] = [
        *((r.agent, False, r.final.passed, r.final.scored, r.final.score) for r in analysis.board),
        *((p.model.model, True, p.model.passed, p.model.n, p.score) for p in analysis.published),
    ]
    for name, theirs, passed, n, score in shown:
        if not isinstance(score, Estimate):
            continue
        rows.append((name, theirs, passed, n, score.value, score.low, score.high))
        words = f"{result_text(score, 'share')}, {passed:,} of {n:,}"
        tip = f"{words}\n{'published, on other instances' if theirs else score.method}"
        look = ("square", "grey") if theirs else ("circle", "blue")
        ends = _percent(score)
        entries.append(Entry(f"{name}{' *' if theirs else ''}", 100 * score.value, *ends, words, tip, *look))
    if not entries:
        return Figure("board", title, "", "", reason="undefined because no episode has a verdict")
    of_theirs = "" if not analysis.published else " * published: other instances, other conditions, no rank."
    return Figure(
        id="board",
        title=title,
        caption=f"Share of episodes with a verdict that passed, final attempts, {_level(analysis)} intervals: "
        f"clustered by task where trials repeat, else Wilson’s.{of_theirs}{_cut(entries)}",
        alt=f"Scores of {plural(len(entries), 'line')}. "
        + "; ".join(f"{e.name} {e.label}" for e in entries[:40])
        + ".",
        svg=forest(entries[:MOST_LINES], "episodes passed, %", PERCENT),
        keys=(Key("●", "blue", "this evaluation"), *((Key("■", "grey", "published *"),) if analysis.published else ())),
        columns=columns,
        rows=rows,
    )


def pair_differences(analysis: EvaluationAnalysis) -> Figure:
    """Draw the difference of every tested pair with its interval."""
    title = "Differences of tested pairs"
    columns = ("first", "second", "difference", "low", "high", "n", "adjusted_p", "significant")
    rows: list[tuple[object, ...]] = []
    entries: list[Entry] = []
    for pair in analysis.pairs:
        gap = pair.difference
        if not isinstance(gap, Estimate):
            continue
        rows.append((pair.first, pair.second, gap.value, gap.low, gap.high, pair.n, pair.adjusted_p, pair.significant))
        p = "not tested" if pair.adjusted_p is None else f"p = {pair.adjusted_p:.3g} after Holm"
        words = f"{result_text(gap, 'points')}; {p}"
        look = ("circle", "blue") if pair.significant else ("square", "grey")
        name = f"{pair.first} − {pair.second}"
        entries.append(Entry(name, 100 * gap.value, *_percent(gap), words, f"{words}\n{pair.n:,} common tasks", *look))
    if not entries:
        return Figure("pairs", title, "", "", reason="undefined because no two agents have a verdict on common tasks")
    ends = [e for entry in entries[:MOST_LINES] for e in (entry.low, entry.high, entry.value) if e is not None]
    margin = max(0.04 * (max(ends) - min(ends)), 1.0)
    return Figure(
        id="pairs",
        title=title,
        caption=f"Mean score per task of the first agent minus that of the second, on common tasks, with paired "
        f"{_level(analysis)} t intervals over tasks (each for itself); the verdict is that of the paired tests, "
        f"corrected by Holm over {plural(sum(p.p is not None for p in analysis.pairs), 'tested pair')}.{_cut(entries)}",
        alt="Differences of pairs of agents. " + "; ".join(f"{e.name} {e.label}" for e in entries[:40]) + ".",
        svg=forest(
            entries[:MOST_LINES], "difference, points", (min(0.0, *ends) - margin, max(0.0, *ends) + margin), line=0.0
        ),
        keys=(Key("●", "blue", "significant after Holm"), Key("■", "grey", "not significant, or not tested")),
        columns=columns,
        rows=rows,
    )


def horizon_lines(analysis: EvaluationAnalysis) -> Figure:
    """Draw the mean length of episodes against H, per agent."""
    title, columns = (
        "Length of episodes against hidden slots",
        ("agent", "measure", "hidden_slots", "mean", "low", "high", "n"),
    )
    rows: list[tuple[object, ...]] = []
    panels: dict[str, dict[str, list[Point]]] = {}
    for point in analysis.horizon:
        mean = point.mean
        if not isinstance(mean, Estimate):
            continue
        rows.append((point.agent, point.measure, point.hidden_slots, mean.value, mean.low, mean.high, mean.n))
        interval = "" if mean.low is None or mean.high is None else f" ({mean.low:,.1f}–{mean.high:,.1f})"
        tip = f"H = {point.hidden_slots}, {point.measure}\n{mean.value:,.1f}{interval}, n = {mean.n:,}"
        series = panels.setdefault(point.agent, {name: [] for name in LENGTHS})
        series[point.measure].append(Point(point.hidden_slots, mean.value, mean.low, mean.high, tip))
    if not rows:
        reason = "undefined because no episode says how long it is and how many slots its task hides"
        return Figure("horizon", title, "", "", reason=reason)
    most = max(
        end for series in panels.values() for line in series.values() for p in line for end in (p.y, p.high or 0)
    )
    longest = {agent: max(p.y for line in series.values() for p in line) for agent, series in panels.items()}
    about = analysis.about
    return Figure(
        id="horizon",
        title=title,
        caption=f"Mean over final attempts that nothing outside the agent broke, {_level(analysis)} percentile "
        f"intervals of {about.resamples:,} resamples of tasks, seed {about.seed}. The scale is "
        "logarithmic above 1, the same in every panel. The paper’s steps count messages: "
        "model replies, tool results and two prompts.",
        alt=f"Mean turns, messages and tool calls against hidden slots in {plural(len(panels), 'panel')}. "
        "Largest mean: " + "; ".join(f"{agent} {value:,.1f}" for agent, value in longest.items()) + ".",
        svg=small_multiples(
            panels, LENGTH_STYLES, Axes("hidden slots (H)", "mean per episode", (0.0, 1.1 * most), True)
        ),
        keys=keys(LENGTH_STYLES),
        columns=columns,
        rows=rows,
    )


def difficulty_lines(analysis: EvaluationAnalysis) -> Figure:
    """Draw the score against B and against H, per agent."""
    title, columns = "Score against decoys and hidden slots", ("agent", "factor", "level", "score", "low", "high", "n")
    rows: list[tuple[object, ...]] = []
    panels: dict[str, dict[str, list[Point]]] = {}
    for row in analysis.levels:
        score = row.rate.score
        if not isinstance(score, Estimate):
            continue
        rows.append((row.agent, row.factor, row.level, score.value, score.low, score.high, row.rate.scored))
        series = panels.setdefault(row.agent, {name: [] for name in FACTOR_STYLES})
        series[row.factor].append(_point(row.level, score, row.rate, f"{FACTOR_LETTERS[row.factor]} = {row.level}"))
    if not rows:
        return Figure("difficulty", title, "", "", reason="undefined because no episode with a verdict says its H or B")
    words = [
        f"{t.agent} {FACTOR_LETTERS[t.factor]} {t.rho.value:+.2f}"
        for t in analysis.trends
        if isinstance(t.rho, Estimate)
    ]
    return Figure(
        id="difficulty",
        title=title,
        caption=f"Share of episodes with a verdict that passed, {_level(analysis)} intervals: clustered by task where "
        "trials repeat, else Wilson’s. Each line averages over the other factor. The table below gives the trends.",
        alt=f"Score against decoys and against hidden slots in {plural(len(panels), 'panel')}. Rank correlations: "
        + ("; ".join(words) or "none is defined")
        + ".",
        svg=small_multiples(panels, FACTOR_STYLES, Axes("B or H", "episodes passed, %", PERCENT)),
        keys=keys(FACTOR_STYLES),
        columns=columns,
        rows=rows,
    )


def failure_lines(analysis: EvaluationAnalysis) -> Figure:
    """Draw the score against the failure rate of tools, per agent."""
    title = "Score against the failure rate of tools"
    columns = ("agent", "failure_rate", "score", "low", "high", "n", "difference", "difference_low", "difference_high")
    rows: list[tuple[object, ...]] = []
    panels: dict[str, dict[str, list[Point]]] = {}
    for row in analysis.failures:
        score, gap = row.rate.score, row.difference
        if not isinstance(score, Estimate):
            continue
        change = (gap.value, gap.low, gap.high) if isinstance(gap, Estimate) else (None, None, None)
        rows.append((row.agent, row.failure_rate, score.value, score.low, score.high, row.rate.scored, *change))
        point = _point(row.failure_rate, score, row.rate, f"p = {row.failure_rate:g}")
        panels.setdefault(row.agent, {"score": []})["score"].append(point)
    if not rows:
        return Figure("failures", title, "", "", reason="undefined because episodes were run at one failure rate only")
    styles = {"score": Style("●", "circle", "blue", "score")}
    ends = [f"{agent} {series['score'][0].y:.1f} → {series['score'][-1].y:.1f} %" for agent, series in panels.items()]
    return Figure(
        id="failures",
        title=title,
        caption=f"p is the share of tool calls that were made to fail. {_level(analysis)} intervals: clustered by task "
        "where trials repeat, else Wilson’s. The table below compares the same tasks and trials with p = 0.",
        alt=f"Score against the failure rate in {plural(len(panels), 'panel')}: {'; '.join(ends)}.",
        svg=small_multiples(panels, styles, Axes("failure rate (p)", "episodes passed, %", PERCENT)),
        columns=columns,
        rows=rows,
    )


def _point(x: float, score: Estimate, rate: Rate, where: str) -> Point:
    interval = "" if score.low is None or score.high is None else f" ({span(score.low, score.high, 'share')})"
    tip = f"{where}\n{amount(score.value, 'share')}{interval}, {rate.passed:,} of {rate.scored:,}"
    return Point(x, 100 * score.value, *_percent(score), tip)


def _percent(score: Estimate) -> tuple[float | None, float | None]:
    if score.low is None or score.high is None:
        return None, None
    return 100 * score.low, 100 * score.high


def _level(analysis: EvaluationAnalysis) -> str:
    return f"{100 * analysis.about.level:g} %"


def _cut(entries: Sequence[Entry]) -> str:
    left = len(entries) - MOST_LINES
    return f" {plural(left, 'more line')} in the table." if left > 0 else ""
