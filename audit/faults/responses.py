"""Flaws of runs: tools that answer wrongly."""

import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from agenthard.audit.faults.editing import peers
from agenthard.audit.faults.operator import Fault, Sound, operator, run_fault, sample_runs
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

_RESPONSE = "incorrect-tool-response"


def _answers(run: Trajectory) -> list[tuple[int, dict[str, Any]]]:
    """List the tool responses that are JSON objects and no errors."""
    found = []
    for index, message in enumerate(run.messages):
        if message.role == "tool":
            try:
                answer = json.loads(message.content)
            except ValueError:
                continue
            if isinstance(answer, dict) and "error" not in answer:
                found.append((index, answer))
    return found


def _answered_otherwise(
    sound: Sound, rng: Random, change: Callable[[Trajectory, Random], tuple[Trajectory, str, Any] | None], claim: str
) -> Fault | None:
    chosen = sample_runs(sound.runs, rng) if sound.runs else set()
    runs, done = [], None
    for run in sound.runs:
        changed = change(run, rng) if run.id in chosen else None
        runs.append(changed[0] if changed else run)
        done = done or changed
    return run_fault(sound, runs, done[1], None, done[2], claim) if done else None


def _another(value: int | str, rng: Random) -> int | str | None:
    """Choose a value that is told in the place of another."""
    if isinstance(value, int):
        return value + rng.choice((1, 3, -2, 100))
    return rng.choice((f"{value} (2)", f"{value} II", f"old {value}", "unknown", None))


def _with_content(run: Trajectory, index: int, answer: dict[str, Any]) -> Trajectory:
    text = json.dumps(answer, ensure_ascii=False)
    message = run.messages[index].model_copy(update={"content": text})
    return run.model_copy(update={"messages": (*run.messages[:index], message, *run.messages[index + 1 :])})


@operator(_RESPONSE, "rules", "call and response name different entities", rule_known=True)
def response_about_another_entity(sound: Sound, rng: Random) -> Fault | None:
    """Let a tool answer about another entity than the call names."""

    def exchanged(run: Trajectory, rng: Random) -> tuple[Trajectory, str, Any] | None:
        return _another_entity(sound.task, run, rng)

    return _answered_otherwise(sound, rng, exchanged, "the response is about another entity than asked for")


def _another_entity(task: AgentTask, run: Trajectory, rng: Random) -> tuple[Trajectory, str, Any] | None:
    for index, answer in _answers(run):
        call = next((c for m in run.messages for c in m.tool_calls if c.id == run.messages[index].tool_call_id), None)
        inside = isinstance(answer.get("data"), dict)
        told = answer["data"] if inside else answer
        names = [k for k in told if k == "id" or k.endswith("_id")]
        shared = [k for k in names if call and call.arguments.get(k) == told[k]]
        others = peers(task, told[shared[0]]) if shared else []
        if others:
            wrong = rng.choice(others)
            changed = {**told, shared[0]: wrong}
            answer = {**answer, "data": changed} if inside else changed
            return _with_content(run, index, answer), f"/messages/{index}/content", wrong
    return None


@operator(_RESPONSE, "rules", "nothing was changed between two calls that are answered differently", rule_known=False)
def response_that_changes_by_itself(sound: Sound, rng: Random) -> Fault | None:
    """Let a look-up be answered otherwise when it is made again at once."""
    reads = {tool.name for tool in sound.task.environment.tools if tool.effect == "read"}

    def again(run: Trajectory, rng: Random) -> tuple[Trajectory, str, Any] | None:
        for index, answer in _answers(run):
            asked = run.messages[index - 1]
            texts = [key for key, value in answer.items() if isinstance(value, int | str) and not key.endswith("id")]
            if len(asked.tool_calls) != 1 or asked.tool_calls[0].name not in reads or not texts or "data" in answer:
                continue
            key = rng.choice(texts)
            wrong = _another(answer[key], rng)
            call = asked.tool_calls[0].model_copy(update={"id": f"{asked.tool_calls[0].id}_again"})
            reply = run.messages[index].model_copy(
                update={"tool_call_id": call.id, "content": json.dumps({**answer, key: wrong}, ensure_ascii=False)}
            )
            twice = (asked.model_copy(update={"tool_calls": (call,)}), reply)
            messages = (*run.messages[: index + 1], *twice, *run.messages[index + 1 :])
            return run.model_copy(update={"messages": messages}), f"/messages/{index + 2}/content", wrong
        return None

    return _answered_otherwise(sound, rng, again, "the same look-up is answered in two ways")


@operator(_RESPONSE, "rules", "the state has another value, and nothing was written before", rule_known=False)
def value_that_the_state_lacks(sound: Sound, rng: Random) -> Fault | None:
    """Let a look-up give a record another value than it has in the state, before anything was written."""
    reads = {tool.name for tool in sound.task.environment.tools if tool.effect == "read"}

    def misread(run: Trajectory, rng: Random) -> tuple[Trajectory, str, Any] | None:
        made = {call.id: call.name for message in run.messages for call in message.tool_calls}
        for index, answer in _answers(run):
            if made.get(run.messages[index].tool_call_id) not in reads:
                return None
            fields = [
                (record, key)
                for record, stored in _stored(sound.task, answer)
                for key, value in record.items()
                if type(value) in (int, str) and key in stored and stored[key] == value and not peers(sound.task, value)
            ]
            if fields:
                record, key = rng.choice(fields)
                record[key] = _another(record[key], rng)
                return _with_content(run, index, answer), f"/messages/{index}/content", record[key]
        return None

    return _answered_otherwise(sound, rng, misread, "a record has another value than in the state")


def _stored(task: AgentTask, value: Any, key: str = "") -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield the records inside a response that are in a table of the state, each with the stored value."""
    if isinstance(value, dict):
        states = [state for state in (task.initial_state, task.environment.state) if isinstance(state, dict)]
        tables = [table for state in states for table in state.values() if isinstance(table, dict)]
        names = [key, *(item for item in value.values() if isinstance(item, str))]
        rows = (table[name] for name in names for table in tables if isinstance(table.get(name), dict))
        yield from ((value, row) for row in rows)
        for name, item in value.items():
            yield from _stored(task, item, name)


@operator(_RESPONSE, "judge", "that the call was legal needs the tool's rules", rule_known=False)
def refusal_of_a_legal_call(sound: Sound, rng: Random) -> Fault | None:
    """Let a tool refuse a call that it carries out in other runs."""

    def refused(run: Trajectory, rng: Random) -> tuple[Trajectory, str, Any] | None:
        for index, _ in _answers(run):
            error = {"error": rng.choice(("not permitted", "this record is locked", "invalid request"))}
            return _with_content(run, index, error), f"/messages/{index}/content", error["error"]
        return None

    return _answered_otherwise(sound, rng, refused, "a legal call is refused")
