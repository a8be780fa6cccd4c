"""The run files (``meta_eval.json``) of AgencyBench as trajectories, one per attempt."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from agenthard.audit.sources.agencybench.attempts import model_of, to_run
from agenthard.audit.sources.agencybench.layout import RUN_FILE, scenario_of
from agenthard.audit.sources.base import Quarantine, SourceError
from agenthard.audit.sources.formats.malformed import MalformedRecordError, expect, require_shallow
from agenthard.audit.sources.formats.reading import load_document
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.record import Origin
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory


def read_run_files(
    path: Path, known: Mapping[str, AgentTask], domains: Sequence[str], quarantine: Quarantine
) -> Iterator[Trajectory]:
    """Stream the attempts in a run file, or in all below a folder.

    Args:
        path: the file or folder; the folders CAPABILITY/scenarioN above a file tell its scenario.
        known: tasks that were read, by id.
        domains: capabilities that are open; runs of others are passed over. Empty means all.
        quarantine: collects what cannot be read.

    Raises:
        SourceError: when there is no run file.
    """
    files = [path] if path.is_file() else sorted(path.rglob(RUN_FILE))
    if not files:
        raise SourceError(f"{path}: no {RUN_FILE} here or below; give the benchmark's folder, or one run file")
    for file in files:
        name = file.name if path.is_file() else file.relative_to(path).as_posix()
        scenario = scenario_of(file)
        if scenario is None:
            reason = "the folders above do not tell the scenario; keep the file at CAPABILITY/scenarioN/RUN/"
            quarantine.add(name, reason, kind="run")
        elif not domains or scenario.split("/")[0] in domains:
            yield from _read(file, name, scenario, known, quarantine)


def _read(
    file: Path, name: str, scenario: str, known: Mapping[str, AgentTask], quarantine: Quarantine
) -> Iterator[Trajectory]:
    try:
        document = expect(load_document(file), dict, "")
        require_shallow(document)
        json.dumps(document, ensure_ascii=False).encode()
        entries = list(_entries(document))
        model = model_of(document, file.parent.name)
    except (OSError, ValueError, RecursionError, MalformedRecordError) as error:
        quarantine.add(name, f"cannot be read: {error}; none of its runs were read", kind="run")
        return
    scorer = str(document.get("scorer") or "")
    for pointer, subtask, attempts in entries:
        task_id, before = f"{scenario}/{subtask}", None
        for index, attempt in enumerate(attempts):
            place = f"{pointer}/attempts/{index}"
            try:
                if task_id not in known:
                    raise MalformedRecordError(
                        f"there is no task {task_id}", advice="the run belongs to another release"
                    )
                run = Trajectory(
                    id=f"{file.parent.name}/{task_id}#{index + 1}",
                    task_id=task_id,
                    model=model,
                    trial=index,
                    protocol=file.parent.name,
                    retry_of=before,
                    origin=Origin(file=name, pointer=place),
                )
                yield to_run(run, expect(attempt, dict, ""), scorer)
                before = run.id
            except (MalformedRecordError, ValidationError, AttributeError, TypeError) as error:
                inside = error.pointer if isinstance(error, MalformedRecordError) else ""
                quarantine.add(name, _reason(error), pointer=f"{place}{inside}", kind="run", task_id=task_id)


def _entries(document: Mapping[str, Any]) -> Iterator[tuple[str, str, list[Any]]]:
    """Stream place, name and attempts of each subtask; they stand in an object by name, or in a list."""
    subtasks = document.get("subtasks")
    if isinstance(subtasks, dict):
        rows = [(join("/subtasks", name), name, entry) for name, entry in subtasks.items()]
    else:
        listed = expect(subtasks, list, "/subtasks")
        rows = [(f"/subtasks/{i}", _name(entry, i), entry) for i, entry in enumerate(listed)]
    for pointer, name, entry in rows:
        attempts = expect(entry, dict, pointer).get("attempts")
        yield pointer, name, expect(attempts, list, f"{pointer}/attempts")


def _name(entry: Any, index: int) -> str:
    found = (entry.get("name") or entry.get("subtask")) if isinstance(entry, dict) else None
    return str(found or f"subtask{index + 1}")


def _reason(error: Exception) -> str:
    if isinstance(error, ValidationError):
        return f"the attempt is no valid run: {error.errors()[0]['msg']}; mend it"
    return (
        str(error)
        if isinstance(error, MalformedRecordError)
        else f"a field has the wrong type ({error}); mend the attempt"
    )
