"""Run logs of τ-bench and τ²-bench: finding the files, and turning logged fields into trajectories."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.formats.chat_messages import to_messages
from agenthard.audit.sources.formats.json_records import read_jsonl
from agenthard.audit.sources.formats.json_stream import JsonStreamError, stream_members
from agenthard.audit.sources.formats.json_text import require_plain
from agenthard.audit.sources.tau.records import Native, explain
from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.record import Origin
from agenthard.taxonomy.trajectory import RunStatus, Trajectory

SUFFIXES = (".jsonl", ".jsonl.gz", ".json", ".json.gz")
PASS_TOLERANCE = 1e-6
"""Both benchmarks call a run successful when its reward differs from 1 by no more than this."""

_INFRASTRUCTURE_ENDS = {"infrastructure_error", "user_error", "unexpected_error"}
"""Endings that the agent did not cause: the harness failed, or the simulated user broke the protocol."""
_AGENT_ENDS = {"max_steps", "too_many_errors", "agent_error"}
"""Endings before the agent or the user closed the conversation; the benchmark gives them reward 0."""

LogRow = tuple[Origin, Any]
"""Place of a logged run and its fields, named as in :class:`LoggedRun`."""
OpenLog = Callable[[Path, str, bool], Iterator[LogRow] | None]
"""Opens a file (path, its name in messages, whether the user named it); None when it is not a log of the benchmark."""


Gold = tuple[tuple[str, str, str], ...]
"""The calls of a ground truth: who makes each, its name, its arguments as canonical JSON; in no order."""


class LoggedRun(Native):
    """A run as logged; the result files of both benchmarks are converted to these fields."""

    benchmark: str
    """Tag of the benchmark: tau1 or tau2."""
    domain: str
    """Domain of the task; empty when the log does not name it."""
    model: str
    """Agent model, as given."""
    task_id: int | str
    """Native task id."""
    trial: int | None = 0
    """0-based repetition."""
    reward: float | None
    """Score; None when the evaluation is missing."""
    infra_error: str | None = None
    """Error text of a run that crashed."""
    termination: str | None = None
    """How the conversation ended, when the log says it."""
    messages: list[dict[str, Any]] | None = None
    """The conversation."""
    user_model: str | None = None
    """Model of the user simulator."""
    protocol: str | None = None
    """Experiment, or implementation of the agent."""
    usage: dict[str, float] = Field(default_factory=dict)
    """Costs in dollars and duration in seconds."""
    reward_info: Any = None
    """The evaluation as logged; in τ²-bench it holds the ground truth the run was scored against."""


@dataclass(frozen=True)
class LogReader:
    """Turns logged runs into trajectories of tasks that were read."""

    benchmark: str
    """Tag of the benchmark."""
    known: Mapping[str, frozenset[str]]
    """Native ids of the tasks that were read, by domain that is open."""
    domains: frozenset[str]
    """All domains of the benchmark; runs of those that are not open are skipped."""
    quarantine: Quarantine
    """Collects what cannot be read."""
    golds: Mapping[str, Gold] = field(default_factory=dict)
    """Ground truths by task id, where logs tell what a run was scored against."""

    def read(self, path: Path, open_log: OpenLog) -> Iterator[Trajectory]:
        """Stream the trajectories in a file, or in all files below a folder that ``open_log`` recognises."""
        matched = False
        for file, name in _files(path):
            try:
                for origin, fields in open_log(file, name, path.is_file()) or ():
                    matched = True
                    run = self._accept(origin, fields)
                    if run is not None:
                        yield run
            except JsonStreamError as error:
                reason = f"not valid JSON from some place on: {error}; the runs before it were kept, the rest left out"
                self.quarantine.add(name, reason, kind="run")
        if not matched:
            reason = "no run log of this benchmark was found here; the layouts are described in docs/sources"
            self.quarantine.add(path.name, reason, kind="run")

    def _accept(self, origin: Origin, fields: Any) -> Trajectory | None:
        try:
            return self._trajectory(origin, fields)
        except _UnusableRunError as error:
            line, pointer = origin.line, origin.pointer
            self.quarantine.add(origin.file, str(error), line=line, pointer=pointer, kind="run", task_id=error.task_id)
            return None

    def _trajectory(self, origin: Origin, fields: Any) -> Trajectory | None:
        try:
            require_plain(fields)
            logged = LoggedRun.model_validate(fields)
            messages = to_messages(logged.messages or ())
        except ValidationError as error:
            raise _UnusableRunError(explain(error, fields)[1]) from error
        except ValueError as error:
            raise _UnusableRunError(f"{error}; fix the log and read it again") from error
        task_id = self._task_id(logged)
        if task_id is None:
            return None
        if reason := mismatch(logged_gold(logged.reward_info), task_id, self.golds):
            raise _UnusableRunError(reason, task_id)
        status, why = _status(logged)
        scored = status in ("ok", "agent_error") and logged.reward is not None
        return Trajectory(
            id=_run_id(logged, task_id, origin),
            task_id=task_id,
            model=logged.model,
            trial=logged.trial or 0,
            status=status,
            status_reason=why,
            score=logged.reward,
            passed=abs(1 - (logged.reward or 0.0)) <= PASS_TOLERANCE if scored else None,
            messages=messages,
            user_model=logged.user_model,
            protocol=logged.protocol,
            usage=logged.usage,
            origin=origin,
        )

    def _task_id(self, logged: LoggedRun) -> str | None:
        """Return the id of the run's task; None when its domain is not open."""
        task_id = f"{logged.domain}/{logged.task_id}"
        if logged.domain not in self.domains:
            reason = f"the domain {logged.domain!r} is not one of this benchmark's"
            unnamed = "the log does not tell the domain: name the file MODEL-DOMAIN.json"
            raise _UnusableRunError(reason if logged.domain else unnamed, task_id)
        if logged.domain not in self.known:
            return None
        if str(logged.task_id) not in self.known[logged.domain]:
            count = len(self.known[logged.domain])
            raise _UnusableRunError(
                f"model {logged.model!r}: task {str(logged.task_id)!r} is not one of the {count} tasks read from "
                f"{logged.domain}; the run belongs to another release or split",
                task_id,
            )
        return task_id


class _UnusableRunError(AgentHardError):
    """A logged run that cannot become a trajectory."""

    def __init__(self, reason: str, task_id: str | None = None) -> None:
        super().__init__(reason)
        self.task_id = task_id


def record_log(path: Path, name: str, named: bool, tag: str, quarantine: Quarantine) -> Iterator[LogRow] | None:
    """Open a file of flat run records (one JSON object per run, as JSON Lines or as one array).

    A file in a folder counts only when its first record belongs to the benchmark and holds a conversation; a table
    of rewards without conversations, or of several benchmarks, is read only when the user names it.

    Returns:
        The rows with their places, or None when the file is something else.
    """
    first = first_record(path)
    if not {"benchmark", "domain", "model", "task_id", "reward"} <= set(first):
        return None
    if not named and (first["benchmark"] != tag or "messages" not in first):
        return None
    rows: Iterator[LogRow]
    if ".jsonl" in path.name:
        lines = read_jsonl(path, name, quarantine, kind="run")
        rows = ((Origin(file=name, line=record.line), record.value) for record in lines)
    else:
        rows = ((Origin(file=name, pointer=member.pointer), member.value) for member in stream_members(path))
    return (row for row in rows if not isinstance(row[1], dict) or row[1].get("benchmark", tag) == tag)


def first_record(path: Path) -> dict[str, Any]:
    """Return the first readable record of a JSON Lines file or JSON array; empty when there is none."""
    if ".jsonl" in path.name:
        record = next(read_jsonl(path, path.name, Quarantine(), kind="run"), None)
        return record.value if record is not None else {}
    try:
        member = next(stream_members(path), None)
    except JsonStreamError:
        return {}
    return member.value if member is not None and not member.key and isinstance(member.value, dict) else {}


def _files(path: Path) -> list[tuple[Path, str]]:
    if path.is_file():
        return [(path, path.name)]
    found = sorted(file for file in path.rglob("*") if file.name.endswith(SUFFIXES) and file.is_file())
    return [(file, file.relative_to(path).as_posix()) for file in found]


def _status(logged: LoggedRun) -> tuple[RunStatus, str]:
    if logged.infra_error:
        return "infrastructure_error", logged.infra_error
    if logged.termination in _INFRASTRUCTURE_ENDS:
        return "infrastructure_error", f"ended by {logged.termination}"
    if logged.reward is None:
        return "judge_error", "the log holds no reward"
    if logged.termination in _AGENT_ENDS:
        return "agent_error", f"ended by {logged.termination}"
    return "ok", ""


def _run_id(logged: LoggedRun, task_id: str, origin: Origin) -> str:
    """Hash what identifies a run; its place is included, because the same trial can be logged in several files."""
    parts = (logged.model, task_id, logged.trial, origin.file, origin.line, origin.pointer)
    return hashlib.sha256("\x1f".join(map(str, parts)).encode()).hexdigest()[:16]


def gold_of(actions: Iterable[Any]) -> Gold:
    """Normalise the actions of a task or of a log; values that mean the same as their absence are left out.

    >>> gold_of([{"name": "x", "arguments": {"b": 1, "a": None}}])
    (('assistant', 'x', '{"b": 1}'),)
    """
    calls = []
    for action in actions:
        if isinstance(action, dict):
            arguments = {k: v for k, v in (action.get("arguments") or {}).items() if v is not None}
            text = json.dumps(arguments, sort_keys=True)
            calls.append((str(action.get("requestor") or "assistant"), str(action.get("name")), text))
    return tuple(sorted(calls))


def logged_gold(reward_info: Any) -> Gold | None:
    """Read the ground truth from the evaluation of a run of τ²-bench; None when it does not tell."""
    checks = reward_info.get("action_checks") if isinstance(reward_info, dict) else None
    if not isinstance(checks, list) or not checks:
        return None
    return gold_of(check.get("action") for check in checks if isinstance(check, dict))


def mismatch(logged: Gold | None, task_id: str, golds: Mapping[str, Gold]) -> str | None:
    """Tell whether a run was scored against another ground truth than its task's. Task ids alone can be renumbered.

    Args:
        logged: what the log tells.
        task_id: the task that the log names.
        golds: ground truths by task id.

    Returns:
        The reason to quarantine the run, or None.
    """
    if logged is None or golds.get(task_id) == logged or task_id not in golds:
        return None
    others = [other for other, gold in golds.items() if gold == logged]
    whose = f"that of {' or '.join(others)}: the log numbers the tasks otherwise" if others else "that of no task here"
    return (
        f"the run names the task {task_id} and was scored against another ground truth, {whose}; fix the ids of the "
        "log, or read the release that it is about"
    )
