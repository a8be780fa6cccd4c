"""Limited processes in which a benchmark's own code runs, each task in a process that nothing has touched before."""

from agenthard.audit.execution.workers.isolation import Isolation, allow_weak_isolation, isolations_used
from agenthard.audit.execution.workers.limits import Limits
from agenthard.audit.execution.workers.pool import WorkerPool
from agenthard.audit.execution.workers.sandbox import why_not_contained
from agenthard.audit.execution.workers.session import WorkerSession
from agenthard.audit.execution.workers.worker import Worker

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
