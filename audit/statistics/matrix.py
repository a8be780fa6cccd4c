"""The model × task matrix: pass, fail or missing with a reason, for one or several runs per cell."""

import hashlib
import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agenthard.taxonomy.errors import AgentHardError


class MatrixError(AgentHardError, ValueError):
    """The input does not make a matrix; the message names the model, the task and what to do."""

    code = "AH701"
    remedy = "Correct the table at the model and task that the message names."


class DifferentModelsError(MatrixError):
    """Two sets of scores are about different models, so they may not be compared."""

    code = "AH702"
    remedy = "Compare the models that both sides have (`--common-models`)."


class Missing(IntEnum):
    """Why a run has no verdict; 0 in ``ScoreMatrix.reasons`` means that nothing is missing."""

    NOT_RUN = 1
    NO_VERDICT = 2
    INFRASTRUCTURE_ERROR = 3
    JUDGE_ERROR = 4


@dataclass(frozen=True, eq=False)
class ScoreMatrix:
    """Scores of models (rows) on tasks (columns). The arrays are read-only; every selection makes a new matrix.

    With several runs per cell a cell's value is the share of its scored runs that passed. Scores between 0 and 1
    (partial credit) are summed in ``passed``. Where two models tie, all rankings keep the order of ``models``.

    Attributes:
        models: names of the models, in the order of the rows.
        tasks: ids of the tasks, in the order of the columns.
        passed: runs that passed, per cell; the sum of their scores where these are fractions.
        runs: runs with a verdict, per cell; 0 where the cell is missing.
        lost: runs without a verdict, per cell.
        reasons: a ``Missing`` code where a run was lost or never made, else 0.
        weights: weight of each task in a score, above 0; None where all count equally.

    Raises:
        MatrixError: for ids that occur twice, shapes that do not fit, or counts that contradict each other.
    """

    models: tuple[str, ...]
    tasks: tuple[str, ...]
    passed: NDArray[np.int32] | NDArray[np.float64]
    runs: NDArray[np.int32]
    lost: NDArray[np.int32]
    reasons: NDArray[np.int8]
    weights: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        for kind, ids in (("model", self.models), ("task", self.tasks)):
            if len(set(ids)) < len(ids):
                twice = sorted({name for name in ids if ids.count(name) > 1})
                raise MatrixError(
                    f"the matrix is undefined because {len(twice)} {kind} id(s) occur twice, the first is {twice[0]!r}:"
                    f" rename or remove one of them"
                )
        shape = (len(self.models), len(self.tasks))
        for name in ("passed", "runs", "lost", "reasons"):
            array = getattr(self, name)
            if array.shape != shape:
                raise MatrixError(f"{name} has shape {array.shape}, but there are {shape[0]} models × {shape[1]} tasks")
            array.setflags(write=False)
        if (self.passed < 0).any() or (self.passed > self.runs).any():
            raise MatrixError("a cell has more passed runs than runs, or a negative number of them")
        if self.weights is not None:
            if self.weights.shape != shape[1:] or not (np.isfinite(self.weights) & (self.weights > 0)).all():
                raise MatrixError("weights are finite numbers above 0, one per task")
            self.weights.setflags(write=False)

    @classmethod
    def from_array(cls, values: ArrayLike, models: Sequence[str], tasks: Sequence[str]) -> "ScoreMatrix":
        """Build a matrix of single runs.

        Args:
            values: models × tasks; 1 (or True) passed, 0 (or False) failed, between them partial credit, None missing.
            models: one name per row.
            tasks: one id per column.

        Returns:
            The matrix; missing cells carry the reason NOT_RUN.

        Raises:
            MatrixError: for NaN, for numbers outside 0..1, for a shape that does not fit, for ids that occur twice.

        >>> ScoreMatrix.from_array([[1, 0], [1, None]], ["a", "b"], ["t1", "t2"]).coverage
        (3, 4)
        """
        cells = np.asarray(values, dtype=object)
        if cells.shape != (len(models), len(tasks)):
            raise MatrixError(f"values have shape {cells.shape}, not {len(models)} models × {len(tasks)} tasks")
        absent = np.frompyfunc(lambda cell: cell is None, 1, 1)(cells).astype(np.bool_)
        usable = np.array([[_is_score(cell) for cell in row] for row in cells.tolist()], np.bool_).reshape(cells.shape)
        for row, column in np.argwhere(~usable):
            raise MatrixError(
                f"the matrix is undefined because model {models[row]!r} has the score {cells[row, column]!r} on task"
                f" {tasks[column]!r}: a score is a number from 0 to 1, or None where there is none"
            )
        passed = np.where(absent, 0.0, cells).astype(np.float64)
        return cls(
            tuple(models),
            tuple(tasks),
            whole(passed),
            (~absent).astype(np.int32),
            np.zeros(cells.shape, np.int32),
            np.where(absent, Missing.NOT_RUN, 0).astype(np.int8),
        )

    @cached_property
    def scored(self) -> NDArray[np.bool_]:
        """Cells that have a value."""
        return self.runs > 0

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """Share of passed runs per cell; 0 where the cell is missing, so use it with ``scored``."""
        return self.passed / np.maximum(self.runs, 1)

    @property
    def binary(self) -> bool:
        """Whether every value is pass or fail: no cell holds more than one run or partial credit."""
        return bool((self.runs <= 1).all()) and not self.fractional

    @property
    def fractional(self) -> bool:
        """Whether some run has partial credit."""
        return self.passed.dtype.kind == "f"

    @property
    def plain(self) -> bool:
        """Whether a score is a number of tasks out of n: pass or fail, and every task counts equally."""
        return self.binary and self.weights is None

    @property
    def coverage(self) -> tuple[int, int]:
        """Cells that have a value, and all cells."""
        return int(self.scored.sum()), self.scored.size

    @property
    def lost_runs(self) -> dict[str, int]:
        """Runs without a verdict by reason, and under "not_run" the cells without any run; only reasons that occur."""
        counts = {reason: int(self.lost[self.reasons == reason].sum()) for reason in Missing}
        counts[Missing.NOT_RUN] = int((self.reasons == Missing.NOT_RUN).sum())
        return {reason.name.lower(): count for reason, count in counts.items() if count}

    @property
    def split_id(self) -> str:
        """Twelve hexadecimal digits of the SHA-256 of the sorted task ids: equal splits have equal ids."""
        return hashlib.sha256(json.dumps(sorted(self.tasks)).encode()).hexdigest()[:12]

    def take(self, positions: NDArray[Any] | Sequence[int]) -> "ScoreMatrix":
        """Keep the tasks at these columns, in this order."""
        return self._cut(np.arange(len(self.models)), np.asarray(positions, dtype=np.intp))

    def keep(self, tasks: Collection[str]) -> "ScoreMatrix":
        """Keep these tasks, in the order of the matrix.

        Raises:
            MatrixError: when a task is not in the matrix.
        """
        self._known(tasks)
        wanted = set(tasks)
        return self.take([i for i, task in enumerate(self.tasks) if task in wanted])

    def drop(self, tasks: Collection[str]) -> "ScoreMatrix":
        """Leave these tasks out.

        Raises:
            MatrixError: when a task is not in the matrix.
        """
        self._known(tasks)
        unwanted = set(tasks)
        return self.take([i for i, task in enumerate(self.tasks) if task not in unwanted])

    def keep_models(self, models: Collection[str]) -> "ScoreMatrix":
        """Keep these models, in the order of the matrix.

        Raises:
            MatrixError: when a model is not in the matrix.
        """
        unknown = sorted(set(models) - set(self.models))
        if unknown:
            raise MatrixError(f"the matrix has no model {unknown[0]!r} (and {len(unknown) - 1} more are unknown)")
        wanted = set(models)
        rows = [i for i, model in enumerate(self.models) if model in wanted]
        return self._cut(np.array(rows, dtype=np.intp), np.arange(len(self.tasks)))

    def complete_tasks(self) -> "ScoreMatrix":
        """Keep the tasks on which every model has a score; the matrix itself where these are all."""
        if self.scored.all():
            return self
        return self.take(np.flatnonzero(self.scored.all(axis=0)))

    def complete_models(self) -> "ScoreMatrix":
        """Keep the models that have a score on every task."""
        return self.keep_models([self.models[i] for i in np.flatnonzero(self.scored.all(axis=1))])

    def scores(self) -> dict[str, float]:
        """Mean value of each model over the tasks that every model has a score on, in the order of ``models``.

        Returns:
            Model → score in 0..1; empty when no task is complete.
        """
        complete = self.complete_tasks()
        if not complete.tasks:
            return {}
        return dict(zip(self.models, complete.means().tolist(), strict=True))

    def means(self) -> NDArray[np.float64]:
        """Mean of each row, weighted where tasks have weights; for complete matrices with a task."""
        if self.weights is None:
            return np.asarray(self.values.mean(axis=1))
        return np.asarray(self.values @ self.weights / self.weights.sum())

    def _cut(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> "ScoreMatrix":
        return ScoreMatrix(
            tuple(self.models[i] for i in rows.tolist()),
            tuple(self.tasks[i] for i in columns.tolist()),
            self.passed.take(rows, axis=0).take(columns, axis=1),
            self.runs.take(rows, axis=0).take(columns, axis=1),
            self.lost.take(rows, axis=0).take(columns, axis=1),
            self.reasons.take(rows, axis=0).take(columns, axis=1),
            None if self.weights is None else self.weights.take(columns),
        )

    def _known(self, tasks: Collection[str]) -> None:
        unknown = sorted(set(tasks) - set(self.tasks))
        if unknown:
            raise MatrixError(f"{len(unknown)} task(s) are not in the matrix, the first is {unknown[0]!r}")


def _is_score(cell: Any) -> bool:
    return cell is None or (not isinstance(cell, str) and 0 <= cell <= 1)


def whole(values: NDArray[np.float64]) -> NDArray[np.int32] | NDArray[np.float64]:
    """Numbers of passed runs as integers, unless some are fractions."""
    counts = values.astype(np.int32)
    return counts if (counts == values).all() else values


def require_same_models(first: Iterable[str], second: Iterable[str]) -> None:
    """Refuse a comparison of scores of different models.

    Args:
        first: models of one side.
        second: models of the other side.

    Raises:
        DifferentModelsError: naming the models that only one side has.
    """
    one, other = set(first), set(second)
    if one != other:
        raise DifferentModelsError(
            f"the comparison is undefined because the models differ: only the first side has {sorted(one - other)},"
            f" only the second has {sorted(other - one)}; keep the {len(one & other)} models that both have"
        )


def why_unusable(matrix: ScoreMatrix) -> str | None:
    """Name what makes every comparison of models on this matrix undefined.

    Args:
        matrix: the scores; usually reduced to its complete tasks before.

    Returns:
        The reason, to follow "undefined because", or None when models can be compared.
    """
    if len(matrix.models) < 2:
        return f"{len(matrix.models)} model(s) were given; a comparison needs two"
    if len(matrix.tasks) < 2:
        return f"{len(matrix.tasks)} task(s) have a score for every model; a comparison needs two"
    if not matrix.passed.any():
        return "every scored run fails: the matrix holds no difference to measure"
    if (matrix.passed == matrix.runs).all():
        return "every scored run passes: the matrix holds no difference to measure"
    return None
