"""Label files: what people say about tasks, read for `agenthard score` and `agenthard align`."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.record import Record


class LabelError(AgentHardError):
    """The label file cannot be used; the message names the line and what is expected."""

    code = "AH709"
    remedy = "Correct the label file at the line that the message names."


class Label(Record):
    """What people say about one task."""

    task_id: str
    """Id of AgentTask."""
    flawed: bool
    """True when the label set calls it flawed."""
    severity: str | None = None
    """Severity in the label set's own words."""
    cluster: str | None = None
    """Tasks of one cluster share their flaw; they count once in the clustered figures."""
    category: str | None = None
    """Kind of flaw in the label set's own words."""
    component: str | None = None
    """Part of the task that is flawed, in the label set's own words."""
    places: tuple[str, ...] = ()
    """Where the flaw is: JSON Pointers into the AgentTask record, or fields in the label set's own words."""
    annotator: str | None = None
    """Who labelled it."""
    mode: str | None = None
    """Why the judge was wrong on it, in the words of an annotator."""
    confirmed_later: bool | None = None
    """Result of a second look at a flag that the first labels call wrong: True = the flaw is there after all."""


class LabelFile(Record):
    """One label file; a label is flawed, sound or not given."""

    labels: tuple[Label, ...]
    """Lines that say flawed or sound."""
    unlabelled: tuple[str, ...]
    """Ids of the tasks whose line says null: undecided. They count in no rate."""


def read_labels(path: Path, truth: str = "flawed") -> LabelFile:
    """Read labels from JSON Lines.

    A line needs ``task_id`` and the field ``truth``: true, false, or null for a task that is not labelled. ``domain``
    joins the id as ``domain/task_id``; ``severity``, ``cluster``, ``component``, ``category`` and the place of the flaw
    (``pointer``, ``pointers`` or ``fields_material``) are optional.

    Raises:
        LabelError: when the file cannot be read, or a line does not have them.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise LabelError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
    labels: list[Label] = []
    unlabelled: list[str] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            if not isinstance(row, dict):
                raise TypeError("not a JSON object")
            if row[truth] is None:
                unlabelled.append(task_id_of(row))
            else:
                labels.append(label_of(row, truth))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            what = f"{type(error).__name__}: {error}"
            raise LabelError(
                f"{path.name}, line {number}: {what}; a label needs task_id and the field {truth!r}: true, false, or "
                "null for a task that is not labelled"
            ) from error
    if not labels:
        counted = f" ({len(unlabelled)} lines where {truth!r} is null)" if unlabelled else ""
        raise LabelError(f"{path.name}: no labels{counted}; expected one JSON object per line")
    return LabelFile(labels=tuple(labels), unlabelled=tuple(unlabelled))


def task_id_of(row: Mapping[str, Any]) -> str:
    """Return the id of AgentTask that a line of a label file is about."""
    task_id = str(row["task_id"])
    if row.get("domain") and not task_id.startswith(f"{row['domain']}/"):
        return f"{row['domain']}/{task_id}"
    return task_id


def label_of(row: Mapping[str, Any], truth: str = "flawed") -> Label:
    """Turn one line of a label file into a label.

    Args:
        row: the JSON object of the line (see ``read_labels``). ``category``, ``component``, ``annotator``, ``mode`` and
            ``confirmed_later`` are taken where they are given; an empty text counts as not given.
        truth: boolean field that says what is flawed.

    Raises:
        KeyError: without ``task_id`` or the field ``truth``.
        TypeError: when a field that should be true or false is neither.
    """
    if not isinstance(row[truth], bool):
        raise TypeError(f"{truth} is {row[truth]!r}, not true or false")
    if not isinstance(row.get("confirmed_later"), bool | None):
        raise TypeError(f"confirmed_later is {row['confirmed_later']!r}, not true, false or null")
    texts = {name: row.get(name) for name in ("cluster", "category", "component", "annotator", "mode")}
    return Label(
        task_id=task_id_of(row),
        flawed=row[truth],
        severity=row.get("severity"),
        confirmed_later=row.get("confirmed_later"),
        places=_places(row),
        **{name: None if text in (None, "") else str(text) for name, text in texts.items()},
    )


def _places(row: Mapping[str, Any]) -> tuple[str, ...]:
    found: list[str] = []
    for name in ("pointer", "pointers", "fields_material"):
        value = row.get(name)
        found += [str(item) for item in (value if isinstance(value, list) else [value]) if item not in (None, "")]
    return tuple(dict.fromkeys(found))
