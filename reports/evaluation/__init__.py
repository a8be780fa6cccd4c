"""The evaluation report: agents × instances × trials, from the table of episodes to a page, tables and a summary."""

from agenthard.reports.evaluation.analyse import analyse
from agenthard.reports.evaluation.analysis import EvaluationAnalysis
from agenthard.reports.evaluation.frame import read_episodes
from agenthard.reports.evaluation.inputs import About, EvaluationError
from agenthard.reports.evaluation.published import Published, read_published
from agenthard.reports.evaluation.writing import write_evaluation

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
