"""The one record behind the evaluation report, its JSON twin, its tables and its figures."""

from agenthard.audit.statistics import Result
from agenthard.reports.evaluation.ablation import FailureScore
from agenthard.reports.evaluation.board import AgentRow
from agenthard.reports.evaluation.cells import DomainScore, HeatMap
from agenthard.reports.evaluation.inputs import About
from agenthard.reports.evaluation.pairs import PairResult
from agenthard.reports.evaluation.published import Published
from agenthard.reports.evaluation.published_models import PublishedModel
from agenthard.reports.evaluation.scaling import HorizonPoint, LevelScore, Trend
from agenthard.reports.evaluation.usage import Usage
from agenthard.taxonomy.record import Record


class PublishedRow(Record):
    """A published model beside the leaderboard. It has no rank: others measured it, on other instances."""

    model: PublishedModel
    """What was published."""
    score: Result
    """Share of its instances solved, with its Wilson interval."""


class Totals(Record):
    """What there is, over all failure rates."""

    agents: int
    """Agents that ran or were planned."""
    tasks: int
    """Distinct tasks that were run."""
    episodes: int
    """Episodes that were run."""
    planned: int | None
    """Episodes that were planned; None unless every agent has a plan."""
    attempts: int
    """Attempts at them."""
    retried: int
    """Episodes with more than one attempt."""
    unscored: int
    """Episodes whose final attempt has no verdict."""
    trials: int
    """Most trials of one task by one agent."""
    cost: float | None
    """Sum of the known costs of all attempts; None when no attempt has a price."""
    priced: int
    """Attempts with a price."""


class EvaluationAnalysis(Record):
    """The whole analysis. A number that does not exist is an ``Undefined`` with its reason or None, never NaN or 0."""

    schema_version: str = "1"
    """Version of this layout."""
    about: About
    """What was evaluated, and how."""
    sentence: str
    """The outcome in a few sentences."""
    totals: Totals
    """What there is."""
    notes: tuple[str, ...]
    """What was wrong with the table of episodes, and what was done about it."""
    failure_rates: tuple[float, ...]
    """Failure rates that were run, rising; everything but ablation and usage is about the first one."""
    board: tuple[AgentRow, ...]
    """The leaderboard, best first."""
    published: tuple[PublishedRow, ...]
    """Published models to compare with, best first."""
    files: tuple[Published, ...]
    """The files they come from, with what is wrong in them."""
    heat_maps: tuple[HeatMap, ...]
    """Score per H × B, in the order of the leaderboard; published ones follow."""
    domains: tuple[DomainScore, ...]
    """Score per domain, in the order of the leaderboard; published ones follow."""
    horizon: tuple[HorizonPoint, ...]
    """Length of episodes against H."""
    levels: tuple[LevelScore, ...]
    """Score against H and against B."""
    trends: tuple[Trend, ...]
    """Rank correlation of the score with H and with B."""
    failures: tuple[FailureScore, ...]
    """Score against the failure rate; empty when there is only one."""
    pairs: tuple[PairResult, ...]
    """Paired tests inside families and between neighbours."""
    detectable: Result
    """Smallest difference that the tasks with a verdict for every agent would detect."""
    usage: tuple[Usage, ...]
    """Turns, messages, calls, tokens, seconds and money."""
