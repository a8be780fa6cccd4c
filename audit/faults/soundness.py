"""Which tasks of a benchmark can count as sound: the audit finds nothing in them, and their ground truth runs."""

from collections.abc import Sequence

from agenthard.audit.conclude import conclude
from agenthard.audit.detectors.registry import detectors
from agenthard.audit.faults.guards import accepted, replayed
from agenthard.audit.shards import check_shard
from agenthard.taxonomy.finding import Tier
from agenthard.taxonomy.task import AgentTask


def sound_tasks(tasks: Sequence[AgentTask]) -> list[AgentTask]:
    """Keep the tasks without a finding, whose ground truth is executed and accepted wherever that can be tried.

    Signals do not count: they say nothing about a task. A task that nothing executes is kept as well.

    Args:
        tasks: tasks of one benchmark, in its order.
    """
    everything = detectors()
    findings, _ = conclude("", [task.id for task in tasks], [check_shard(tasks, {}, everything)], everything)
    flagged = {id for finding in findings if finding.tier is not Tier.SIGNAL for id in finding.task_ids}
    return [task for task in tasks if task.id not in flagged and _runs(task)]


def _runs(task: AgentTask) -> bool:
    if accepted(task) is False:
        return False
    done = replayed(task)
    return done is None or (done.final != done.initial and not any(step.observation.error for step in done.steps))
