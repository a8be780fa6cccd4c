"""Run files, read as the mapping describes them."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.formats.malformed import MalformedRecordError
from agenthard.audit.sources.formats.rows import folder_of, row_files
from agenthard.audit.sources.mapping.conversation import read_messages
from agenthard.audit.sources.mapping.data import MappedRow, look_up, read_file, shallow, with_partners
from agenthard.audit.sources.mapping.mapping import MappingFile, RunMap, ValuePath
from agenthard.audit.sources.mapping.paths import PathSyntaxError, as_text, compile_path
from agenthard.taxonomy.trajectory import Trajectory

_TRUE = ("true", "yes", "pass", "passed", "correct", "success", "1", "1.0")
_FALSE = ("false", "no", "fail", "failed", "incorrect", "failure", "0", "0.0")


def read_mapped_runs(path: Path, mapping: MappingFile, quarantine: Quarantine) -> Iterator[Trajectory]:
    """Stream the runs of a file, or of all files of rows in a folder.

    Args:
        path: the file or folder.
        mapping: a mapping with ``runs``.
        quarantine: collects the rows that are not runs.
    """
    spec = mapping.runs
    assert spec is not None
    for file in row_files(path):
        for row in shallow(read_file(file, folder_of(path), spec.rows, quarantine, "run"), quarantine, "run"):
            try:
                whole, _ = with_partners(row, (), mapping.json_columns)
                yield _run(whole, spec, mapping)
            except (MalformedRecordError, PathSyntaxError, ValidationError) as error:
                pointer = getattr(error, "pointer", "")
                reason = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
                quarantine.add(row.file, reason, line=row.line, pointer=row.base + pointer, kind="run")


def _run(row: MappedRow, spec: RunMap, mapping: MappingFile) -> Trajectory:
    score = _number(_value(row, spec.score), spec.score)
    error = _value(row, spec.error)
    broken = error not in (None, False, "", [], {})
    if spec.passed is not None:
        passed = _verdict(_value(row, spec.passed), spec.passed)
    else:
        passed = None if score is None else score >= spec.pass_score
    if passed is None and not broken:
        raise MalformedRecordError("the run has neither a verdict nor a score", "", "map passed, score or error")
    messages = _value(row, spec.messages)
    read = () if messages is None else read_messages(messages, _pointer(spec.messages), mapping.user.roles)
    trial = _number(_value(row, spec.trial), spec.trial)
    return Trajectory(
        id=f"{row.file}:{row.number}",
        task_id=_name(row, spec.task_id, "task_id"),
        model=_name(row, spec.model, "model"),
        trial=int(trial or 0),
        status="infrastructure_error" if broken else "ok",
        status_reason=as_text(error) if broken else "",
        score=score,
        passed=None if broken else passed,
        messages=read,
        origin=row.origin(),
    )


def _value(row: MappedRow, place: ValuePath | None) -> Any:
    return None if place is None else look_up(place, row.values)


def _pointer(place: ValuePath | None) -> str:
    return "" if place is None or place.path is None else compile_path(place.path).pointer


def _name(row: MappedRow, place: ValuePath, key: str) -> str:
    value = _value(row, place)
    if value is None or isinstance(value, (dict, list, bool)) or as_text(value) == "":
        raise MalformedRecordError(f"runs.{key}: the path {place.path!r} leads to no name", _pointer(place))
    return as_text(value)


def _number(value: Any, place: ValuePath | None) -> float | None:
    if value is None or value == "":
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise MalformedRecordError(f"expected a number, found {as_text(value)[:40]}", _pointer(place))
    return number


def _verdict(value: Any, place: ValuePath) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    word = as_text(value).strip().lower()
    if word not in _TRUE + _FALSE:
        raise MalformedRecordError(f"expected pass or fail, found {word[:40]!r}", _pointer(place))
    return word in _TRUE
