"""Whether one cause decides the verdict on a recorded run: the run is judged again with just that cause removed."""

import re
from collections.abc import Callable, Iterable
from typing import Any

from agenthard.audit.execution.environment import Attempt, ExecutionError, UnavailableError
from agenthard.audit.execution.mutation.numbers import written_otherwise
from agenthard.audit.execution.registry import environment_for_runs
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

Correction = Callable[[AgentTask, Attempt], Attempt]
"""Removes a cause from an attempt; an attempt without it comes back equal."""


def decided_runs(task: AgentTask, runs: Iterable[Trajectory], correction: Correction) -> tuple[int, int] | None:
    """Count the failed runs of a task that pass once a cause is removed from them.

    A run counts when its own calls and replies fail here as they did in the log, and the corrected ones pass.

    Returns:
        Runs with a verdict, and those decided by the cause; None where no environment at hand judges recorded runs.
    """
    environment = environment_for_runs(task)
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
