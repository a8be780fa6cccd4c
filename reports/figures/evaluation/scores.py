"""The figures of scores: leaderboard, tested pairs, difficulty, failing tools; and the length of episodes."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import cycle

from agenthard.audit.statistics import Estimate, Result
from agenthard.reports.evaluation.analysis import EvaluationAnalysis
from agenthard.reports.evaluation.rates import Rate
from agenthard.reports.evaluation.scaling import LENGTHS
from agenthard.reports.figures.evaluation.charts import Axes, Entry, Point, Style, forest, keys, small_multiples
from agenthard.reports.kit.figure import Figure, Key
from agenthard.reports.kit.text import amount, plural, result_text, span

MOST_LINES = 80
"""Lines of a forest that are drawn; the table and the data hold all."""
LENGTH_STYLES = {
    "turns": Style("●", "circle", "blue", "turns: replies of the model"),
    "messages": Style("■", "square", "vermillion", "messages"),
    "calls": Style("▲", "triangle-up", "green", "tool calls"),
}
FACTOR_LOOKS = (("●", "circle", "blue"), ("▲", "triangle-up", "vermillion"), ("■", "square", "green"))
_STEPS = {"turns": "turns: replies of the model, the paper’s steps", "messages": "messages: the paper’s steps"}
_STEPS_SAID = {
    "turns": "",
    "messages": " The paper’s steps count messages: model replies, tool results and two prompts.",
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
    """Draw the mean length of episodes against the first factor, per agent."""
    if not analysis.declared.factors:
        reason = "undefined because the tasks have no factor"
        return Figure("horizon", "Length of episodes", "", "", reason=reason)
    factor, steps = analysis.declared.factors[0], analysis.declared.steps
    title = f"Length of episodes against {factor.label}"
    columns = ("agent", "measure", factor.name, "mean", "low", "high", "n")
    styles = LENGTH_STYLES | {steps: replace(LENGTH_STYLES[steps], words=_STEPS[steps])}
    rows: list[tuple[object, ...]] = []
    panels: dict[str, dict[str, list[Point]]] = {}
    for point in analysis.horizon:
        mean = point.mean
        if not isinstance(mean, Estimate):
            continue
        level = point.levels[factor.name]
        rows.append((point.agent, point.measure, level, mean.value, mean.low, mean.high, mean.n))
        interval = "" if mean.low is None or mean.high is None else f" ({mean.low:,.1f}–{mean.high:,.1f})"
        tip = f"{factor.letter} = {level}, {point.measure}\n{mean.value:,.1f}{interval}, n = {mean.n:,}"
        series = panels.setdefault(point.agent, {name: [] for name in LENGTHS})
        series[point.measure].append(Point(level, mean.value, mean.low, mean.high, tip))
    if not rows:
        reason = f"undefined because no episode says how long it is and its {factor.title}"
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
        f"logarithmic above 1, the same in every panel.{_STEPS_SAID[steps]}",
        alt=f"Mean turns, messages and tool calls against {factor.label} in {plural(len(panels), 'panel')}. "
        "Largest mean: " + "; ".join(f"{agent} {value:,.1f}" for agent, value in longest.items()) + ".",
        svg=small_multiples(panels, styles, Axes(factor.title, "mean per episode", (0.0, 1.1 * most), True)),
        keys=keys(styles),
        columns=columns,
        rows=rows,
    )


def difficulty_lines(analysis: EvaluationAnalysis) -> Figure:
    """Draw the score against every factor, per agent."""
    factors = analysis.declared.factors[::-1]
    if not factors:
        reason = "undefined because the tasks have no factor"
        return Figure("difficulty", "Score against factors", "", "", reason=reason)
    title = f"Score against {' and '.join(factor.label for factor in factors)}"
    columns = ("agent", "factor", "level", "score", "low", "high", "n")
    letters = {factor.name: factor.letter for factor in factors}
    styles = {f.name: Style(*look, f"against {f.title}") for f, look in zip(factors, cycle(FACTOR_LOOKS), strict=False)}
    rows: list[tuple[object, ...]] = []
    panels: dict[str, dict[str, list[Point]]] = {}
    for row in analysis.levels:
        score = row.rate.score
        if not isinstance(score, Estimate):
            continue
        rows.append((row.agent, row.factor, row.level, score.value, score.low, score.high, row.rate.scored))
        series = panels.setdefault(row.agent, {name: [] for name in styles})
        series[row.factor].append(_point(row.level, score, row.rate, f"{letters[row.factor]} = {row.level}"))
    if not rows:
        return Figure(
            "difficulty",
            title,
            "",
            "",
            reason=f"undefined because no episode with a verdict says its {_either(letters)}",
        )
    words = [
        f"{t.agent} {letters[t.factor]} {t.rho.value:+.2f}" for t in analysis.trends if isinstance(t.rho, Estimate)
    ]
    other = " Each line averages over the other factor." if len(factors) > 1 else ""
    return Figure(
        id="difficulty",
        title=title,
        caption=f"Share of episodes with a verdict that passed, {_level(analysis)} intervals: clustered by task where "
        f"trials repeat, else Wilson’s.{other} The table below gives the trends.",
        alt=f"Score against {' and against '.join(factor.label for factor in factors)} in "
        f"{plural(len(panels), 'panel')}. Rank correlations: " + ("; ".join(words) or "none is defined") + ".",
        svg=small_multiples(panels, styles, Axes(" or ".join(letters.values()), "episodes passed, %", PERCENT)),
        keys=keys(styles),
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


def _either(letters: Mapping[str, str]) -> str:
    return " or ".join(list(letters.values())[::-1])


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
