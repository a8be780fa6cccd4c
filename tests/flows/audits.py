"""An audit by its steps, without Prefect."""

from pathlib import Path

from agenthard.flows.audit_outputs import publish
from agenthard.flows.audit_plan import AuditInput, AuditPlan, AuditSettings, make_plan
from agenthard.flows.run_folder import RunFolder
from agenthard.flows.shard_worker import run_shard


def audit_by_steps(settings: AuditSettings) -> AuditPlan:
    given = AuditInput(settings)
    plan = make_plan(given, RunFolder(Path(settings.out)))
    for number in range(plan.shards):
        run_shard(given.settings, number, given.tasks[plan.shard(number)])
    publish(given, plan)
    return plan
