"""The result of a shard as one ZIP file, so that it is there as a whole or not at all.

Observations of one check are read alone: together they are far larger than everything else.
"""

import io
import json
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeVar, overload

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter

from agenthard.audit.coverage import CoverageTable
from agenthard.audit.detectors.base import Observation
from agenthard.audit.shards import CheckedHit, ShardResult
from agenthard.taxonomy.files import replacing
from agenthard.taxonomy.finding import Status

Item = TypeVar("Item")
_HITS = TypeAdapter(tuple[CheckedHit, ...])
_COVERAGE, _CODES, _FOUND, _NOTES = "coverage.json", "coverage.npy", "hits.json", "observations/{}.jsonl"
_SHARED = "shared_keys/{}.npy"
_MEMBER_DATE = (1980, 1, 1, 0, 0, 0)


def write_shard_file(path: Path, result: ShardResult) -> None:
    """Write the result of a shard without its times; equal results give equal bytes."""
    with replacing(path) as partial:
        _write(partial, result)


def shard_bytes(result: ShardResult) -> bytes:
    """Return what `write_shard_file` writes."""
    stream = io.BytesIO()
    _write(stream, result)
    return stream.getvalue()


def _write(target: Path | IO[bytes], result: ShardResult) -> None:
    coverage = result.coverage
    table = {"tasks": coverage.tasks, "checks": coverage.checks, "outcomes": coverage.outcomes[1:]}
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        _add(file, _COVERAGE, [json.dumps(table).encode()])
        _add(file, _CODES, [_array_bytes(coverage.codes)])
        _add(file, _FOUND, [_HITS.dump_json(tuple(result.hits))])
        for check, notes in result.observations.items():
            if notes:
                _add(file, _NOTES.format(check), (note.model_dump_json().encode() + b"\n" for note in notes))
        for check, rows in result.shared_keys.items():
            if len(rows):
                _add(file, _SHARED.format(check), [_array_bytes(rows)])


def _array_bytes(array: NDArray[Any]) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def _add(file: zipfile.ZipFile, name: str, parts: Iterable[bytes]) -> None:
    member = zipfile.ZipInfo(name, _MEMBER_DATE)
    member.compress_type = zipfile.ZIP_DEFLATED
    with file.open(member, "w") as stream:
        for part in parts:
            stream.write(part)


def read_shard_file(path: Path | IO[bytes]) -> ShardResult:
    """Read the result of a shard from a file or a stream; observations are read from it whenever they are asked for."""
    with zipfile.ZipFile(path) as file:
        table = json.loads(file.read(_COVERAGE))
        outcomes = ((Status(status), reason) for status, reason in table["outcomes"])
        codes = np.load(io.BytesIO(file.read(_CODES)))
        members = frozenset(map(sys.intern, file.namelist()))
        return ShardResult(
            coverage=CoverageTable.restored(table["tasks"], table["checks"], outcomes, codes),
            hits=_HITS.validate_json(file.read(_FOUND)),
            observations=_Stored(path, members, _NOTES, _lines),
            shared_keys=_Stored(path, members, _SHARED, lambda data: np.load(io.BytesIO(data))),
        )


@dataclass(frozen=True)
class _Stored(Mapping[str, Item]):
    """Members of the file by check, each read when it is asked for."""

    path: Path | IO[bytes]
    members: frozenset[str]
    pattern: str
    read: Callable[[bytes], Item]

    def __getitem__(self, check: str) -> Item:
        name = self.pattern.format(check)
        if name not in self.members:
            raise KeyError(check)
        with zipfile.ZipFile(self.path) as file:
            return self.read(file.read(name))

    def __iter__(self) -> Iterator[str]:
        start, end = self.pattern.split("{}")
        return (name[len(start) : -len(end)] for name in sorted(self.members) if name.startswith(start))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _lines(data: bytes) -> Sequence[Observation]:
    return _StoredObservations(data.splitlines())


@dataclass(frozen=True)
class _StoredObservations(Sequence[Observation]):
    """Observations of one check, each parsed when it is asked for."""

    lines: Sequence[bytes]

    @overload
    def __getitem__(self, index: int) -> Observation: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Observation]: ...
    def __getitem__(self, index: int | slice) -> Observation | Sequence[Observation]:
        if isinstance(index, slice):
            return _StoredObservations(self.lines[index])
        return Observation.model_validate_json(self.lines[index])

    def __len__(self) -> int:
        return len(self.lines)
