"""Limited processes in which a benchmark's own code runs, each task in a process that nothing has touched before."""

from agenthard.audit.execution.workers.isolation import Isolation, Limits, allow_weak_isolation, isolations_used
from agenthard.audit.execution.workers.sandbox import why_not_contained
from agenthard.audit.execution.workers.worker import Worker, WorkerPool, WorkerSession

__all__ = [
    "Isolation",
    "Limits",
    "Worker",
    "WorkerPool",
    "WorkerSession",
    "allow_weak_isolation",
    "isolations_used",
    "why_not_contained",
]
