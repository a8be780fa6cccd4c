"""The result of a shard in the store: one ZIP, so that a result is there as a whole or not at all.

It holds the file of `audit/shard_file.py` and what lies next to it in a run folder. What a store returns may be
damaged, of another audit, or made by someone else: everything is validated before it counts, and nothing is executed.
"""

import io
import json
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from agenthard.audit.execution.shown_replay import ShownReplay
from agenthard.audit.shard_file import read_shard_file
from agenthard.flows.run_folder import RunFolder, write_json, write_jsonl
from agenthard.flows.scale_out.shard_job import ShardName
from agenthard.flows.shard_worker import CheckedShard, write_shard
from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.files import write_atomically
from agenthard.taxonomy.record import Record

MOST_BYTES = 4 << 30
"""Bytes of a result, unpacked."""
_NAME, _SHARD, _ISOLATION, _COSTS, _REPLAYS = "name.json", "shard.zip", "isolation.json", "costs.json", "replays.jsonl"
_MEMBER_DATE = (1980, 1, 1, 0, 0, 0)
_TEXTS = TypeAdapter(tuple[str, ...])


class UnusableResultError(AgentHardError):
    """What lies in the store is not the result of the shard; the message says why."""

    code = "AH826"
    remedy = "Nothing: the shard is checked again."


class _Costs(Record):
    tasks: int
    seconds: dict[str, float]
    executed: dict[str, float]


def pack(name: ShardName, checked: CheckedShard) -> bytes:
    """Return the bytes of a result. Equal results differ in the seconds that checks took, and in nothing else."""
    with tempfile.TemporaryDirectory(prefix="agenthard-shard-") as scratch:
        folder, number = RunFolder(Path(scratch)), name.number
        write_shard(folder, number, checked)
        members = {
            _NAME: json.dumps(name).encode(),
            _ISOLATION: folder.isolation_file(number).read_bytes(),
            _COSTS: folder.costs_file(number).read_bytes(),
            _SHARD: folder.shard_file(number).read_bytes(),
        }
        if checked.replays:
            members[_REPLAYS] = folder.replays_file(number).read_bytes()
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        for member, content in members.items():
            file.writestr(zipfile.ZipInfo(member, _MEMBER_DATE), content, zipfile.ZIP_DEFLATED)
    return stream.getvalue()


def unpack(data: bytes, name: ShardName, tasks: Sequence[str], checks: Sequence[str], folder: RunFolder) -> None:
    """Write a result into the run folder as if the shard had been checked here.

    Args:
        data: what lies in the store.
        name: the shard.
        tasks: ids of its tasks.
        checks: ids of the checks that run.
        folder: the run folder.

    Raises:
        UnusableResultError: The data is not the result of this shard.
    """
    try:
        members = _members(data)
        if json.loads(members[_NAME]) != list(name):
            raise UnusableResultError("it is the result of another shard")
        isolations = _TEXTS.validate_json(members[_ISOLATION])
        costs = _Costs.model_validate_json(members[_COSTS])
        replays = [ShownReplay.model_validate_json(line) for line in members.get(_REPLAYS, b"").splitlines()]
        _check_shard(members[_SHARD], tasks, checks)
    except UnusableResultError:
        raise
    except Exception as error:  # a damaged ZIP, array or JSON; each library has errors of its own
        raise UnusableResultError(f"it is damaged: {type(error).__name__}: {str(error)[:200]}") from error
    number = name.number
    write_json(folder.isolation_file(number), isolations)
    if replays:
        write_jsonl(folder.replays_file(number), replays)
    write_json(folder.costs_file(number), costs.model_dump())
    write_atomically(folder.shard_file(number), members[_SHARD])  # last: it marks the shard as finished


def _members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        if sum(member.file_size for member in file.infolist()) > MOST_BYTES:
            raise UnusableResultError(f"it has more than {MOST_BYTES:,} bytes")
        return {member: file.read(member) for member in file.namelist()}


def _check_shard(data: bytes, tasks: Sequence[str], checks: Sequence[str]) -> None:
    """Read all of a shard's result once: later it is read in parts, when nothing can be checked again."""
    with tempfile.TemporaryDirectory(prefix="agenthard-shard-") as scratch:
        path = Path(scratch) / _SHARD
        path.write_bytes(data)
        result = read_shard_file(path)
        if result.coverage.tasks != tuple(tasks) or result.coverage.checks != tuple(checks):
            raise UnusableResultError("it has other tasks or checks")
        known, asked = set(tasks), set(checks)
        if any(hit.check not in asked or not known.issuperset((*hit.task_ids, *hit.also_in)) for hit in result.hits):
            raise UnusableResultError("it has findings of other tasks or checks")
        parts: list[Any] = [result.observations, result.shared_keys]
        for part in parts:
            for check in part:
                len(part[check])
