"""Foreign code inside layers of isolation: one process without children, or a job that may start processes.

``command`` has the limits of a command and how it ended; ``isolation`` has the layers and says which are missing;
``job`` runs a command that may start processes; ``cgroup`` bounds them. Workers
(:mod:`agenthard.audit.execution.workers`) are processes without children. The programs in ``inside`` apply the layers.
"""

from agenthard.containment.command import CommandResult, JobLimits
from agenthard.containment.isolation import Isolation
from agenthard.containment.job import JobError, JobResult, run_job

__all__ = ["CommandResult", "Isolation", "JobError", "JobLimits", "JobResult", "run_job"]
