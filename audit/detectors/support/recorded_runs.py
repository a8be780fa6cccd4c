"""Recorded runs: calls with their responses, retries, and replays."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os.path import commonprefix
from typing import Any, NamedTuple

from agenthard.audit.evidence import canonical_json
from agenthard.audit.execution.context import current_execution
from agenthard.audit.execution.environment import ExecutionError, UnavailableError, Verdict
from agenthard.taxonomy.task import AgentTask, Message, ToolCall, ToolSpec
from agenthard.taxonomy.trajectory import Trajectory


class Answered(NamedTuple):
    """A call that got a response."""

    call: ToolCall
    """The call."""
    place: str
    """JSON Pointer of the call in the run."""
    text: str
    """The response."""
    position: int
    """Index of the response among the messages."""


def answered(messages: Sequence[Message]) -> Iterator[Answered]:
    """Pair calls with responses, in the order of the responses.

    A response belongs to the call whose id it names, else to the oldest call of the last message that is still open.
    A call without a response was never carried out and is left out.
    """
    waiting: list[tuple[ToolCall, str]] = []
    for i, message in enumerate(messages):
        if message.role == "tool" and waiting:
            wanted = message.tool_call_id
            named = (j for j, (call, _) in enumerate(waiting) if wanted is not None and call.id == wanted)
            call, place = waiting.pop(next(named, 0))
            yield Answered(call, place, message.content, i)
        elif message.role != "tool":
            waiting = [(call, f"/messages/{i}/tool_calls/{j}") for j, call in enumerate(message.tool_calls)]


def parsed(text: str) -> Any:
    """Return a response as JSON data; None when it is not valid JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


class Retry(NamedTuple):
    """An attempt and the one it tries again."""

    before: Trajectory
    """The earlier attempt."""
    run: Trajectory
    """The retry."""
    counts: bool
    """True when no further attempt follows."""


def replaced(runs: Iterable[Trajectory]) -> frozenset[str]:
    """Return the ids of runs that a later run tries again."""
    return frozenset(run.retry_of for run in runs if run.retry_of is not None)


def retries(runs: Sequence[Trajectory]) -> Iterator[Retry]:
    """Yield each retry whose earlier attempt is recorded."""
    known, again = {run.id: run for run in runs}, replaced(runs)
    for run in runs:
        before = known.get(run.retry_of or "")
        if before is not None:
            yield Retry(before, run, run.id not in again)


Facts = dict[tuple[str, str], tuple[dict[str, Any], Answered]]
"""Records that a response files under their own identifier, by (field, identifier), with that response."""


class Compared(NamedTuple):
    """One thing of a response that could be compared."""

    kind: str
    """What it was compared with: argument, repetition or record."""
    field: str
    """The argument; empty for other kinds."""
    wrong: bool
    """Whether they contradict one another."""
    before: Answered
    """Where the one is: the call itself, or the response before."""
    said: str
    """Text of the one; empty for the whole response."""
    now: str
    """Text of the other, as it appears in the response; empty for the whole of it."""


class Memory:
    """The responses of the tools of one run since the last write."""

    def __init__(self) -> None:
        """Start without responses."""
        self._answers: dict[tuple[str, str, str], Answered] = {}
        self._records: Facts = {}

    def compare(self, tool: ToolSpec, now: Answered) -> Iterator[Compared]:
        """Yield what can be compared of one response, and remember it."""
        if tool.effect == "read":
            key = (now.call.requestor, now.call.name, canonical_json(now.call.arguments))
            before = self._answers.setdefault(key, now)
            if before is not now:
                yield Compared("repetition", "", before.text != now.text, before, "", "")
            self._records |= _records(now)
            return
        response = parsed(now.text)
        self._answers.clear()
        if isinstance(response, dict) and "error" not in response:
            yield from _arguments(now, response)
            yield from self._against_records(now, response)

    def _against_records(self, now: Answered, response: Mapping[str, Any]) -> Iterator[Compared]:
        named = set(_texts(now.call.arguments))
        for record in _inner_records(response):
            identifiers = [(field, value) for field, value in record.items() if _is_in(value, named)]
            for key in identifiers:
                if key not in self._records:
                    continue
                facts, before = self._records[key]
                shared = sorted((facts.keys() & record.keys()) - {key[0]} - now.call.arguments.keys())
                changed = next((field for field in shared if facts[field] != record[field]), None)
                if changed is not None:
                    said, told = _member(changed, facts[changed]), _member(changed, record[changed])
                    yield Compared("record", "", True, before, _as_written(said, before), _as_written(told, now))
                elif shared:
                    yield Compared("record", "", False, before, "", "")


def _arguments(now: Answered, response: Mapping[str, Any]) -> Iterator[Compared]:
    for name, asked in now.call.arguments.items():
        told = response.get(name)
        if type(asked) is type(told) and isinstance(asked, (str, bool)) and asked != "":
            written = _as_written(_member(name, told), now)
            yield Compared("argument", name, _plain(asked) != _plain(told), now, "", written)


def _plain(value: Any) -> Any:
    return re.sub(r"[\W_]+", "", value).casefold() if isinstance(value, str) else value


def _records(now: Answered) -> Facts:
    """Find the records of a response whose key is their own identifier: ``{"7": {"id": "7", ...}}``."""
    found: Facts = {}
    for entry in _inner_records(parsed(now.text), outermost=True):
        for key, record in entry.items():
            if isinstance(record, dict):
                found |= {(field, key): (record, now) for field, value in record.items() if value == key}
    return found


def _inner_records(value: Any, outermost: bool = False) -> Iterator[dict[str, Any]]:
    """Yield all objects inside JSON data, the outermost one only when asked for."""
    if isinstance(value, dict) and outermost:
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _inner_records(item, outermost=True)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _texts(item)


def _is_in(value: Any, named: set[str]) -> bool:
    return isinstance(value, str) and value in named


def _member(name: str, value: Any) -> str:
    return f"{json.dumps(name)}: {json.dumps(value)}"


def _as_written(member: str, answer: Answered) -> str:
    """Return the text of a member when the response writes it so, else nothing: then the whole response is quoted."""
    return member if member in answer.text else ""


def other_than_replayed(task: AgentTask, run: Trajectory) -> Iterator[tuple[Answered, str]]:
    """Compare the responses of a run with those of a replay.

    Only environments that answer as the benchmark's, text for text, are used (``Environment.reads_runs``). A run is
    followed up to the first call that may change something and answers differently: from there on the states differ.

    Yields:
        Calls with the differing piece of the recorded response, "" when the response is the same. Empty responses are
        skipped.
    """
    kept = current_execution().remember("compared runs", task, dict[str, list[tuple[Answered, str]]])
    if run.id not in kept:
        kept[run.id] = list(_compare(task, run))
    yield from kept[run.id]


def replayed_verdict(task: AgentTask, run: Trajectory) -> Verdict | None:
    """Judge what an agent did and said in a recorded run by the ground truth and the evaluator as they are now.

    Returns:
        None when nothing can be said: no environment that reads runs, a run without a verdict or that was cut off, or a
        tool that answers otherwise now than it did then.
    """
    environment = current_execution().environment_for_runs(task)
    if environment is None or run.status != "ok" or run.passed is None:
        return None
    attempt = environment.attempt_of(run.messages)
    if attempt is None:
        return None
    if any(differs for _, differs in other_than_replayed(task, run)):
        return None
    try:
        return environment.evaluate(task, attempt)
    except (ExecutionError, UnavailableError):
        return None


def _compare(task: AgentTask, run: Trajectory) -> Iterator[tuple[Answered, str]]:
    environment = current_execution().environment_for_runs(task)
    if environment is None:
        return
    try:
        environment.reset(task)
        for now in answered(run.messages):
            replayed = environment.call(now.call).text
            if not now.text:
                continue
            yield now, "" if replayed == now.text else _first_difference(now.text, replayed)
            tool = task.tool(now.call.name, now.call.requestor)
            if replayed != now.text and (tool is None or tool.effect != "read"):
                return
    except (ExecutionError, UnavailableError):
        return


def _first_difference(recorded: str, replayed: str) -> str:
    """Return the piece of the recorded text around its first difference from the replayed one, never empty."""
    common = len(commonprefix((recorded, replayed)))
    return recorded[max(0, common - 20) : common + 40]
