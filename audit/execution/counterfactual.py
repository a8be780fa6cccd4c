"""What a verdict depends on: attempts are judged again with one cause removed, or with one argument changed."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from agenthard.audit.execution.attempts import argument_path, attempt_of, place_of, replaced, value_at, with_call
from agenthard.audit.execution.context import current_execution
from agenthard.audit.execution.declared_evaluation import accepts
from agenthard.audit.execution.environment import Attempt, Environment, ExecutionError, UnavailableError
from agenthard.audit.execution.gold import environment_of, gold_replay, why_no_path
from agenthard.audit.execution.mutation.operators import written_otherwise
from agenthard.audit.execution.replay import Turns, gold_turns
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

Correction = Callable[[AgentTask, Attempt], Attempt]
"""Removes a cause from an attempt; returns an equal attempt where the cause is absent."""


def decided_runs(task: AgentTask, runs: Iterable[Trajectory], correction: Correction) -> tuple[int, int] | None:
    """Count the failed runs of a task that pass once a cause is removed from them.

    A run counts when its own calls and replies fail here, as in the log, and the corrected ones pass.

    Returns:
        Number of runs with a verdict, and of those that the cause decides; None where no environment judges recorded
        runs.
    """
    environment = current_execution().environment_for_runs(task)
    if environment is None:
        return None
    number = decided = 0
    for run in runs:
        if run.passed is None:
            continue
        number += 1
        attempt = None if run.passed else environment.attempt_of(run.messages)
        if attempt is None:
            continue
        corrected = correction(task, attempt)
        if corrected == attempt and str(corrected) == str(attempt):
            continue
        try:
            before, after = environment.evaluate(task, attempt), environment.evaluate(task, corrected)
        except (ExecutionError, UnavailableError):
            continue
        decided += not before.passed and after.passed
    return number, decided


def whole_numbers(task: AgentTask, attempt: Attempt) -> Attempt:
    """Write the whole numbers among the arguments without a fraction: 250 for 250.0."""
    turns = tuple(
        tuple(call.model_copy(update={"arguments": _whole(call.arguments), "text": None}) for call in turn)
        for turn in attempt.turns
    )
    return attempt.model_copy(update={"turns": turns})


def numbers_as_required(task: AgentTask, attempt: Attempt) -> Attempt:
    """Write numbers in replies as the ground truth does: 481.50 for 481.5, 4 for four."""
    replies = []
    for reply in attempt.replies:
        for text in task.ground_truth.outputs:
            for _, spelled in written_otherwise(text):
                reply = re.sub(rf"(?<![\w.,]){re.escape(spelled)}(?!\w|[.,]\d)", text, reply, flags=re.IGNORECASE)
        replies.append(reply)
    return attempt.model_copy(update={"replies": tuple(replies)})


CORRECTIONS: dict[str, Correction] = {
    "whole-number-as-fraction": whole_numbers,
    "number-without-last-zero": numbers_as_required,
    "number-with-cents": numbers_as_required,
    "number-in-words": numbers_as_required,
}
"""How the cause behind an operator of mutation is removed from a run."""


def _whole(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _whole(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_whole(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


_OTHER_TEXT = ("0 another value 0", "9876543210")
_ARGUMENT = re.compile(r"/ground_truth/turns/\d+/\d+/arguments/.+")


def why_never_compared(task: AgentTask, pointer: str) -> str | None:
    """Return why the evaluator never compares a gold argument; None when it does, or when that cannot be found out.

    The argument gets values of the same type that the ground truth does not accept, one at a time, and the environment
    judges each attempt and the ground truth itself. The result is None where the ground truth is rejected, or where the
    call fails in the replay, because the value may be the reason.

    Args:
        task: the task.
        pointer: JSON Pointer to an argument of a gold call, or to a value inside one.
    """
    if not _ARGUMENT.fullmatch(pointer):
        return None
    try:
        return _tried(task, place_of(pointer), argument_path(pointer))
    except (UnavailableError, ExecutionError):
        return None


def _tried(task: AgentTask, place: tuple[int, int], path: list[str]) -> str | None:
    environment, turns = environment_of(task), gold_turns(task)
    if task.ground_truth.call_matching == "state" and (why_no_path(task) or _fails(task, place)):
        return None
    gold, call = task.ground_truth.turns[place[0]][place[1]], turns[place[0]][place[1]]
    changed = [
        arguments
        for value in _others(value_at(call.arguments, path))
        if not accepts(gold.arguments, arguments := replaced(call.arguments, path, value))
    ]
    if not changed or not _all_pass(environment, task, turns, place, [call.arguments, *changed]):
        return None
    return f"{environment.label()} passes {len(changed)} other values there as well"


def _all_pass(
    environment: Environment, task: AgentTask, turns: Turns, place: tuple[int, int], tried: list[dict[str, Any]]
) -> bool:
    attempts = [attempt_of(task, with_call(turns, place, arguments=arguments)) for arguments in tried]
    verdicts = environment.evaluate_many(task, attempts)
    return all(not isinstance(verdict, ExecutionError) and verdict.passed for verdict in verdicts)


def _fails(task: AgentTask, place: tuple[int, int]) -> bool:
    steps = gold_replay(task).steps
    return any((step.turn, step.index) == place and step.observation.error is not None for step in steps)


def _others(value: Any) -> Iterator[Any]:
    """Yield other values of the same type; none for null, of which nothing is known."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value + 1, value * 10 + 7, -value - 1)
    elif isinstance(value, float):
        yield from (value + 1.5, value * 10 + 7.5, -value - 1.5)
    elif isinstance(value, str):
        yield from (text for text in _OTHER_TEXT if text != value)
    elif isinstance(value, list) and value:
        yield [next(_others(item), item) for item in value]
    elif isinstance(value, dict) and value:
        yield {key: next(_others(item), item) for key, item in value.items()}
