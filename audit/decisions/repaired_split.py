"""The repaired split: what the cleaned split keeps, and tasks that a re-checked change repaired."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from agenthard.audit.decisions.policy import Action, Decision, Policy
from agenthard.audit.decisions.split import (
    SplitManifest,
    not_kept,
    split_id_of,
    write_manifest,
    write_tasks,
)
from agenthard.audit.repair.file_edits import FileEdit
from agenthard.audit.sources.base import Quarantined, Source, Version
from agenthard.taxonomy.finding import Finding
from agenthard.taxonomy.record import Record


class Acceptance(Record):
    """A person's decision that a patch goes into the split."""

    finding_id: str
    """Finding that the patch repairs."""
    by: str
    """Who accepted it."""
    at: datetime
    """When, in UTC."""
    reason: str
    """Why; may be empty."""


class RepairedTask(Record):
    """A task that is in the split in a changed form."""

    task_id: str
    """Task."""
    audit_decision: Action
    """What the audit decided about the unchanged task; the audit's own split follows that decision."""
    finding_ids: tuple[str, ...]
    """Findings that the change removes."""
    reasons: tuple[str, ...]
    """What was repaired, and what a person still has to look at."""
    edits: tuple[FileEdit, ...]
    """The change, as JSON Patches against the benchmark's own files."""
    content_hash: str | None = None
    """Content hash of the unchanged task: it tells whose code executes the changed one."""
    accepted: tuple[Acceptance, ...] = ()
    """People who accepted patches that are among the changes; the other patches are those that checks propose."""


class RepairedSplitManifest(SplitManifest):
    """What a repaired split holds: ``repaired`` are the tasks repaired in, ``dropped`` those that are removed."""

    repaired: tuple[RepairedTask, ...]
    """Tasks that are in the split in a changed form."""


def decide_repaired(
    policy: Policy,
    decisions: Sequence[Decision],
    findings: Sequence[Finding],
    repaired_findings: Mapping[str, Collection[str]],
    unchecked: Mapping[str, Collection[str]],
    settled: Collection[str] = (),
) -> list[Decision]:
    """Decide again about the repaired tasks; all other decisions stay the same.

    A repaired task is put back, unless one of its remaining findings drops it or a person decided about it.

    Args:
        policy: the rules of the audit.
        decisions: the audit's decisions.
        findings: the audit's findings.
        repaired_findings: ids of the findings that accepted changes remove, by task.
        unchecked: checks that end in an error on the changed task, by task.
        settled: tasks that people have looked at and not called flawed: their decisions stay.
    """
    again = []
    for decision in decisions:
        task_id = decision.task_id
        if not repaired_findings.get(task_id) or task_id in policy.overrides or task_id in settled:
            again.append(decision)
            continue
        touching = [finding for finding in findings if task_id in finding.task_ids]
        left = [finding for finding in touching if finding.id not in repaired_findings[task_id]]
        actions = {policy.action_for(finding, task_id) for finding in left}
        if unchecked.get(task_id):
            actions.add(policy.incomplete)
        if "drop" in actions:
            again.append(decision)
            continue
        done = [finding for finding in touching if finding.id in repaired_findings[task_id]]
        reasons = [f"repaired: {finding.check}: {finding.claim}" for finding in done]
        open_ends = [finding for finding in left if policy.action_for(finding, task_id) == "review"]
        reasons += [f"still to be reviewed: {finding.check}: {finding.claim}" for finding in open_ends]
        reasons += [f"not fully checked: {check} ended in an error" for check in sorted(unchecked.get(task_id, ()))]
        ids = tuple(finding.id for finding in done)
        again.append(Decision(task_id=task_id, action="repair", reasons=tuple(reasons), finding_ids=ids))
    return again


def write_repaired_split(
    repaired: Source,
    out: Path,
    before: Sequence[Decision],
    decisions: Sequence[Decision],
    edits: Mapping[str, Sequence[FileEdit]],
    content_hashes: Mapping[str, str | None],
    *,
    benchmark: Version,
    policy: Policy,
    checks: dict[str, str],
    agenthard: str,
    quarantined: Sequence[Quarantined],
    accepted: Mapping[str, Sequence[Acceptance]],
) -> RepairedSplitManifest:
    """Write the split named "repaired": every task that is not dropped, repaired tasks in their changed form.

    Args:
        repaired: the benchmark with just the changes of the tasks that ``decisions`` repair.
        out: folder to write; it is created.
        before: the audit's decisions, one per task in the benchmark's order.
        decisions: those after the repairs, in the same order.
        edits: changes by task.
        content_hashes: content hashes of the unchanged tasks that have changes.
        benchmark: release that was audited.
        policy: the policy behind the decisions.
        checks: version of every check.
        agenthard: version of AgentHard.
        quarantined: task records that could not be read.
        accepted: people who accepted the changes of a task, by task.

    Returns:
        The manifest, which is also written as ``manifest.json`` into ``out``.
    """
    keep = [decision.task_id for decision in decisions if decision.action != "drop"]
    put_back = tuple(
        RepairedTask(
            task_id=after.task_id,
            audit_decision=first.action,
            finding_ids=after.finding_ids,
            reasons=after.reasons,
            edits=tuple(edits[after.task_id]),
            content_hash=content_hashes[after.task_id],
            accepted=tuple(accepted.get(after.task_id, ())),
        )
        for first, after in zip(before, decisions, strict=True)
        if after.action == "repair"
    )
    files = write_tasks(repaired, out, keep)
    counts = Counter(decision.action for decision in decisions)
    actions: tuple[Action, ...] = ("keep", "repair", "drop", "review", "unchecked")
    changes = [task.model_dump(mode="json", include={"task_id", "edits"}) for task in put_back]
    manifest = RepairedSplitManifest(
        split="repaired",
        split_id=split_id_of(benchmark, policy, keep, changes),
        source=repaired.name,
        benchmark=benchmark,
        agenthard=agenthard,
        checks=checks,
        policy=policy,
        total=len(decisions),
        kept=len(keep),
        counts={action: counts[action] for action in actions},
        kept_ids=tuple(keep),
        dropped=not_kept(decisions, "drop"),
        under_review=not_kept(decisions, "review"),
        unchecked=not_kept(decisions, "unchecked"),
        quarantined=tuple(quarantined),
        files=files,
        repaired=put_back,
    )
    write_manifest(manifest, out)
    return manifest
