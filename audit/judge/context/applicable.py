"""Which categories a judge is asked about: those that this task can have and one prompt can show."""

from collections.abc import Callable
from functools import cache

from agenthard.audit.judge.templates import data
from agenthard.taxonomy.categories import Category, Taxonomy
from agenthard.taxonomy.task import AgentTask

Condition = Callable[[AgentTask, bool], bool]
"""Whether something holds of a task, and of whether runs of it are shown."""

CONDITIONS: dict[str, Condition] = {
    "never": lambda task, runs: False,
    "simulated_user": lambda task, runs: task.user.kind == "simulated",
    "run": lambda task, runs: runs,
    "tools": lambda task, runs: bool(task.environment.tools),
    "prompt": lambda task, runs: bool(task.environment.policy) or "system" in _roles(task),
    "calls_wanted": lambda task, runs: "expects_no_call" not in task.traits,
    "responses": lambda task, runs: runs or "tool" in _roles(task) or _replayed(task),
    "scored": lambda task, runs: any(check.scored for check in task.evaluation.checks),
    "gold": lambda task, runs: task.ground_truth.semantics != "none",
    "gold_calls": lambda task, runs: any(task.ground_truth.turns),
    "expected_values": lambda task, runs: _expects_values(task),
}
"""Conditions by the name they have in ``prompts/conditions.yaml``."""


def applicable(task: AgentTask, taxonomy: Taxonomy, simulated_runs: bool = False) -> tuple[Category, ...]:
    """List the categories to put to a judge, in the order of the taxonomy.

    Args:
        task: The task.
        taxonomy: All categories; one without conditions, such as a user's own, always applies.
        simulated_runs: Whether runs of the task are shown, in which a simulated user can be seen to leave its role.
    """
    conditions = _conditions()
    return tuple(
        category
        for category in taxonomy.categories
        if all(CONDITIONS[name](task, simulated_runs) for name in conditions.get(category.id, ()))
    )


@cache
def _conditions() -> dict[str, list[str]]:
    found: dict[str, list[str]] = data("conditions.yaml")
    return found


def _roles(task: AgentTask) -> set[str]:
    return {message.role for turn in task.user.turns for message in turn}


def _replayed(task: AgentTask) -> bool:
    """Whether calls of the ground truth are executed, so that their responses are available."""
    truth = task.ground_truth
    return truth.call_matching == "state" and truth.semantics != "milestones" and any(truth.turns)


def _expects_values(task: AgentTask) -> bool:
    truth = task.ground_truth
    stated = (check.expected for check in task.evaluation.checks if check.scored and check.kind != "tool_calls")
    return bool(truth.outputs or truth.answers) or any(value is not None for value in stated)
