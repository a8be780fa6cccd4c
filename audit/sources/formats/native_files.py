"""Files of AgentHard's own format: their names, and the runs in them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from agenthard.audit.sources.base import Quarantine, SourceError
from agenthard.audit.sources.formats.json_records import read_jsonl
from agenthard.taxonomy.record import Origin
from agenthard.taxonomy.trajectory import Trajectory

_R = TypeVar("_R", bound=BaseModel)

TASKS, ENVIRONMENTS, RUNS = "tasks.jsonl", "environments.jsonl", "runs.jsonl"


def read_native_runs(path: Path, quarantine: Quarantine) -> Iterator[Trajectory]:
    """Stream runs, one Trajectory per line, from a file or from the ``runs.jsonl`` of a folder.

    Raises:
        SourceError: No such file.
    """
    file = path / RUNS if path.is_dir() else path
    if not file.is_file():
        raise SourceError(f"{path}: no run file here; give a folder with {RUNS}, or the file itself")
    for record in read_jsonl(file, file.name, quarantine, kind="run"):
        data = {"origin": Origin(file=file.name, line=record.line), **record.value}
        data.setdefault("id", f"{file.name}:{record.line}")
        run = validate_record(Trajectory, data, file.name, record.line, quarantine, "run")
        if run is not None:
            yield run


def validate_record(model: type[_R], data: Any, file: str, line: int, quarantine: Quarantine, kind: str) -> _R | None:
    """Validate a line of a native file; quarantine it with its first fault and return None when it is not valid."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        pointer = "".join(f"/{part}" for part in first["loc"])
        reason = f"{first['msg']}; see `agenthard sources native --schema` for the fields"
        identity = data.get("id") if isinstance(data, dict) else None
        task_id = identity if isinstance(identity, str) and kind == "task" else None
        quarantine.add(file, reason, line=line, pointer=pointer, kind=kind, task_id=task_id)
        return None
