"""Which splits can be run as an Inspect task, and the file with which a published folder brings it."""

from collections.abc import Mapping

from agenthard.audit.execution.declared_evaluation import DeclaredEvaluation, score
from agenthard.audit.execution.environment import Attempt, UnavailableError
from agenthard.audit.execution.registry import has_code, inspect_task_of, why_not_published
from agenthard.taxonomy.task import AgentTask

_FILE = '''"""This split as an Inspect task: `inspect eval inspect_task.py --model MODEL`."""

from pathlib import Path

from inspect_ai import Task, task

from agenthard.flows.publishing.inspect_task import published_split


@task
def split(max_steps: int = 30) -> Task:
    """Plays the tasks of this folder."""
    return published_split(str(Path(__file__).parent), max_steps)
'''


def inspect_file() -> str:
    """Return ``inspect_task.py`` of a publication."""
    return _FILE


def why_not_played(task: AgentTask) -> str:
    """Return why a task cannot be run as an Inspect sample; empty when it can.

    Our code has to play the user, to answer calls where the ground truth is a state, and to score.
    """
    if own := inspect_task_of(task.benchmark):
        return f"Inspect has a task of its own for it: `inspect eval {own} -T path=native/...`"
    if task.user.kind == "simulated":
        return "a model plays the user, with instructions of the benchmark's own harness; run that one on `native/`"
    if not task.user.turns:
        return "it has no turn of the user"
    if has_code(task.benchmark):
        return why_not_published(task) or ""
    if len(task.user.turns) > 1:
        return "it has several turns, and no code here answers the calls between them"
    try:
        score(DeclaredEvaluation.of(task), Attempt(turns=((),), replies=("",)))
    except UnavailableError as reason:
        return f"its score does not follow from what the task declares: {reason}"
    return ""


def why_none_played(kept: int, reasons: Mapping[str, int]) -> str:
    """Return the most frequent reason why none of the tasks of a split can be run; empty when one can.

    >>> why_none_played(3, {"it has no turn of the user": 2}), why_none_played(2, {"it has no turn of the user": 2})
    ('', 'it has no turn of the user')
    """
    if kept == 0:
        return "it has no task"
    return max(reasons, key=lambda each: reasons[each]) if sum(reasons.values()) == kept else ""
