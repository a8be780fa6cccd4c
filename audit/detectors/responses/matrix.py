"""The model × task matrix of scores, built from what was observed of each run."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit.detectors.base import Observation
from audit.evidence import quote_run
from taxonomy.task import AgentTask
from taxonomy.trajectory import Trajectory

NO_RUN = "no run"
"""Why a cell is missing when the model never ran the task."""


def observe_runs(task: AgentTask, runs: Iterable[Trajectory], *, quoted: Sequence[bool], limit: int) -> Iterator[Observation]:
    """Note model, trial, verdict and status of each run.

    Args:
        task: the task.
        runs: its runs.
        quoted: verdicts whose runs are quoted as evidence (the score as logged, or the verdict when there is no score).
        limit: most runs quoted.
    """
    for run in runs:
        evidence = ()
        if limit > 0 and is_scored(run) and run.passed in quoted:
            limit -= 1
            evidence = (_verdict(run),)
        value = {"trial": run.trial, "passed": run.passed, "status": run.status}
        yield Observation(task_id=task.id, key=run.model, value=value, evidence=evidence)
