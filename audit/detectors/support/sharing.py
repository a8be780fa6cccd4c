"""Naming a flaw so that the variants of one base task report it once."""

from agenthard.audit.evidence import canonical_json
from agenthard.taxonomy.task import AgentTask


def shared_cause(task: AgentTask, *parts: object) -> str | None:
    """Name a cause by the task's cluster and ``parts``, so that all variants of the base task share one finding.

    Args:
        task: the task that carries the flaw.
        parts: what identifies the flaw within the base task, without turn numbers: variants shift them.

    Returns:
        The cause, or None for a task that has no variants.
    """
    if task.cluster is None:
        return None
    return " | ".join([task.cluster, *(part if isinstance(part, str) else canonical_json(part) for part in parts)])
