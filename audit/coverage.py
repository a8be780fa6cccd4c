"""What every check did on every task, as one small number per pair: a benchmark has millions of pairs."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import overload

import numpy as np
from numpy.typing import NDArray

from agenthard.taxonomy.finding import Coverage, Status

Outcome = tuple[Status, str]
"""Status of a pair of task and check, and the reason."""
RAN = (Status.CLEAN, Status.FLAGGED)
"""Statuses of a check that ran."""


class CoverageTable(Sequence[Coverage]):
    """A sequence of rows, ordered by task and then by check. Rows are made when they are read.

    ``codes`` has one row per task and one column per check. A code is a position in ``outcomes``; 0 means that the
    pair has no row.
    """

    def __init__(self, tasks: Sequence[str], checks: Sequence[str]) -> None:
        """Make a table without rows.

        Args:
            tasks: ids of the tasks.
            checks: ids of the checks.
        """
        self.tasks, self.checks = tuple(tasks), tuple(checks)
        self.codes: NDArray[np.unsignedinteger] = np.zeros((len(self.tasks), len(self.checks)), np.uint8)
        self.outcomes: list[Outcome] = [(Status.NOT_CHECKED, "")]
        self._known: dict[Outcome, int] = {}

    @classmethod
    def of(cls, rows: Iterable[Coverage]) -> "CoverageTable":
        """Make a table of rows; of two rows on one pair the last counts."""
        rows = list(rows)
        table = cls(list(dict.fromkeys(row.task_id for row in rows)), list(dict.fromkeys(row.check for row in rows)))
        for row in rows:
            table.put(row)
        return table

    @classmethod
    def restored(
        cls, tasks: Sequence[str], checks: Sequence[str], outcomes: Iterable[Outcome], codes: NDArray[np.integer]
    ) -> "CoverageTable":
        """Make a table of its parts; ``outcomes`` are those from code 1 on."""
        table = cls(tasks, checks)
        numbers = np.array([0, *(table.code(*outcome) for outcome in outcomes)])
        table.codes = numbers[codes].astype(table.codes.dtype)
        return table

    @classmethod
    def merged(cls, tasks: Sequence[str], checks: Sequence[str], parts: Iterable["CoverageTable"]) -> "CoverageTable":
        """Join tables; of two rows on one pair the later table's counts.

        Args:
            tasks: ids of all tasks.
            checks: ids of the checks to take.
            parts: the tables.

        Raises:
            KeyError: A table has another task.
        """
        table = cls(tasks, checks)
        for part in parts:
            table.take(part)
        return table

    def take(self, part: "CoverageTable") -> None:
        """Take the rows of another table, as far as their checks are in this one.

        Raises:
            KeyError: The other table has another task.
        """
        columns = [number for number, check in enumerate(part.checks) if check in self.column]
        there = part.codes[:, columns]
        numbers = np.zeros(len(part.outcomes), np.int64)
        for code in np.flatnonzero(np.bincount(there.ravel())).tolist():
            numbers[code] = self.code(*part.outcomes[code]) if code else 0
        place = np.ix_([self.row[task] for task in part.tasks], [self.column[part.checks[n]] for n in columns])
        self.codes[place] = np.where(there != 0, numbers[there], self.codes[place])

    @cached_property
    def row(self) -> dict[str, int]:
        """Position of each task."""
        return {task: number for number, task in enumerate(self.tasks)}

    @cached_property
    def column(self) -> dict[str, int]:
        """Position of each check."""
        return {check: number for number, check in enumerate(self.checks)}

    def code(self, status: Status, reason: str = "") -> int:
        """Return the number of an outcome, which is given one if it is new."""
        known = self._known.get((status, reason))
        if known is None:
            known = self._known[status, reason] = len(self.outcomes)
            self.outcomes.append((status, reason))
            if known > np.iinfo(self.codes.dtype).max:
                self.codes = self.codes.astype(np.uint16 if self.codes.dtype == np.uint8 else np.uint32)
        return known

    def set(self, row: int, column: int, status: Status, reason: str = "") -> None:
        """Set the outcome of the task and the check at these positions."""
        code = self.code(status, reason)
        self.codes[row, column] = code

    def put(self, row: Coverage) -> None:
        """Set the outcome of a pair."""
        self.set(self.row[row.task_id], self.column[row.check], row.status, row.reason)

    def status(self, task_id: str, check: str) -> Status:
        """Return the status of a pair.

        Raises:
            KeyError: It has no row.
        """
        code = self.codes[self.row[task_id], self.column[check]]
        if not code:
            raise KeyError((task_id, check))
        status, _ = self.outcomes[int(code)]
        return status

    def having(self, *statuses: Status) -> NDArray[np.bool_]:
        """Return which pairs have one of the statuses: tasks × checks."""
        chosen = np.array([status in statuses for status, _ in self.outcomes])
        chosen[0] = False
        found: NDArray[np.bool_] = chosen[self.codes]
        return found

    def tasks_having(self, *statuses: Status) -> list[str]:
        """Return the tasks with a row of one of the statuses."""
        found: NDArray[np.bool_] = np.any(self.having(*statuses), axis=1)
        return [self.tasks[row] for row in np.flatnonzero(found)]

    def of_task(self, task_id: str) -> tuple[Coverage, ...]:
        """Return the rows of one task; none for a task that the table does not have."""
        position = self.row.get(task_id)
        return () if position is None else tuple(self._rows(position, position + 1))

    def updated(self, other: "CoverageTable") -> "CoverageTable":
        """Return a copy in which the rows of another table replace those on the same pairs."""
        return CoverageTable.merged(self.tasks, self.checks, [self, other])

    def without(self, *checks: str) -> "CoverageTable":
        """Return the table without the rows of some checks."""
        return CoverageTable.merged(self.tasks, [check for check in self.checks if check not in checks], [self])

    def places(self, most: int) -> Iterator[NDArray[np.int64]]:
        """Yield the positions of all rows in the flattened ``codes``, at most ``most`` at a time."""
        codes, found = self.codes.ravel(), np.zeros(0, np.int64)
        for start in range(0, codes.size, most):
            found = np.concatenate([found, start + np.flatnonzero(codes[start : start + most])])
            if len(found) >= most:
                yield found[:most]
                found = found[most:]
        if len(found):
            yield found

    def _rows(self, start: int, stop: int) -> Iterator[Coverage]:
        for task_id, codes in zip(self.tasks[start:stop], self.codes[start:stop], strict=True):
            for check, code in zip(self.checks, codes.tolist(), strict=True):
                if code:
                    status, reason = self.outcomes[code]
                    yield Coverage(task_id=task_id, check=check, status=status, reason=reason)

    def __iter__(self) -> Iterator[Coverage]:
        return self._rows(0, len(self.tasks))

    def __len__(self) -> int:
        return int(np.count_nonzero(self.codes))

    @overload
    def __getitem__(self, index: int) -> Coverage: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Coverage, ...]: ...
    def __getitem__(self, index: int | slice) -> Coverage | tuple[Coverage, ...]:
        if isinstance(index, slice):
            return tuple(self[number] for number in range(*index.indices(len(self))))
        row, column = divmod(int(np.flatnonzero(self.codes)[index]), len(self.checks))
        status, reason = self.outcomes[self.codes[row, column]]
        return Coverage(task_id=self.tasks[row], check=self.checks[column], status=status, reason=reason)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CoverageTable):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]  # it can change
