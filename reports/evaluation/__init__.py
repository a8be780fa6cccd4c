"""The evaluation report: agents × instances × trials, from the table of episodes to a page, tables and a summary."""

from reports.evaluation.analyse import analyse
from reports.evaluation.analysis import EvaluationAnalysis
from reports.evaluation.frame import read_episodes
from reports.evaluation.inputs import About, EvaluationError
from reports.evaluation.published import Published, read_published
from reports.evaluation.writing import write_evaluation

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
