"""Limited processes in which a benchmark's own code runs, each task in a process that nothing has touched before."""

from audit.execution.workers.isolation import Isolation, allow_weak_isolation, isolations_used
from audit.execution.workers.limits import Limits
from audit.execution.workers.pool import WorkerPool
from audit.execution.workers.sandbox import why_not_contained
from audit.execution.workers.session import WorkerSession
from audit.execution.workers.worker import Worker

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
