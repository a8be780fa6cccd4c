"""When what the user says can be compared with the calls of the ground truth."""

from agenthard.taxonomy.task import AgentTask


def why_not_compared(task: AgentTask) -> str | None:
    """Say why the gold calls of a task cannot be compared with what its user says; None where they can."""
    if not any(task.ground_truth.turns):
        return "the ground truth holds no calls"
    return None if any(True for _ in task.user_texts()) else "the user says nothing"
