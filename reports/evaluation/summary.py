"""The evaluation in thirty seconds, as Markdown: for a chat, a mail, a pull request or a Prefect artifact."""

from agenthard.audit.statistics import Undefined
from agenthard.reports.evaluation.agents import AgentRow
from agenthard.reports.evaluation.analysis import EvaluationAnalysis
from agenthard.reports.kit.markdown import md, table
from agenthard.reports.kit.text import amount, plural, result_text

MOST_ROWS = 40
"""Rows of the leaderboard; the others are counted."""


def summary_markdown(analysis: EvaluationAnalysis) -> str:
    """Write the summary.

    Args:
        analysis: the analysis.

    Returns:
        Markdown; names of agents, tasks and files are escaped.
    """
    parts = [f"# {md(analysis.about.title)}", md(analysis.sentence)]
    if analysis.board:
        columns = ["rank", "agent", "passed", "score", "errors as failures", "no verdict", "run"]
        parts.append(table(columns, [_cells(row) for row in analysis.board[:MOST_ROWS]]))
    if len(analysis.board) > MOST_ROWS:
        parts.append(f"{plural(len(analysis.board) - MOST_ROWS, 'more agent')} in the report.")
    if analysis.published:
        rows = [
            [md(row.model.model), f"{row.model.passed:,}/{row.model.n:,}", result_text(row.score, "share")]
            for row in analysis.published[:MOST_ROWS]
        ]
        parts += ["Published results, on other instances and under other conditions:"]
        parts.append(table(["model", "passed", "score"], rows))
    detectable = analysis.detectable
    if not isinstance(detectable, Undefined):
        parts.append(
            f"The {plural(detectable.n, 'task')} with a verdict for every agent detect differences of "
            f"{amount(detectable.value, 'points')} or more (95 % confidence, 80 % power)."
        )
    cost = analysis.totals
    if cost.cost is None:
        parts.append(f"Cost: no price is known for any of {plural(cost.attempts, 'attempt')}.")
    else:
        least = "at least " if cost.priced < cost.attempts else ""
        known = f"{cost.priced:,} of {plural(cost.attempts, 'attempt')} with a price"
        parts.append(f"Cost: {least}${cost.cost:,.2f} ({known}).")
    parts += ["\n".join(f"* {md(note)}" for note in analysis.notes)] if analysis.notes else []
    return "\n\n".join(parts) + "\n"


def _cells(row: AgentRow) -> list[str]:
    return [
        "–" if row.rank is None else str(row.rank),
        md(row.agent),
        f"{row.final.passed:,}/{row.final.scored:,}",
        result_text(row.final.score, "share"),
        result_text(row.errors_as_failures, "share"),
        f"{row.final.episodes - row.final.scored:,}",
        f"{row.run:,}" if row.planned is None else f"{row.run:,} of {row.planned:,}",
    ]
