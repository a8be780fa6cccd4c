"""Carry out the readings that a judge writes down, and say what that makes of the issue.

An ambiguity that is only asserted, where a program could have carried out two readings, counts as a signal. An issue
whose readings fail their trial is refuted. One whose readings hold is confirmed by the votes of other readers
(`agenthard.audit.judge.aggregate.readings`).
"""

import json
from typing import Any

from agenthard.audit.execution.environment import ExecutionError, UnavailableError
from agenthard.audit.judge.verdict import CheckedIssue, Issue, WrittenCall, WrittenReading
from agenthard.audit.readings.outcome import KINDS, ReadingsOutcome, after_trials
from agenthard.audit.readings.planner import plan
from agenthard.audit.readings.records import Reading
from agenthard.audit.readings.trial import gold_reading, try_reading, why_no_trial
from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.task import AgentTask, ToolCall

MOST_READINGS, MOST_CALLS = 6, 80
"""Readings of an issue, and calls of a reading, that are carried out."""


class WrittenReadingError(AgentHardError, ValueError):
    """A reading cannot be carried out as it is written; the message says why."""

    code = "AH407"
    remedy = "Nothing: the reading counts as one that fails its replay."


def carried_out(task: AgentTask, issue: CheckedIssue) -> CheckedIssue:
    """Carry out the readings, or the goal, of an issue that neither a check nor another rule has settled.

    Args:
        task: the task.
        issue: an issue after the gate; one that is not verified is returned as it is.
    """
    said = issue.issue
    if issue.standing != "verified":
        return issue
    try:
        if said.category == "insufficient-toolset" and said.goal:
            return _searched(task, issue)
        if said.category not in KINDS or (not said.readings and KINDS[said.category] != "ambiguous"):
            return issue
        reason = why_no_trial(task)
        if reason is not None:
            told = f"its readings cannot be carried out: {reason}"
            return issue.model_copy(update={"reason": told}) if said.readings else issue
        if not said.readings:
            told = "it says that there are two readings, and writes neither as calls that could be carried out"
            return issue.model_copy(update={"lowered": True, "reason": told})
        return _settled(issue, _outcome(task, said))
    except (UnavailableError, ExecutionError) as error:
        return issue.model_copy(update={"reason": f"its readings cannot be carried out: {error}"})


def _searched(task: AgentTask, issue: CheckedIssue) -> CheckedIssue:
    goal = []
    for wanted in issue.issue.goal[:20]:
        try:
            goal.append((wanted.pointer, json.loads(wanted.value)))
        except (ValueError, RecursionError):
            return issue.model_copy(update={"reason": f"the wanted value at {wanted.pointer!r} is not valid JSON"})
    found = plan(task, goal)
    standing = "refuted" if found.calls or found.met else "verified"
    return issue.model_copy(update={"standing": standing, "reason": found.said})


def _settled(issue: CheckedIssue, outcome: ReadingsOutcome) -> CheckedIssue:
    told: dict[str, Any] = {"readings": outcome, "reason": outcome.reason}
    if outcome.standing == "withdrawn":
        told["standing"] = "refuted"
    return issue.model_copy(update=told)


def _outcome(task: AgentTask, said: Issue) -> ReadingsOutcome:
    kind, unwritten = KINDS[said.category], []
    readings = [gold_reading(task)] if _is_run(task) else []
    for name, written in zip("ABCDEF", said.readings[:MOST_READINGS], strict=False):
        try:
            reading = as_reading(task, name, written)
        except WrittenReadingError as error:
            unwritten.append(f"reading {name}: {error}")
            continue
        if not readings or _made(readings[0]) != _made(reading) or not reading.right:
            readings.append(reading)
    trials = [try_reading(task, reading) for reading in (*readings[1:], *readings[:1])]
    outcome = after_trials(kind, trials)
    return outcome.model_copy(update={"reason": "; ".join((outcome.reason, *unwritten))})


def _is_run(task: AgentTask) -> bool:
    """Tell whether the ground truth is a run: a path of calls, or that nothing is to be done."""
    return not any(task.ground_truth.turns) or task.ground_truth.semantics != "milestones"


def _made(reading: Reading) -> list[list[tuple[str, str, dict[str, Any]]]]:
    return [[(call.name, call.requestor, call.arguments) for call in turn] for turn in reading.turns if turn]


def as_reading(task: AgentTask, name: str, written: WrittenReading) -> Reading:
    """Read a reading as a judge writes it.

    Args:
        task: the task, whose ground truth says how many turns there are.
        name: letter of the reading.
        written: what the judge wrote.

    Raises:
        WrittenReadingError: it is not a run: arguments that are not a JSON object, too many calls or turns.
    """
    turns = max(len(task.ground_truth.turns), len(task.user.turns), 1)
    if len(written.calls) > MOST_CALLS:
        raise WrittenReadingError(f"{len(written.calls)} calls are more than the {MOST_CALLS} that are carried out")
    calls: list[list[ToolCall]] = [[] for _ in range(turns)]
    for number, call in enumerate(written.calls, 1):
        if call.turn >= turns:
            raise WrittenReadingError(f"call {number} is in turn {call.turn}, and the last one is {turns - 1}")
        calls[call.turn].append(ToolCall(name=call.tool, arguments=_arguments(number, call), requestor=call.requestor))
    return Reading(
        name=name,
        meaning=written.meaning,
        turns=tuple(map(tuple, calls)),
        says=written.says,
        right=written.right,
    )


def _arguments(number: int, call: WrittenCall) -> dict[str, Any]:
    try:
        value = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError) as error:
        raise WrittenReadingError(f"the arguments of call {number} are not valid JSON: {error}") from error
    if not isinstance(value, dict):
        raise WrittenReadingError(f"the arguments of call {number} are not a JSON object")
    return value
