"""The evaluation report: agents × instances × trials, from the table of episodes to a page, tables and a summary."""

from agenthard.reports.evaluation.analysis import EvaluationAnalysis, analyse
from agenthard.reports.evaluation.episodes import About, EvaluationError, read_episodes
from agenthard.reports.evaluation.published import Published, read_published
from agenthard.reports.evaluation.tables import write_evaluation

__all__ = [
    "About",
    "EvaluationAnalysis",
    "EvaluationError",
    "Published",
    "analyse",
    "read_episodes",
    "read_published",
    "write_evaluation",
]
