"""The model × task matrix of scores, built from what was observed of each run."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agenthard.audit.detectors.base import Observation
from agenthard.audit.evidence import quote_run
from agenthard.taxonomy.finding import Evidence
from agenthard.taxonomy.trajectory import Trajectory

NO_RUN = "no run"
"""Why a cell is missing when the model never ran the task."""

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


@dataclass(frozen=True)
class ScoreMatrix:
    """Scores of models on tasks. Runs without a verdict are left out: an infrastructure error is no failure."""

    models: tuple[str, ...]
    """Rows, sorted by name."""
    tasks: tuple[str, ...]
    """Columns, in the order of the observations."""
    scores: Floats
    """Share of the scored runs (trials) that passed, models × tasks; NaN where there is none."""
    runs: NDArray[np.int64]
    """Number of scored runs, models × tasks."""
    unscored: dict[tuple[str, str], tuple[str, ...]]
    """Statuses of the runs without a verdict, by (model, task)."""

    @classmethod
    def build(cls, observations: Sequence[Observation]) -> "ScoreMatrix":
        """Build the matrix from the notes of :func:`observe_run`."""
        models = {name: i for i, name in enumerate(sorted({item.key for item in observations}))}
        tasks = {name: i for i, name in enumerate(dict.fromkeys(item.task_id for item in observations))}
        passed = np.zeros((len(models), len(tasks)))
        runs = np.zeros((len(models), len(tasks)), dtype=np.int64)
        unscored: dict[tuple[str, str], tuple[str, ...]] = {}
        for item in observations:
            verdict, cell = item.value["passed"], (models[item.key], tasks[item.task_id])
            if verdict is None:
                name = (item.key, item.task_id)
                unscored[name] = (*unscored.get(name, ()), item.value["status"])
            else:
                passed[cell] += verdict
                runs[cell] += 1
        scores = np.divide(passed, runs, out=np.full(passed.shape, np.nan), where=runs > 0)
        return cls(tuple(models), tuple(tasks), scores, runs, unscored)

    def missing(self, model: str, task: str) -> str | None:
        """Tell why a cell has no score: the statuses of its runs, or that there is no run; None when it has one."""
        if self.runs[self.models.index(model), self.tasks.index(task)]:
            return None
        return ", ".join(sorted(set(self.unscored.get((model, task), ())))) or NO_RUN


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
