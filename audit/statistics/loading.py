"""Score matrices from trajectories, from rows, and from CSV, JSON or Parquet files."""

import csv
import gzip
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from agenthard.audit.statistics.matrix import MatrixError, Missing, ScoreMatrix, whole
from agenthard.taxonomy import Trajectory

if TYPE_CHECKING:
    import pandas

Infrastructure = Literal["missing", "failure"]

_TASK_COLUMNS = ("task", "task_id")
_SCORE_COLUMNS = ("score", "reward", "passed")
_LOST = {"infrastructure_error": Missing.INFRASTRUCTURE_ERROR, "judge_error": Missing.JUDGE_ERROR}


def matrix_from_trajectories(
    trajectories: Iterable[Trajectory], infrastructure: Infrastructure = "missing"
) -> ScoreMatrix:
    """Collect runs in a matrix; repetitions of a task by a model share a cell.

    A run that the agent broke (``agent_error``) without a verdict is a failure of the model. A run that the
    infrastructure or the judge broke is none: it is missing.

    Args:
        trajectories: the runs; models and tasks keep the order of their first run.
        infrastructure: "missing" leaves runs with an infrastructure error out; "failure" is the other reading, in which
            they count as failed runs, as in leaderboards that score a crashed run 0.

    Returns:
        The matrix.

    Raises:
        MatrixError: when two runs have the same model, task and trial.
    """
    cells = _Cells()
    for run in trajectories:
        passed, reason = run.passed, _LOST.get(run.status, Missing.NO_VERDICT)
        if passed is None and (
            run.status == "agent_error" or (run.status == "infrastructure_error" and infrastructure == "failure")
        ):
            passed = False
        cells.add(run.model, run.task_id, run.trial, passed, reason)
    return cells.matrix()


def matrix_from_rows(rows: Iterable[Mapping[str, Any]]) -> ScoreMatrix:
    """Turn a long table into a matrix.

    Args:
        rows: mappings with ``model``; ``task`` or ``task_id``, put behind ``domain`` and a slash where the row has one;
            ``score``, ``reward`` or ``passed`` (0 to 1, true, false; None or an empty text is missing); optional
            ``trial``, and ``weight`` of the task, equal in all its rows.

    Returns:
        The matrix; models and tasks keep the order of their first row.

    Raises:
        MatrixError: for a row without these columns, a score outside 0..1, two rows for one run, or two weights for
            one task.
    """
    cells = _Cells()
    for number, row in enumerate(rows, 1):
        task, score = _first(row, _TASK_COLUMNS), _first(row, _SCORE_COLUMNS)
        if task is None or score is None or row.get("model") in (None, ""):
            raise MatrixError(
                f"row {number} needs the columns model, {' or '.join(_TASK_COLUMNS)}, and"
                f" {' or '.join(_SCORE_COLUMNS)}; it has {sorted(row)}"
            )
        task_id = f"{row['domain']}/{row[task]}" if row.get("domain") else str(row[task])
        where = f"row {number} (model {row['model']!r}, task {task_id!r})"
        passed = _parse(row[score], where)
        if "weight" in row:
            cells.weigh(task_id, _weight(row["weight"], where))
        cells.add(str(row["model"]), task_id, row.get("trial"), passed, Missing.NO_VERDICT)
    return cells.matrix()


def read_matrix(path: Path) -> ScoreMatrix:
    """Read a matrix from a file.

    A table whose columns include ``model``, a task and a score is long (see ``matrix_from_rows``). Otherwise it is
    wide: with the first column ``model`` a row is a model and the other columns are tasks; with the first column
    ``task`` or ``task_id`` it is the other way round, and a column ``weight`` holds the weights of the tasks. An empty
    cell is missing, a number between 0 and 1 partial credit.

    Args:
        path: ``.csv``, ``.json`` (a list of rows), ``.jsonl``, each also with ``.gz``, or ``.parquet``.

    Returns:
        The matrix, in the order of the file.

    Raises:
        MatrixError: for an unknown kind of file or table, ids that occur twice, NaN, or a score outside 0..1.
    """
    kind = "".join(path.suffixes[-2:] if path.suffix == ".gz" else path.suffixes[-1:]).removesuffix(".gz")
    if kind in (".json", ".jsonl"):
        text = _text(path)
        rows = json.loads(text) if kind == ".json" else [json.loads(line) for line in text.splitlines() if line.strip()]
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise MatrixError(f"{path.name}: expected a list of rows, each an object with model, task and score")
        return matrix_from_rows(rows)
    header: Sequence[str]
    body: Sequence[Sequence[Any]]
    if kind == ".csv":
        header, *body = list(csv.reader(io.StringIO(_text(path)))) or [[]]
    elif kind == ".parquet":
        import pyarrow.parquet as pq

        table = pq.read_table(path)
        header, body = table.column_names, list(zip(*(column.to_pylist() for column in table.columns), strict=True))
    else:
        raise MatrixError(f"{path.name}: a matrix is a .csv, .json, .jsonl (also .gz) or .parquet file, not {kind!r}")
    return _from_table(path.name, header, body)


def matrix_from_frame(frame: "pandas.DataFrame") -> ScoreMatrix:
    """Read a matrix from a data frame with the columns of a table that `read_matrix` reads; NaN is missing.

    Raises:
        MatrixError: for an unknown kind of table, ids that occur twice, or a score outside 0..1.
    """
    cells = frame.astype(object).where(frame.notna(), None)
    return _from_table("the data frame", [str(name) for name in frame.columns], cells.values.tolist())


def _from_table(name: str, header: Sequence[str], body: Sequence[Sequence[Any]]) -> ScoreMatrix:
    for number, row in enumerate(body, 2):
        if len(row) != len(header):
            raise MatrixError(f"{name}: row {number} has {len(row)} cells, the header has {len(header)}")
    if "model" in header and _first(header, _TASK_COLUMNS) and _first(header, _SCORE_COLUMNS):
        return matrix_from_rows(dict(zip(header, row, strict=True)) for row in body)
    if not header or header[0] not in ("model", *_TASK_COLUMNS):
        raise MatrixError(
            f"{name}: the first column of a wide table is called model, task or task_id, here it is"
            f" {header[0] if header else ''!r}; a long table has the columns model, task and score"
        )
    weights = None
    if header[0] != "model" and "weight" in header:
        place = list(header).index("weight")
        weights = np.array([_weight(row[place], f"{name}: {row[0]!r}") for row in body], dtype=np.float64)
        header, *body = ([*row[:place], *row[place + 1 :]] for row in (header, *body))
    rows, columns = [str(row[0]) for row in body], header[1:]
    values = np.empty((len(rows), len(columns)), dtype=object)
    for i, row in enumerate(body):
        values[i] = [_parse(cell, f"{name}: {rows[i]!r}, {columns[j]!r}") for j, cell in enumerate(row[1:])]
    if header[0] == "model":
        return ScoreMatrix.from_array(values, rows, columns)
    found = ScoreMatrix.from_array(values.T, columns, rows)
    return found if weights is None else replace(found, weights=weights)


class _Cells:
    """Collects runs by model and task."""

    def __init__(self) -> None:
        self.models: dict[str, int] = {}
        self.tasks: dict[str, int] = {}
        self.runs: dict[tuple[str, str, Any], float | Missing] = {}
        self.weights: dict[str, float] = {}

    def weigh(self, task: str, weight: float) -> None:
        if self.weights.setdefault(task, weight) != weight:
            raise MatrixError(f"task {task!r} has two weights, {self.weights[task]:g} and {weight:g}: give it one")

    def add(self, model: str, task: str, trial: Any, passed: float | None, reason: Missing) -> None:
        self.models.setdefault(model, len(self.models))
        self.tasks.setdefault(task, len(self.tasks))
        if (model, task, trial) in self.runs:
            raise MatrixError(
                f"the matrix is undefined because model {model!r} has two scores for task {task!r}"
                f" (trial {trial}): number the trials, or keep the runs of one experiment"
            )
        self.runs[model, task, trial] = reason if passed is None else passed

    def matrix(self) -> ScoreMatrix:
        shape = (len(self.models), len(self.tasks))
        passed, (runs, lost) = np.zeros(shape), (np.zeros(shape, np.int32) for _ in range(2))
        reasons = np.full(shape, Missing.NOT_RUN, np.int8)
        for (model, task, _), outcome in self.runs.items():
            cell = self.models[model], self.tasks[task]
            if isinstance(outcome, Missing):
                lost[cell] += 1
                reasons[cell] = outcome
            else:
                runs[cell] += 1
                passed[cell] += outcome
        reasons[(runs > 0) & (lost == 0)] = 0
        weights = np.array([self.weights[task] for task in self.tasks]) if self.weights else None
        return ScoreMatrix(tuple(self.models), tuple(self.tasks), whole(passed), runs, lost, reasons, weights)


def _weight(cell: Any, where: str) -> float:
    try:
        weight = float(cell)
    except (TypeError, ValueError):
        weight = float("nan")
    if not 0 < weight < float("inf"):
        raise MatrixError(f"{where} has the weight {cell!r}: a weight is a number above 0")
    return weight


def _parse(cell: Any, where: str) -> float | None:
    if cell is None or cell == "":
        return None
    value = {"true": 1.0, "false": 0.0}.get(cell.strip().lower(), cell) if isinstance(cell, str) else cell
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if not 0 <= number <= 1:
        raise MatrixError(
            f"the matrix is undefined because {where} has the score {cell!r}: a score is a number from 0 to 1, and"
            f" empty where there is none"
        )
    return number


def _first(names: Iterable[str] | Mapping[str, Any], wanted: Sequence[str]) -> str | None:
    present = set(names)
    return next((name for name in wanted if name in present), None)


def _text(path: Path) -> str:
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8-sig")
