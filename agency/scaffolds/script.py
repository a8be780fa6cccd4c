"""Scripts: agents without a model, as lists of tool calls per task and attempt, which are data."""

import base64
import gzip
import json
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from agenthard.agency.rollouts import RecordedRollout
from agenthard.agency.scaffolds.budget import Budget
from agenthard.agency.scaffolds.rollout import Event, Rollout, Said, Told
from agenthard.agency.scaffolds.scaffold import Prompt, carry_out
from agenthard.agency.tools import Toolset
from agenthard.models.request import Call, ChatMessage
from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.files import UnreadableFileError, read_bytes
from agenthard.taxonomy.record import Record

COMMANDS = "commands.json"
"""File of a solution with the shell commands that run after its files are written."""


class ScriptError(AgentHardError, ValueError):
    """A script cannot be read."""

    code = "AH646"
    remedy = 'Write {"tasks": {TASK: [[{"name": TOOL, "arguments": {...}}]]}}: a list of calls for each attempt.'


class ScriptedCall(Record):
    """A call of a script."""

    name: str
    """Name of the tool."""
    arguments: dict[str, Any] = Field(default_factory=dict)
    """Its arguments."""
    answer: str | None = None
    """What it gave when it was recorded; None for a script that was written."""


class Script(Record):
    """What an agent does; the last attempt at a task is repeated when there are more."""

    tasks: dict[str, tuple[tuple[ScriptedCall, ...], ...]]
    """Calls by task and attempt."""

    def calls(self, task_id: str, attempt: int) -> tuple[ScriptedCall, ...] | None:
        """Return the calls of an attempt; None where the script has none for the task."""
        attempts = self.tasks.get(task_id)
        return attempts[min(attempt, len(attempts) - 1)] if attempts else None


class Scripted:
    """Carries a script out."""

    def __init__(self, script: Script) -> None:
        """Play a script."""
        self._script = script

    async def run(self, prompt: Prompt, workspace: Toolset, history: list[ChatMessage], budget: Budget) -> Rollout:
        """Play one attempt. A call that a kill of the harness cut off is made again, as a call of its own."""
        events: list[Event] = [Told(text=prompt.text, by="task")]
        script = self._script.calls(prompt.task_id, prompt.attempt)
        if script is None:
            return Rollout(events=tuple(events), ended="no_script")
        other = 0
        for number, each in enumerate(script):
            repeats = 0
            while True:
                if limit := budget.reached():
                    return Rollout(events=tuple(events), ended=limit, other_answers=other)
                budget.take_turn()
                id = f"call_{number}" + ("" if not repeats else f"_{repeats}")
                call = Call(id=id, name=each.name, arguments=json.dumps(each.arguments))
                events.append(Said(calls=(call,)))
                event = await carry_out(workspace, call, budget)
                events.append(event)
                if event.result.trouble != "interrupted":
                    break
                repeats += 1
            other += each.answer is not None and each.answer != event.result.output
        return Rollout(events=tuple(events), other_answers=other)


def read_script(path: Path) -> Script:
    """Read a script.

    Raises:
        ScriptError: it cannot be read.
    """
    try:
        return Script.model_validate_json(read_bytes(path))
    except (OSError, UnreadableFileError, ValidationError) as error:
        raise ScriptError(f"{path}: no script can be read: {error}") from None


def solution_script(folder: Path, task_ids: Iterable[str]) -> Script:
    """Make a script of a folder with one folder per task: its files are written, then its commands run.

    Args:
        folder: folder of the solution; the folder of a task has the task's id, or the last part of it.
        task_ids: the tasks.

    Raises:
        ScriptError: a list of commands cannot be read.
    """
    found = {}
    for id in task_ids:
        place = folder / id
        if not place.is_dir():
            place = folder / id.rsplit("/", 1)[-1]
        if place.is_dir():
            found[id] = (tuple(_overlay(place)),)
    return Script(tasks=found)


def _overlay(place: Path) -> Iterable[ScriptedCall]:
    files = sorted(path for path in place.rglob("*") if path.is_file() and path != place / COMMANDS)
    for path in files:
        if "__pycache__" not in path.parts:
            yield _write(path.relative_to(place).as_posix(), path.read_bytes())
            if path.stat().st_mode & 0o100:
                words = {"command": shlex.join(["chmod", "+x", path.relative_to(place).as_posix()])}
                yield ScriptedCall(name="run_shell_command", arguments=words)
    for command in _commands(place / COMMANDS):
        yield ScriptedCall(name="run_shell_command", arguments={"command": command})


def _write(path: str, content: bytes) -> ScriptedCall:
    try:
        arguments = {"file_path": path, "content": content.decode("utf-8")}
    except UnicodeDecodeError:
        arguments = {"file_path": path, "content": base64.b64encode(content).decode("ascii"), "encoding": "base64"}
    return ScriptedCall(name="write_file", arguments=arguments)


def _commands(path: Path) -> list[str]:
    if not path.is_file():
        return []
    try:
        found = json.loads(read_bytes(path))
    except ValueError as error:
        raise ScriptError(f"{path}: not valid JSON: {error}") from None
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise ScriptError(f"{path}: not a list of commands")
    return found


def replay_script(path: Path, agent: str | None = None) -> Script:
    """Make a script of recorded rollouts (:mod:`agenthard.agency.rollouts`).

    Args:
        path: file of rollouts as native JSON Lines, also packed with gzip.
        agent: agent whose rollouts count; None for those of the only one.

    Raises:
        ScriptError: the file cannot be read, or has the rollouts of several agents, or of several repetitions.
    """
    try:
        content = gzip.decompress(read_bytes(path)) if path.suffix == ".gz" else read_bytes(path)
        rows = [RecordedRollout.model_validate_json(line) for line in content.splitlines() if line.strip()]
    except (OSError, EOFError, UnreadableFileError, ValidationError) as error:
        raise ScriptError(f"{path}: no rollouts can be read: {error}") from None
    names = sorted({row.agent for row in rows})
    if agent not in names if agent else len(names) != 1:
        raise ScriptError(f"{path} has rollouts of {', '.join(names) or 'no agent'}; write replay:{path}#AGENT")
    chosen = [row for row in rows if not agent or row.agent == agent]
    tasks: dict[str, dict[int, tuple[ScriptedCall, ...]]] = {}
    for row in chosen:
        if row.attempt in tasks.setdefault(row.task_id, {}):
            raise ScriptError(f"{path} has several rollouts of {row.task_id}, attempt {row.attempt}; keep one")
        tasks[row.task_id][row.attempt] = _replayed(row.rollout)
    return Script(tasks={id: tuple(by[number] for number in sorted(by)) for id, by in tasks.items()})


def _replayed(rollout: Rollout) -> tuple[ScriptedCall, ...]:
    calls = []
    for event in rollout.called:
        try:
            arguments: Mapping[str, Any] = json.loads(event.call.arguments or "{}")
            calls.append(ScriptedCall(name=event.call.name, arguments=dict(arguments), answer=event.result.output))
        except (ValueError, TypeError):
            continue  # it was refused when it was recorded, and changed nothing
    return tuple(calls)
