"""Accuracy per model, read both ways: infrastructure errors left out, and counted as failures."""

from collections.abc import Iterable
from dataclasses import dataclass

from agenthard.audit.statistics.intervals import clustered_wilson, wilson
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.trajectory import Trajectory


class ModelRow(Record):
    """One model's runs."""

    model: str
    """Model."""
    protocol: str
    """Experiment that the runs belong to; empty when the logs do not say."""
    runs: int
    """All runs."""
    tasks: int
    """Distinct tasks run."""
    passed: int
    """Runs that passed."""
    infrastructure_errors: int
    """Runs that could not be scored: an infrastructure or judge error is not a failure of the model."""
    unscored: int = 0
    """Finished runs without a verdict in the log; they are not counted elsewhere."""
    accuracy: float | None
    """passed / (runs - infrastructure_errors - unscored); None when nothing could be scored."""
    low: float | None
    """Lower end of the 95 % Wilson interval of ``accuracy``; trials of one task are a cluster, not independent."""
    high: float | None
    """Upper end."""
    accuracy_counting_errors: float
    """passed / (runs - unscored): every infrastructure error counted as a failure."""


class Leaderboard:
    """Collects runs one at a time and summarises them per model and experiment."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str], dict[str, _TaskCounts]] = {}

    def add(self, run: Trajectory) -> None:
        """Count one run."""
        tasks = self._counts.setdefault((run.protocol or "", run.model), {})
        counts = tasks.setdefault(run.task_id, _TaskCounts())
        counts.runs += 1
        counts.passed += run.passed is True
        counts.scored += run.passed is not None
        counts.unscored += run.passed is None and run.status in ("ok", "agent_error")

    def rows(self) -> list[ModelRow]:
        """Return the rows, best accuracy first within each experiment; ties in order of name.

        A model without any verdict or error, such as a recorded path, is not ranked.
        """
        rows = [_row(key, list(tasks.values())) for key, tasks in self._counts.items()]
        rows = [row for row in rows if row.runs > row.unscored]
        return sorted(rows, key=lambda row: (row.protocol, -(row.accuracy or 0.0), row.model))


@dataclass
class _TaskCounts:
    runs: int = 0
    scored: int = 0
    unscored: int = 0
    passed: int = 0


def _row(key: tuple[str, str], tasks: list[_TaskCounts]) -> ModelRow:
    runs, scored, unscored, passed = (
        sum(getattr(task, name) for task in tasks) for name in ("runs", "scored", "unscored", "passed")
    )
    repeated = any(task.scored > 1 for task in tasks)
    low, high = clustered_wilson((t.passed, t.scored) for t in tasks) if repeated else wilson(passed, scored)
    return ModelRow(
        model=key[1],
        protocol=key[0],
        runs=runs,
        tasks=len(tasks),
        passed=passed,
        infrastructure_errors=runs - scored - unscored,
        unscored=unscored,
        accuracy=passed / scored if scored else None,
        low=low if scored else None,
        high=high if scored else None,
        accuracy_counting_errors=passed / (runs - unscored) if runs > unscored else 0.0,
    )


def leaderboard(runs: Iterable[Trajectory]) -> list[ModelRow]:
    """Summarise runs per model and experiment."""
    board = Leaderboard()
    for run in runs:
        board.add(run)
    return board.rows()
