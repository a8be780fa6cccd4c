"""Limited processes in which a benchmark's own code runs, each task in a process that has seen nothing else.

``worker`` has the worker, the pool of workers and the session of one task; ``sandbox`` starts the contained host that
workers are forked from; ``isolation`` has the limits; ``channel`` carries requests and answers. The programs in
``inside`` run in the sandbox; the layers around it are those of :mod:`agenthard.containment`.
"""

from agenthard.audit.execution.workers.isolation import WorkerLimits
from agenthard.audit.execution.workers.sandbox import why_not_contained
from agenthard.audit.execution.workers.worker import Worker, WorkerPool, WorkerSession
from agenthard.containment.isolation import Isolation

__all__ = ["Isolation", "Worker", "WorkerLimits", "WorkerPool", "WorkerSession", "why_not_contained"]
