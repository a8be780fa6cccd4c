"""Verdicts as files: events as JSON Lines or CSV, labels and sheets of ``agenthard align``."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Literal
from uuid import uuid4

from agenthard.audit.decisions.policy import Decision
from agenthard.flows.review.events import Event, Key, ReviewError, VerdictData, as_data, read_event
from agenthard.flows.review.state import ReviewState
from agenthard.reports.kit.files import FORMULA, csv_text
from agenthard.reports.labels import Label, label_of
from agenthard.taxonomy.files import read_bytes, write_atomically
from agenthard.taxonomy.finding import Severity
from agenthard.taxonomy.record import Record

Format = Literal["events", "csv", "labels", "truth"]
COLUMNS: Final = ("id", "seq", "at", "by", "run", "kind", "target", "target_id", "content_hash", "data")
"""Columns of events as CSV; ``data`` is JSON."""


class Imported(Record):
    """What a file adds to a review."""

    events: tuple[Event, ...]
    """New events, in the order of the lines."""
    open: int = 0
    """Lines of a sheet that are not filled in."""
    known: int = 0
    """Lines that say what is stored already."""


def read_events(path: Path) -> Iterator[Event]:
    """Read events from JSON Lines, one a line, or from CSV (``.csv``).

    Raises:
        ReviewError: the file cannot be read, or a line is not an event; the message names it.
    """
    return (read_event(row, place) for place, row in _rows(path))


def events_text(events: Iterable[Event], form: Literal["events", "csv"]) -> str:
    """Return events as JSON Lines or as CSV. A text that a spreadsheet would run as a formula gets an apostrophe."""
    rows = [event.model_dump(mode="json") for event in events]
    if form == "events":
        return "".join(json.dumps(row, sort_keys=True) + "\n" for row in rows)
    return csv_text(
        COLUMNS, ({name: json.dumps(row[name]) if name == "data" else row[name] for name in COLUMNS} for row in rows)
    )


def write_events(path: Path, events: Iterable[Event]) -> None:
    """Write events as CSV where the name ends in ``.csv``, else as JSON Lines."""
    form: Literal["events", "csv"] = "csv" if path.suffix == ".csv" else "events"
    write_atomically(path, events_text(events, form).encode("utf-8"))


def label_lines(state: ReviewState, decisions: Sequence[Decision]) -> list[dict[str, Any]]:
    """Return one label per task and reviewer, as ``agenthard align`` reads them; "cannot tell" is null.

    Args:
        state: the review.
        decisions: one per task, in the benchmark's order.
    """
    lines = []
    for decision in decisions:
        for by, event in state.item(("task", decision.task_id)).verdicts.items():
            details = event.details
            assert isinstance(details, VerdictData)
            lines.append(
                {
                    "task_id": decision.task_id,
                    "content_hash": event.content_hash,
                    "annotator": by,
                    "flawed": _FLAWED[details.flaw],
                    "cannot_tell": details.flaw == "cannot_tell",
                    **{name: getattr(details, name) for name in ("category", "severity", "confidence", "blind")},
                    "note": details.reason,
                    "at": event.at.isoformat(),
                }
            )
    return lines


def truth_lines(state: ReviewState, decisions: Sequence[Decision]) -> list[dict[str, Any]]:
    """Return one label per reviewed task, as ``agenthard score`` reads them: what reviewers agree on or adjudicated.

    A disputed task, and one about which reviewers cannot tell, is null: undecided.
    """
    lines = []
    for decision in decisions:
        item = state.item(("task", decision.task_id))
        if item.reviewed:
            last = item.adjudication or max(item.verdicts.values(), key=lambda event: (event.at, event.seq or 0))
            by = [item.adjudication.by] if item.adjudication else list(item.verdicts)
            lines.append(
                {
                    "task_id": decision.task_id,
                    "content_hash": last.content_hash,
                    "annotator": ", ".join(by),
                    "flawed": _FLAWED.get(item.answer or ""),
                    **{name: last.data.get(name) for name in ("category", "severity")},
                    "note": last.data.get("reason", ""),
                }
            )
    return lines


_FLAWED: Final[Mapping[str, bool | None]] = {"yes": True, "no": False, "cannot_tell": None}


def import_file(
    path: Path,
    run: str,
    state: ReviewState,
    contents: Mapping[Key, str],
    at: datetime,
    by: str | None = None,
    truth: str = "flawed",
) -> Imported:
    """Read a file of events, of labels, or a filled sheet.

    Args:
        path: JSON Lines or CSV. Lines with ``kind`` are events, other lines are labels (see `reports.labels.label_of`).
        run: name of the audit.
        state: the review so far; a label that says what its reviewer says already adds nothing.
        contents: hash of each task and finding of the audit.
        at: time of the verdicts that are made from labels.
        by: reviewer of labels; None = ``annotator`` of the line, else the name of the file.
        truth: field of the labels that says what is flawed.

    Raises:
        ReviewError: a line cannot be used, or names a task or finding that the audit does not have.
    """
    events, still_open, known = list[Event](), 0, 0
    for place, row in _rows(path):
        if "kind" in row:
            event = read_event(row, place)
            event = event.model_copy(update={"seq": None, "run": run})
        else:
            if row.get(truth) is None and not row.get("cannot_tell"):
                _require_field(row, truth, place)
                still_open += 1
                continue
            event = _label_event({"annotator": path.stem, **_given(row)}, place, run, contents, at, by, truth)
            current = state.item(event.key).verdicts.get(event.by)
            if current is not None and _says(current) == _says(event):
                known += 1
                continue
        require_target(event, contents, place)
        events.append(event)
    return Imported(events=tuple(events), open=still_open, known=known)


def require_target(event: Event, contents: Iterable[Key], where: str) -> None:
    """Check that the task or finding of an event exists.

    Raises:
        ReviewError: it does not; the message names the nearest id.
    """
    if event.key not in contents:
        from agenthard.audit.decisions.verdicts import nearest

        known = [identity for target, identity in contents if target == event.target]
        hint = nearest(event.target_id, known)
        raise ReviewError(f"{where}: the audit has no {event.target} {event.target_id!r}{hint}")


def _label_event(
    row: Mapping[str, Any],
    place: str,
    run: str,
    contents: Mapping[Key, str],
    at: datetime,
    by: str | None,
    truth: str,
) -> Event:
    label = _label(row, place, truth)
    key: Key = ("task", label.task_id)
    flaw: Any = "cannot_tell" if row.get(truth) is None else "yes" if label.flawed else "no"
    severity = label.severity if label.severity in set(Severity) else None
    notes = (row.get(name) for name in ("note", "reason"))
    fields = {
        "flaw": flaw,
        "category": label.category,
        "severity": severity,
        "confidence": row.get("confidence") if row.get("confidence") in ("low", "medium", "high") else None,
        "reason": next((note for note in notes if isinstance(note, str) and note), ""),
        "blind": row.get("blind", True),
    }
    return read_event(
        {
            "id": str(uuid4()),
            "at": row.get("at") or at,
            "by": by or label.annotator,
            "run": run,
            "kind": "verdict",
            "target": "task",
            "target_id": label.task_id,
            "content_hash": row.get("content_hash") or contents.get(key, ""),
            "data": {name: value for name, value in fields.items() if value is not None},
        },
        place,
    )


def _label(row: Mapping[str, Any], place: str, truth: str) -> Label:
    try:
        return label_of({**row, truth: bool(row[truth])} if row.get(truth) is None else row, truth)
    except (KeyError, TypeError, ValueError) as error:
        raise ReviewError(f"{place}: {error}; a label needs task_id and the boolean field {truth!r}") from error


def _require_field(row: Mapping[str, Any], truth: str, place: str) -> None:
    if truth not in row or "task_id" not in row:
        missing = "task_id" if "task_id" not in row else truth
        raise ReviewError(f"{place}: has no {missing!r}; a line is an event, or a label with task_id and {truth!r}")


def _given(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key != "annotator" or value not in (None, "")}


def _says(event: Event) -> dict[str, Any]:
    return as_data(event.details) | {"content_hash": event.content_hash}


def _rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the place and the fields of each line."""
    try:
        text = read_bytes(path).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ReviewError(f"{path}: cannot be read as UTF-8 text ({reason})") from error
    yield from _csv_rows(path, text) if path.suffix == ".csv" else _json_rows(path, text)


def _json_rows(path: Path, text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield f"{path}:{number}", _object(line, f"{path}:{number}")


def _csv_rows(path: Path, text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    reader = csv.DictReader(io.StringIO(text, newline=""))
    if tuple(reader.fieldnames or ()) != COLUMNS:
        raise ReviewError(f"{path}: not a table of events; its columns are {', '.join(COLUMNS)}")
    for row in reader:
        place = f"{path}:{reader.line_num}"
        if None in row.values() or None in row:
            raise ReviewError(f"{place}: has another number of columns than the header")
        found: dict[str, Any] = {name: _plain(value) for name, value in row.items()}
        found |= {"seq": int(found["seq"]) if found["seq"].isdecimal() else None}
        yield place, found | {"data": _object(found["data"], place)}


def _plain(cell: str) -> str:
    """Take off the apostrophe that keeps a spreadsheet from running a text."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(FORMULA) else cell


def _object(text: str, place: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise ReviewError(f"{place}: not valid JSON ({error})") from None
    if not isinstance(value, dict):
        raise ReviewError(f"{place}: expected a JSON object")
    return value
