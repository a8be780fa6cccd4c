"""Accuracy per model, read both ways: infrastructure errors left out, and counted as failures."""

from collections.abc import Iterable

from audit.intervals import wilson
from taxonomy.record import Record
from taxonomy.trajectory import Trajectory


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
    """Runs that could not be scored: an infrastructure or judge error is no failure of the model."""
    accuracy: float | None
    """passed / (runs - infrastructure_errors); None when nothing could be scored."""
    low: float | None
    """Lower end of the 95 % Wilson interval of ``accuracy``."""
    high: float | None
    """Upper end."""
    accuracy_counting_errors: float
    """passed / runs: every infrastructure error counted as a failure."""


class Leaderboard:
    """Collects runs one at a time and summarises them per model and experiment."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str], list[int]] = {}
        self._tasks: dict[tuple[str, str], set[str]] = {}

    def add(self, run: Trajectory) -> None:
        """Count one run."""
        key = (run.protocol or "", run.model)
        counts = self._counts.setdefault(key, [0, 0, 0])
        counts[0] += 1
        counts[1] += run.passed is True
        counts[2] += run.passed is None
        self._tasks.setdefault(key, set()).add(run.task_id)

    def rows(self) -> list[ModelRow]:
        """Return the rows, best accuracy first within each experiment; ties in order of name."""
        rows = [self._row(key, *counts) for key, counts in self._counts.items()]
        return sorted(rows, key=lambda row: (row.protocol, -(row.accuracy or 0.0), row.model))

    def _row(self, key: tuple[str, str], runs: int, passed: int, errors: int) -> ModelRow:
        scored = runs - errors
        interval = wilson(passed, scored) if scored else None
        return ModelRow(
            model=key[1],
            protocol=key[0],
            runs=runs,
            tasks=len(self._tasks[key]),
            passed=passed,
            infrastructure_errors=errors,
            accuracy=passed / scored if scored else None,
            low=interval[0] if interval else None,
            high=interval[1] if interval else None,
            accuracy_counting_errors=passed / runs,
        )


def leaderboard(runs: Iterable[Trajectory]) -> list[ModelRow]:
    """Summarise runs per model and experiment."""
    board = Leaderboard()
    for run in runs:
        board.add(run)
    return board.rows()
