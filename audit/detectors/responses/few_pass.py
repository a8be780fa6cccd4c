"""Tasks that hardly any model passes, though the models pass others."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from agenthard.audit.detectors.base import Conclusion, Hit, Observation, SuiteDetector, Undecided
from agenthard.audit.detectors.support.score_matrix import Floats, mean_elsewhere, observe_runs, score_matrix, scores_of
from agenthard.audit.statistics.intervals import wilson
from agenthard.taxonomy.finding import Evidence, Severity, Tier
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

MIN_MODELS = 10
"""With fewer models, one in ten is less than one model, and the check would repeat all-fail."""
MOST_SHARE = 0.1
"""Largest mean pass rate over models."""
MOST_CHANCE = 0.001
"""Largest probability that models of this strength do so badly on a task like their others."""
EXEMPLARS = 3
"""Runs quoted per task, each of another model."""


class FewPass(SuiteDetector):
    """Tasks that at most one model in ten passes, though the models pass others.

    Rule: at least ten models have a scored run of the task. The mean of their pass rates (a model's rate is the share
    of its scored trials that pass) is at most 10 %, and the probability that so few models, or fewer, pass is at most
    0.1 % when each passes with its rate on its other tasks (Poisson binomial distribution, models independent).
    A task that all models fail is flagged too; ``all-fail`` says that more sharply, and from five models on.

    Flagged: two of twenty-eight models pass, which pass 40 % of their other tasks. Not flagged: the same with models
    that pass 8 % of their other tasks.

    When it is wrong: hard tasks are failed by nearly everyone as well. It removes nothing.
    """

    id = "few-pass"
    title = "At most one model in ten passes"
    version = "1"
    category = "suspicious-score-pattern"
    severity = Severity.MAY_AFFECT_SCORE
    tier = Tier.SIGNAL
    why = (
        "Where nearly every model fails, the gold is often what is wrong; a few pass by luck or by a slip of their own."
    )
    needs_runs = True

    def observe(self, task: AgentTask, runs: Iterator[Trajectory]) -> Iterable[Observation]:
        """Note the verdict of each run and quote a few that fail."""
        return observe_runs(runs, False, EXEMPLARS)

    def conclude(self, observations: Sequence[Observation]) -> Iterable[Conclusion | Undecided]:
        """Yield one signal per task that hardly any model passes."""
        matrix = score_matrix(observations)
        all_scores = scores_of(matrix)
        rates = mean_elsewhere(all_scores)
        quotes: dict[str, list[Evidence]] = defaultdict(list)
        for item in observations:
            quotes[item.task_id].extend(item.evidence)
        few: list[str] = []
        for column, task in enumerate(matrix.tasks):
            seen = matrix.runs[:, column] > 0
            if seen.sum() < MIN_MODELS:
                few.append(task)
                continue
            scores, elsewhere = all_scores[seen, column], rates[seen, column]
            passing = int((scores > 0.5).sum())
            chance = at_most(passing, elsewhere[~np.isnan(elsewhere)])
            if scores.mean() <= MOST_SHARE and chance <= MOST_CHANCE:
                yield Conclusion(task_ids=(task,), hit=_hit(task, scores, passing, chance, tuple(quotes[task])))
        if few:
            reason = f"fewer than {MIN_MODELS} models with a scored run"
            yield Undecided(task_ids=tuple(few), reason=reason)


def at_most(count: int, rates: Floats) -> float:
    """Return the probability of at most ``count`` successes when each trial has its own rate (Poisson binomial).

    Args:
        count: number of successes, at least 0.
        rates: success probability of each independent trial; without trials the probability is 1.

    >>> at_most(0, np.array([0.5, 0.5]))
    0.25
    >>> at_most(1, np.array([0.5, 0.5]))
    0.75
    """
    distribution = np.ones(1)
    for rate in rates:
        distribution = np.convolve(distribution, (1 - rate, rate))
    return float(distribution[: count + 1].sum())


def _hit(task: str, scores: Floats, passing: int, chance: float, evidence: tuple[Evidence, ...]) -> Hit:
    models = len(scores)
    low, high = wilson(passing, models)
    return Hit(
        claim=f"{passing} of {models} models mostly pass task {task} (95 % interval {low:.1%} to {high:.1%}; mean pass "
        f"rate {scores.mean():.1%}), far fewer than their other tasks predict (p = {chance:.2g}).",
        fix="Check the gold, what the evaluator wants, and whether the task can be solved with its tools and policy.",
        cause=f"task {task}",
        evidence=evidence,
        measures={
            "models": models,
            "passing": passing,
            "rate": float(scores.mean()),
            "low": low,
            "high": high,
            "chance": chance,
        },
    )
