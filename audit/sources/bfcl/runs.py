"""Runs: what a model wrote (the result file), joined with which runs failed (the score file).

Together they tell pass or fail for every run. A result file alone gives runs without a verdict. A score file alone
lists failures only; it is used only when it covers all tasks of its category, because otherwise it is unknown which
runs passed, and a rate of failures alone would be wrong.
"""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.bfcl.run_files import RunFiles, Scores, find_run_files, read_scores
from agenthard.audit.sources.formats.calls import parse_call_list
from agenthard.audit.sources.formats.json_records import RawRecord, read_jsonl
from agenthard.audit.sources.formats.malformed import MalformedRecordError, require_shallow
from agenthard.taxonomy.record import Origin
from agenthard.taxonomy.task import AgentTask, Message, ToolCall
from agenthard.taxonomy.trajectory import RunStatus, Trajectory

SENSITIVITY = "format_sensitivity"
MAX_REASON_CHARS = 300


class RunReader:
    """Reads the runs of one copy of BFCL."""

    def __init__(
        self,
        known: Collection[str],
        chosen: Collection[str],
        tasks_of: Callable[[Collection[str]], Iterable[AgentTask]],
        quarantine: Quarantine,
    ) -> None:
        """Prepare to read.

        Args:
            known: names of all categories of the copy.
            chosen: names of those whose runs are wanted.
            tasks_of: gives the tasks of some categories, in order.
            quarantine: collects what is unreadable.
        """
        self._known = known
        self._chosen = chosen
        self._tasks_of = tasks_of
        self._quarantine = quarantine
        self._tasks: dict[str, AgentTask] = {}
        self._trials: Counter[tuple[str, str, str | None]] = Counter()

    def read(self, path: Path) -> Iterator[Trajectory]:
        """Stream the runs under ``path``.

        Raises:
            SourceError: when no run files are there.
        """
        groups = find_run_files(path)
        root = path if path.is_dir() else path.parent
        categories = {group.category for group in groups}
        wanted = set(self._known) if SENSITIVITY in categories else categories & set(self._known)
        self._tasks = {task.id: task for task in self._tasks_of(wanted)}
        for files in groups:
            if files.category in self._chosen or files.category == SENSITIVITY:
                yield from self._group(files, root)
            elif files.category not in self._known:
                for file in (files.result, files.score):
                    if file is not None:
                        reason = f"this copy of BFCL has no category {files.category!r}; its runs were not read"
                        self._quarantine.add(file.relative_to(root).as_posix(), reason, kind="run")

    def _group(self, files: RunFiles, root: Path) -> Iterator[Trajectory]:
        ids = [task.id for task in self._tasks.values() if task.subtask == files.category]
        scores = self._scores(files, root, ids)
        if files.result is not None:
            name = files.result.relative_to(root).as_posix()
            seen: set[str] = set()
            for record in read_jsonl(files.result, name, self._quarantine, kind="run"):
                run_id = self._run_id(record, name, seen)
                if run_id is not None:
                    failed = None if scores is None else run_id in scores.failures
                    origin = Origin(file=name, line=record.line)
                    yield from self._run(files.model, run_id, record.value, failed, origin)
        elif files.score is not None and scores is not None:
            name = files.score.relative_to(root).as_posix()
            for run_id in ids:
                failure = scores.failures.get(run_id)
                origin = Origin(file=name, line=failure.line if failure else 1)
                yield from self._run(files.model, run_id, _failure(failure), failure is not None, origin)

    def _scores(self, files: RunFiles, root: Path, ids: list[str]) -> Scores | None:
        if files.score is None:
            return None
        name = files.score.relative_to(root).as_posix()
        expected = set(ids)
        if files.result is not None:
            records = read_jsonl(files.result, name, Quarantine(), kind="run")
            expected = {str(record.value.get("id")) for record in records}
        try:
            scores = read_scores(files.score, name, ids, self._quarantine)
            problem = scores.mismatch(expected)
        except MalformedRecordError as error:
            problem = str(error)
        if problem is None:
            return scores
        loss = "its result file is read without verdicts" if files.result else "who passed cannot be told"
        self._quarantine.add(name, f"{problem}; so {loss}: give the files of one and the same run", kind="run")
        return None

    def _run_id(self, record: RawRecord, name: str, seen: set[str]) -> str | None:
        run_id = record.value.get("id")
        if not isinstance(run_id, str):
            reason = "the run has no text under 'id', so its task cannot be told"
        elif run_id in seen:
            reason = f"a second run {run_id!r} in the same file; the first counts"
        else:
            seen.add(run_id)
            return run_id
        self._quarantine.add(name, reason, line=record.line, kind="run")
        return None

    def _run(
        self, model: str, run_id: str, record: dict[str, Any], failed: bool | None, origin: Origin
    ) -> list[Trajectory]:
        task_id, protocol = _task_of(run_id)
        task = self._tasks.get(task_id)
        if task is None:
            reason = f"this copy of BFCL has no task {task_id!r}; is the run of another version?"
        elif task.subtask not in self._chosen:
            return []
        else:
            trial = self._trials[model, task_id, protocol]
            try:
                require_shallow(record)
                run = _trajectory(model, trial, run_id, task, protocol, record, failed, origin)
            except (MalformedRecordError, ValidationError) as error:
                reason = f"the run cannot be recorded: {str(error).splitlines()[0]}"
            else:
                self._trials[model, task_id, protocol] += 1
                return [run]
        self._quarantine.add(origin.file, reason, line=origin.line, kind="run", task_id=task_id)
        return []


def _trajectory(
    model: str,
    trial: int,
    run_id: str,
    task: AgentTask,
    protocol: str | None,
    record: dict[str, Any],
    failed: bool | None,
    origin: Origin,
) -> Trajectory:
    result = record.get("result")
    broken = isinstance(result, str) and result.startswith(INFERENCE_ERROR)
    status: RunStatus = "infrastructure_error" if broken else "ok"
    return Trajectory(
        id=f"{model}/{run_id}" + (f"#{trial}" if trial else ""),
        task_id=task.id,
        model=model,
        trial=trial,
        status=status,
        status_reason=result[:MAX_REASON_CHARS] if broken and isinstance(result, str) else "",
        score=None if failed is None else float(not failed),
        passed=None if failed is None or broken else not failed,
        messages=() if broken or "result" not in record else conversation(task, result),
        protocol=protocol,
        usage=usage(record),
        origin=origin,
    )


def _task_of(run_id: str) -> tuple[str, str | None]:
    """Split ``format_sensitivity_7:FORMAT:simple_python_3`` into its task and the prompt format."""
    parts = run_id.split(":")
    if run_id.startswith(SENSITIVITY) and len(parts) == 3:
        return parts[2], f"{SENSITIVITY}:{parts[1]}"
    return run_id, None


def _failure(record: RawRecord | None) -> dict[str, Any]:
    """Convert a failure of a score file into the form of a line of a result file."""
    if record is None:
        return {}
    written = next((key for key in ("model_result_raw", "model_result") if key in record.value), None)
    return {} if written is None else {"result": record.value[written]}


INFERENCE_ERROR = "Error during inference:"
"""What BFCL writes instead of a result when the request to the model failed."""


def conversation(task: AgentTask, result: Any) -> tuple[Message, ...]:
    """Put the model's steps after the user's turns. BFCL does not log responses of tools in the result.

    Args:
        task: the task.
        result: the ``result`` field: one step, or for multi-turn and agentic tasks a list of turns of steps. A step is
            a text (perhaps a list of Python calls) or a list of ``{function: arguments}``.
    """
    names = {tool.name: tool.name for tool in task.environment.tools}
    names |= {name.replace(".", "_"): name for name in names if name.replace(".", "_") not in names}
    parameters = {tool.name: list(tool.parameters["properties"]) for tool in task.environment.tools}
    nested = task.evaluation.checks == () or task.evaluation.checks[0].kind in ("final_state", "output_substring")
    turns = result if nested and isinstance(result, list) else [[result]]
    messages: list[Message] = []
    for index, steps in enumerate(turns):
        messages.extend(task.user.turns[index] if index < len(task.user.turns) else ())
        for step in steps if isinstance(steps, list) else [steps]:
            messages.append(_step(step, names, parameters))
    return tuple(messages)


def _step(step: Any, names: Mapping[str, str], parameters: Mapping[str, list[str]]) -> Message:
    calls = parse_call_list(step, parameters) if isinstance(step, str) else _function_calls(step)
    named = tuple(call.model_copy(update={"name": names.get(call.name, call.name)}) for call in calls)
    content = step if isinstance(step, str) else "" if calls else json.dumps(step, ensure_ascii=False)
    return Message(role="assistant", content=content, tool_calls=named)


def _function_calls(step: Any) -> tuple[ToolCall, ...]:
    calls = []
    for item in step if isinstance(step, list) else [step]:
        if not isinstance(item, dict) or len(item) != 1:
            return ()
        [(name, arguments)] = item.items()
        if isinstance(arguments, str):
            try:
                arguments = json.loads(arguments)
            except (ValueError, RecursionError):
                return ()
        if not isinstance(arguments, dict):
            return ()
        calls.append(ToolCall(name=name, arguments=arguments))
    return tuple(calls)


def usage(record: Mapping[str, Any]) -> dict[str, float]:
    """Add up tokens and seconds, which are logged as one number or as lists per turn and step."""
    names = {"input_token_count": "input_tokens", "output_token_count": "output_tokens", "latency": "seconds"}
    return {name: sum(_numbers(record[key])) for key, name in names.items() if key in record}


def _numbers(value: Any) -> Iterator[float]:
    if isinstance(value, list):
        for item in value:
            yield from _numbers(item)
    elif isinstance(value, (int, float)):
        yield float(value)
