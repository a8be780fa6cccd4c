"""Repairs: the patch that a check proposes, a try in a copy of the benchmark, and the text of an issue."""

import json
from threading import Lock

from agenthard.audit.detectors.base import TaskDetector
from agenthard.audit.repair.issue_text import issue_text
from agenthard.audit.repair.proposals import Patch, Proposal, propose
from agenthard.audit.repair.recheck import TaskChecker
from agenthard.audit.repair.repairs import Repair, RepairRunner
from agenthard.flows.audit_plan import AuditInput
from agenthard.flows.review.web.open_run import OpenRun
from agenthard.taxonomy.finding import Finding
from agenthard.taxonomy.printable import printable
from agenthard.taxonomy.record import Record

_trying = Lock()
"""One try at a time: each reads the benchmark again and runs its checks."""


class Trial(Record):
    """A patch that was tried."""

    repair: Repair
    """The change of the files, and what checks, replay and evaluator say after it."""
    issue: str
    """Text of an issue for the maintainers, in Markdown; empty when the change is not accepted."""


def proposed(run: OpenRun, finding: Finding, task_id: str) -> Patch:
    """Return the patch that the check of a finding proposes for a task; empty where it knows none."""
    detector = next((each for each in run.audit.checks if each.id == finding.check), None)
    if not finding.patch or not isinstance(detector, TaskDetector):
        return ()
    with _trying, run.audit.audited.settings.execution() as execution:
        return propose(run.source.name, finding, run.task(task_id), detector, execution).patch


def attempt(run: OpenRun, finding: Finding, task_id: str, patch: Patch) -> Trial:
    """Make a change in a copy of the benchmark, read the task again and re-check it.

    Args:
        run: the audit.
        finding: the finding that the change should remove.
        task_id: the task.
        patch: JSON Patch against the task record.

    Raises:
        SourceError: the copy of the benchmark cannot be read.
    """
    audited, source = run.audit.audited, run.source
    proposal = Proposal.of(finding, task_id, tuple(patch))
    with _trying, audited.settings.execution() as execution:
        tasks = AuditInput(audited.settings, source).tasks
        checker = TaskChecker(source.name, tasks, audited.settings.checks(), audited.observed(), execution)
        runner = RepairRunner(source.folder or source.root.parent, audited.opener(source), tasks, checker)
        [repair] = runner.try_all([proposal], lambda _: None)
        issue = ""
        if repair.accepted:
            task = run.task(finding.evidence[0].task_id)
            issue = issue_text(source, audited.version, finding, task, [repair], checker.left_out)
    return Trial(repair=repair, issue=printable(issue))


def patch_text(patch: Patch) -> str:
    """Write a patch for people to read and edit."""
    return json.dumps(list(patch), ensure_ascii=False, indent=2)
