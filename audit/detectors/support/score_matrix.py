"""Scores of models on tasks, as observed from runs; the base of the checks on them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from agenthard.audit.detectors.base import Conclusion, Hit, Observation, SuiteDetector, Undecided
from agenthard.audit.evidence import quote_run
from agenthard.audit.statistics.intervals import wilson
from agenthard.audit.statistics.matrix import Missing, ScoreMatrix
from agenthard.taxonomy.finding import Evidence, Tier
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

Floats = NDArray[np.float64]


def observe_run(run: Trajectory, evidence: tuple[Evidence, ...] = ()) -> Observation:
    """Note model, trial, verdict and status of one run, and nothing of its conversation."""
    value = {"trial": run.trial, "passed": run.passed, "status": run.status}
    return Observation(task_id=run.task_id, key=run.model, value=value, evidence=evidence)


def observe_runs(runs: Iterable[Trajectory], passed: bool, exemplars: int) -> Iterator[Observation]:
    """Note the verdict of each run, and quote the first runs with the verdict ``passed``, each of another model."""
    quoted: set[str] = set()
    for run in runs:
        evidence: tuple[Evidence, ...] = ()
        if run.passed is passed and run.model not in quoted and len(quoted) < exemplars:
            quoted.add(run.model)
            evidence = (quote_verdict(run),)
        yield observe_run(run, evidence)


def quote_verdict(run: Trajectory) -> Evidence:
    """Quote the score of a scored run as logged, or its verdict when no score was logged."""
    pointer = "/passed" if run.score is None else "/score"
    return quote_run(run, pointer, note=f"{run.model}, trial {run.trial}, {'passes' if run.passed else 'fails'}")


def score_matrix(observations: Sequence[Observation]) -> ScoreMatrix:
    """Build the matrix from the notes of :func:`observe_run`: models sorted by name, tasks as they come.

    Runs without a verdict are lost runs: an infrastructure error does not count as a failure.
    """
    models = {name: i for i, name in enumerate(sorted({item.key for item in observations}))}
    tasks = {name: i for i, name in enumerate(dict.fromkeys(item.task_id for item in observations))}
    passed, runs, lost = (np.zeros((len(models), len(tasks)), np.int32) for _ in range(3))
    reasons = np.full(runs.shape, Missing.NOT_RUN, np.int8)
    for item in observations:
        verdict, cell = item.value["passed"], (models[item.key], tasks[item.task_id])
        if verdict is None:
            failed = item.value["status"] == "infrastructure_error"
            reasons[cell] = Missing.INFRASTRUCTURE_ERROR if failed else Missing.NO_VERDICT
            lost[cell] += 1
        else:
            passed[cell] += verdict
            runs[cell] += 1
    reasons[(runs > 0) & (lost == 0)] = 0
    return ScoreMatrix(tuple(models), tuple(tasks), passed, runs, lost, reasons)


def scores_of(matrix: ScoreMatrix) -> Floats:
    """Share of the scored runs that passed, models × tasks; NaN where there is none."""
    return np.where(matrix.scored, matrix.values, np.nan)


def mean_elsewhere(values: Floats) -> Floats:
    """For every cell, the mean of its row over the other columns that hold a value; NaN where no other does.

    >>> mean_elsewhere(np.array([[1.0, 0.0, np.nan]])).tolist()
    [[0.0, 1.0, 0.5]]
    """
    seen = ~np.isnan(values)
    filled = np.where(seen, values, 0.0)
    others = seen.sum(axis=1, keepdims=True) - seen
    rest = filled.sum(axis=1, keepdims=True) - filled
    means: Floats = np.divide(rest, others, out=np.full(values.shape, np.nan), where=others > 0)
    return means


MIN_MODELS = 5
"""From five models on, agreement by chance is below 5 % for models that pass half of the time (1/2⁵ = 3 %)."""
EXEMPLARS = 3
"""Runs quoted per task, each of another model."""


class Unanimous(SuiteDetector):
    """Flags a task when every scored run of at least five models has the same verdict.

    Models are what is counted: trials of one model depend on each other. ``chance`` is the probability that
    independent models agree so, each passing with its rate on its other tasks; the smaller it is, the more does the
    task is unusual. A model without other tasks leaves it unchanged.
    """

    passed: ClassVar[bool]
    """The verdict that all runs share."""

    version = "1"
    category = "suspicious-score-pattern"
    tier = Tier.SIGNAL
    needs_runs = True
    fix: ClassVar[str]
    """What to look at."""

    def observe(self, task: AgentTask, runs: Iterator[Trajectory]) -> Iterable[Observation]:
        """Note the verdict of each run and quote a few."""
        return observe_runs(runs, self.passed, EXEMPLARS)

    def conclude(self, observations: Sequence[Observation]) -> Iterable[Conclusion | Undecided]:
        """Yield one signal per task on which all models agree."""
        matrix = score_matrix(observations)
        scores = scores_of(matrix)
        rates = mean_elsewhere(scores)
        quotes: dict[str, list[Evidence]] = defaultdict(list)
        for item in observations:
            quotes[item.task_id].extend(item.evidence)
        few: dict[int, list[str]] = defaultdict(list)
        for column, task in enumerate(matrix.tasks):
            seen = matrix.runs[:, column] > 0
            models = int(seen.sum())
            if models < MIN_MODELS:
                few[models].append(task)
            elif bool((scores[seen, column] == self.passed).all()):
                elsewhere = rates[seen, column]
                agreeing = elsewhere if self.passed else 1 - elsewhere
                low, high = wilson(models if self.passed else 0, models)
                measures = {
                    "models": models,
                    "runs": int(matrix.runs[:, column].sum()),
                    "unscored_runs": int(matrix.lost[:, column].sum()),
                    "low": low,
                    "high": high,
                    "chance": float(np.nanprod(agreeing)),
                }
                yield Conclusion(task_ids=(task,), hit=self._hit(task, measures, tuple(quotes[task])))
        for models, tasks in sorted(few.items()):
            reason = f"{models} models with a scored run; at least {MIN_MODELS} are needed"
            yield Undecided(task_ids=tuple(tasks), reason=reason)

    def _hit(self, task: str, measures: dict[str, float], evidence: tuple[Evidence, ...]) -> Hit:
        verb = "pass" if self.passed else "fail"
        return Hit(
            claim=f"All {measures['models']:.0f} models {verb} task {task} in all {measures['runs']:.0f} runs (95 % "
            f"interval of the pass rate over models: {measures['low']:.1%} to {measures['high']:.1%}).",
            fix=self.fix,
            cause=f"task {task}",
            evidence=evidence,
            measures=measures,
        )
