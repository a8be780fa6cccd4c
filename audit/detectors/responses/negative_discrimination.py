"""Tasks that better models fail more often."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from agenthard.audit.detectors.base import Conclusion, Hit, Observation, SuiteDetector, Undecided
from agenthard.audit.detectors.support.score_matrix import (
    Floats,
    mean_elsewhere,
    observe_run,
    quote_verdict,
    score_matrix,
    scores_of,
)
from agenthard.audit.statistics.intervals import fisher_z
from agenthard.taxonomy.finding import Evidence, Severity, Tier
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

MIN_MODELS = 8
"""Below eight models only a correlation under −0.7 could exclude 0, and one odd model makes such a value."""
MIN_OTHER_TASKS = 10
"""A model's strength is taken from at least so many other tasks."""


class NegativeDiscrimination(SuiteDetector):
    """Tasks that better models fail more often than weaker ones.

    Rule: the item-rest correlation of the task, with its 95 % interval by Fisher's z, lies wholly below 0. It is the
    Pearson correlation, over models, between the score on the task (mean over trials) and the model's strength on its
    other tasks. Strength is the mean deviation of the model from the mean of all models on each other task: when
    every model ran every task this gives exactly the correlation with the mean score, and when some did not, a model
    is not called strong for having run easier tasks. At least eight models with ten other tasks each; runs without a
    verdict are left out. Undefined, hence not checked, when all models score the same on the task or elsewhere.

    Flagged: of sixteen models the best six fail and the weakest ten pass. Not flagged: passes and failures scattered;
    all models fail (see all-fail).

    When it is wrong: a benchmark that mixes abilities has tasks that a weak model passes by its weakness, such as a
    task that expects no call and a model that never calls. If no task discriminated at all, 2.5 % would be flagged by
    chance, and the interval is rough for scores of 0 and 1. It is a signal for the review queue and removes nothing.
    """

    id = "negative-discrimination"
    title = "Better models fail it more often"
    version = "1"
    experimental = True
    category = "suspicious-score-pattern"
    severity = Severity.MAY_AFFECT_SCORE
    tier = Tier.SIGNAL
    why = "When better models fail and weaker ones pass, the gold or the evaluator often rewards the wrong behaviour."
    needs_runs = True

    def observe(self, task: AgentTask, runs: Iterator[Trajectory]) -> Iterable[Observation]:
        """Note the verdict of each run; quote them when they differ."""
        notes = [observe_run(run, () if run.passed is None else (quote_verdict(run),)) for run in runs]
        if {True, False} <= {note.value["passed"] for note in notes}:
            return notes
        return [note.model_copy(update={"evidence": ()}) for note in notes]

    def conclude(self, observations: Sequence[Observation]) -> Iterable[Conclusion | Undecided]:
        """Yield one signal per task with a negative item-rest correlation."""
        matrix = score_matrix(observations)
        scores = scores_of(matrix)
        correlations, models, reasons = item_rest(scores)
        undecided: dict[str, list[str]] = defaultdict(list)
        flagged: dict[str, int] = {}
        for column, task in enumerate(matrix.tasks):
            if reasons[column]:
                undecided[reasons[column]].append(task)
            elif fisher_z(correlations[column], models[column])[1] < 0:
                flagged[task] = column
        by_task: dict[str, list[Observation]] = {task: [] for task in flagged}
        for item in observations:
            if item.task_id in flagged and item.evidence:
                by_task[item.task_id].append(item)
        strength = mean_elsewhere(scores)
        for task, column in flagged.items():
            elsewhere = dict(zip(matrix.models, strength[:, column].tolist(), strict=True))
            evidence = _telling(by_task[task], elsewhere)
            yield Conclusion(task_ids=(task,), hit=_hit(task, correlations[column], models[column], evidence))
        for reason, tasks in sorted(undecided.items()):
            yield Undecided(task_ids=tuple(tasks), reason=reason)


def item_rest(scores: Floats) -> tuple[list[float], list[int], list[str]]:
    """Correlate each task's scores with the models' strength on the other tasks.

    Args:
        scores: models × tasks, NaN where missing.

    Returns:
        Per task: the correlation (0 where it is undefined), the number of models in it, and why it is undefined ("").
    """
    seen = ~np.isnan(scores)
    models_per_task = seen.sum(axis=0)
    means = np.where(seen, scores, 0.0).sum(axis=0) / np.maximum(models_per_task, 1)
    strength = mean_elsewhere(scores - means)
    used = seen & (seen.sum(axis=1, keepdims=True) - seen >= MIN_OTHER_TASKS)
    models = used.sum(axis=0)
    item, rest = _deviations(scores, used), _deviations(strength, used)
    variances = (item**2).sum(axis=0), (rest**2).sum(axis=0)
    constant = [variance <= 1e-12 for variance in variances]
    scale = np.where(constant[0] | constant[1], 1.0, np.sqrt(variances[0] * variances[1]))
    correlations = np.clip((item * rest).sum(axis=0) / scale, -1.0, 1.0)
    reasons = np.select(
        [models < MIN_MODELS, constant[0], constant[1]],
        [
            f"fewer than {MIN_MODELS} models with a scored run and {MIN_OTHER_TASKS} other scored tasks",
            "undefined because all models have the same score on it",
            "undefined because all models are equally strong on the other tasks",
        ],
        "",
    )
    return correlations.tolist(), models.tolist(), reasons.tolist()


def _deviations(values: Floats, used: np.ndarray) -> Floats:
    filled = np.where(used, values, 0.0)
    means = filled.sum(axis=0) / np.maximum(used.sum(axis=0), 1)
    return np.where(used, filled - means, 0.0)


def _telling(observations: Sequence[Observation], elsewhere: dict[str, float]) -> tuple[Evidence, ...]:
    """Choose the failures of the two strongest models that fail, and the pass of the weakest that passes."""
    failing: dict[str, Evidence] = {}
    passing: dict[str, Evidence] = {}
    for item in observations:
        if not math.isnan(elsewhere[item.key]):
            (passing if item.value["passed"] else failing).setdefault(item.key, item.evidence[0])
    best = sorted(failing, key=lambda model: -elsewhere[model])[:2]
    worst = sorted(passing, key=lambda model: elsewhere[model])[:1]
    chosen = [(model, failing[model]) for model in best] + [(model, passing[model]) for model in worst]
    return tuple(
        quote.model_copy(update={"note": f"{quote.note}; it passes {elsewhere[model]:.0%} of its other tasks"})
        for model, quote in chosen
    )


def _hit(task: str, correlation: float, models: int, evidence: tuple[Evidence, ...]) -> Hit:
    low, high = fisher_z(correlation, models)
    return Hit(
        claim=f"Better models fail task {task} more often: over {models} models its score correlates with the score on "
        f"their other tasks at {correlation:.2f} (95 % interval {low:.2f} to {high:.2f}).",
        fix="Look at the runs of the best models that fail: the gold or the evaluator may reject what is right.",
        cause=f"task {task}",
        evidence=evidence,
        measures={"models": models, "correlation": correlation, "low": low, "high": high},
    )
