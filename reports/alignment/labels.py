"""Label files of any number of annotators, read together; sheets that are filled in part are fine."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agenthard.reports.labels import Label, LabelError, label_of
from agenthard.taxonomy.record import Record


class SecondLookLine(Record):
    """What somebody wrote who looked again at a task on which labels and flags differ."""

    task_id: str
    """Task."""
    annotator: str
    """Who looked."""
    confirmed_later: bool | None
    """Whether the flaw is there after all."""
    mode: str | None
    """Why the judge was wrong."""


class LabelSet(Record):
    """All labels that were given."""

    labels: tuple[Label, ...]
    """One per task and annotator, in the order of the files."""
    second_looks: tuple[SecondLookLine, ...]
    """Lines without a verdict that tell of a second look; they are no labels of their own."""
    open: int
    """Lines of a sheet that nobody has filled in yet."""
    replaced: int
    """Lines that a later line of the same annotator on the same task took the place of."""

    @property
    def annotators(self) -> tuple[str, ...]:
        """Names of those who labelled, in order of their first label."""
        return tuple(dict.fromkeys(label.annotator or "" for label in self.labels))


def read_label_set(paths: Sequence[Path], truth: str = "flawed") -> LabelSet:
    """Read label files (JSON Lines, see ``label_of``).

    A line without an ``annotator`` is by the file's name. A line whose field ``truth`` is null is not filled in yet:
    it is counted and says nothing. A line without that field that has ``confirmed_later`` or ``mode`` tells of a second
    look. A later line of the same annotator on the same task counts instead of the earlier one.

    Raises:
        LabelError: when a file cannot be read, a line is no label, or there is no label at all.
    """
    found: dict[tuple[str, str], Label] = {}
    looks: list[SecondLookLine] = []
    still_open = replaced = 0
    for path in paths:
        for place, row in _rows(path):
            row = {"annotator": path.stem, **_given(row)}
            again = truth not in row and row.keys() & {"confirmed_later", "mode"}
            try:
                if not again and row[truth] is None:
                    still_open += 1
                    continue
                label = label_of({**row, truth: False} if again else row, truth)
            except (ValueError, KeyError, TypeError) as error:
                what = f"{type(error).__name__}: {error}"
                raise LabelError(f"{place}: {what}; a label needs task_id and the boolean field {truth!r}") from error
            key = (label.task_id, label.annotator or "")
            if again:
                answer = {name: getattr(label, name) for name in ("confirmed_later", "mode")}
                if any(value is not None for value in answer.values()):
                    looks.append(SecondLookLine(task_id=key[0], annotator=key[1], **answer))
                else:
                    still_open += 1
                continue
            replaced += key in found
            found[key] = label
    if not found:
        left = f"; {still_open} lines are not filled in" if still_open else ""
        raise LabelError(f"{', '.join(path.name for path in paths)}: no labels{left}")
    return LabelSet(labels=tuple(found.values()), second_looks=tuple(looks), open=still_open, replaced=replaced)


def _rows(path: Path) -> list[tuple[str, dict[str, Any]]]:
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise LabelError(f"{path}: cannot read it: {error}") from error
    rows = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        place = f"{path.name}, line {number}"
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise LabelError(f"{place}: not JSON ({error}); expected one JSON object per line") from error
        if not isinstance(row, dict):
            raise LabelError(f"{place}: expected a JSON object with task_id and a verdict")
        rows.append((place, row))
    return rows


def _given(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key != "annotator" or value not in (None, "")}
