"""The spool of an audit's runs: one file of JSON lines per shard, written once and trusted when it is read again.

A run is validated when a source makes it. What the spool holds came from a validated run and was written by this very
audit, so its records are built without validating them again.
"""

import shutil
from collections.abc import Callable, Collection
from functools import cache
from json import JSONDecoder
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import from_json

from agenthard.taxonomy.files import naming, sync
from agenthard.taxonomy.trajectory import Trajectory

Model = TypeVar("Model", bound=BaseModel)
FLUSH_CHARACTERS = 1 << 25
"""Runs are kept in memory up to this length before they are appended to the files of their shards."""


class RunSpool:
    """Distributes runs over the shards of their tasks as they are read, without holding all of them in memory.

    They are collected in a temporary folder, which is renamed when all are read: runs that an interrupted process
    spooled never count.
    """

    def __init__(self, target: Path) -> None:
        """Start an empty spool.

        Args:
            target: Folder of the finished spool; what it holds is removed.
        """
        self._target = target
        self._partial = target.with_name(f".{target.name}.partial")
        for leftover in (self._target, self._partial):
            shutil.rmtree(leftover, ignore_errors=True)
        self._buffers: dict[int, list[str]] = {}
        self._size = 0

    def add(self, shard: int, run: Trajectory) -> None:
        """Append one run."""
        line = run.model_dump_json(exclude_defaults=True)
        self._buffers.setdefault(shard, []).append(line)
        self._size += len(line)
        if self._size > FLUSH_CHARACTERS:
            self._flush()

    def finish(self) -> None:
        """Write the remaining runs, and rename the folder."""
        self._flush()
        if self._partial.is_dir():
            for path in self._partial.iterdir():
                sync(path)
            sync(self._partial)
            self._partial.replace(self._target)
            sync(self._target.parent)

    def _flush(self) -> None:
        for shard, lines in self._buffers.items():
            path = self._partial / spool_name(shard)
            path.parent.mkdir(parents=True, exist_ok=True)
            with naming(path), path.open("a", encoding="utf-8") as stream:
                stream.writelines(line + "\n" for line in lines)
        self._buffers, self._size = {}, 0


def spool_name(shard: int) -> str:
    """Return the name of the file of a shard."""
    return f"{shard:05d}.jsonl"


def read_spool(path: Path, ids: Collection[str] | None = None) -> list[Trajectory]:
    """Read the runs of one shard, in an order that does not depend on how they were read.

    Args:
        path: File of the shard; no file means no runs.
        ids: Only runs with these ids; None means all.
    """
    if not path.is_file():
        return []
    with path.open("rb") as stream:
        runs = [trusted(Trajectory, from_json(line)) for line in stream if ids is None or _id(line) in ids]
    return sorted(runs, key=run_order)


def run_order(run: Trajectory) -> tuple[str, str, str, int, str]:
    """Return what the runs of a shard are sorted by."""
    return run.task_id, run.protocol or "", run.model, run.trial, run.id


def _id(line: bytes) -> str:
    """Read the id of a run, the first field of its line, without parsing the rest."""
    start = len('{"id":')
    end = line.index(b'","task_id":') + 1
    return str(JSONDecoder().decode(line[start:end].decode("utf-8")))


def trusted(kind: type[Model], data: dict[str, Any]) -> Model:
    """Build a record, with the records in it, from its own JSON without validating it.

    Args:
        kind: Class of the record.
        data: Parsed JSON of a validated record; it becomes part of the new one.
    """
    built: Model = _builder(kind)(data)
    return built


@cache
def _builder(kind: type[BaseModel]) -> Callable[[dict[str, Any]], Any]:
    """Return what builds records of a class. ``model_construct`` does the same for one level, in twice the time."""
    fields = {name: field.get_default(call_default_factory=False) for name, field in kind.model_fields.items()}
    factories = [(name, field.default_factory) for name, field in kind.model_fields.items() if field.default_factory]
    nested = [(name, make) for name, field in kind.model_fields.items() if (make := _maker(field.annotation))]

    def build(data: dict[str, Any]) -> Any:
        given = set(data)
        for name, make in nested:
            if name in given:
                data[name] = make(data[name])
        values = {**fields, **data}
        for name, factory in factories:
            if name not in given:
                values[name] = factory()  # type: ignore[call-arg]
        record = kind.__new__(kind)
        for attribute, value in (
            ("__dict__", values),
            ("__pydantic_fields_set__", given),
            ("__pydantic_extra__", None),
            ("__pydantic_private__", None),
        ):
            object.__setattr__(record, attribute, value)
        return record

    return build


def _maker(annotation: Any) -> Callable[[Any], Any] | None:
    """Return what makes a value of a type from JSON; None where JSON has the value already."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return _builder(annotation)
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is tuple:
        inner = _maker(arguments[0])
        return tuple if inner is None else lambda values: tuple(map(inner, values))
    if origin in (Union, UnionType):
        makers = [make for make in map(_maker, arguments) if make]
        return (lambda value: None if value is None else makers[0](value)) if makers else None
    return None
