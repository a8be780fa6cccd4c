"""Proposals: for one finding and one of its tasks, the patch that its check offers."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from agenthard.audit.conclude import conclude
from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.execution.context import Execution
from agenthard.audit.shards import check_shard
from agenthard.taxonomy.finding import Finding, Severity, Tier
from agenthard.taxonomy.pointer import split
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.task import AgentTask

Patch = tuple[dict[str, Any], ...]
"""Operations of a JSON Patch."""


class Proposal(Record):
    """One minimal change of one task that would remove one finding from it."""

    finding_id: str
    """Finding."""
    check: str
    """Its check."""
    category: str
    """Its taxonomy category."""
    tier: Tier
    """How sure the check is."""
    severity: Severity
    """What the flaw does to the score."""
    task_id: str
    """Task."""
    claim: str
    """What is wrong, as the check says it."""
    patch: tuple[dict[str, Any], ...]
    """JSON Patch (RFC 6902) against the AgentTask record; empty when the check offers none for this task."""

    @classmethod
    def of(cls, finding: Finding, task_id: str, patch: Patch, claim: str | None = None) -> "Proposal":
        """Return a change of one of the tasks of a finding; without a claim of its own, the finding's."""
        said = {name: getattr(finding, name) for name in ("check", "category", "tier", "severity")}
        return cls(finding_id=finding.id, task_id=task_id, claim=claim or finding.claim, patch=patch, **said)


def propose(
    benchmark: str, finding: Finding, task: AgentTask, detector: TaskDetector, execution: Execution | None = None
) -> Proposal:
    """Run the check of a finding again on one of its tasks, and collect the patches of its hits.

    A finding can have several hits in one task (the same wrong file name in three calls); their patches are one, the
    last place first, so that a removal does not shift what comes after it.

    Args:
        benchmark: name of the source.
        finding: the finding.
        task: one of its tasks.
        detector: its check.
        execution: whose code executes the task; None = the active one.

    Returns:
        A proposal, with an empty patch when one of the hits has none or the check does not find the flaw again.
    """
    hits = list(_hits(benchmark, finding, task, detector, execution))
    patches = [hit.patch for hit in hits]
    claim = hits[0].claim if hits else finding.claim
    return Proposal.of(finding, task.id, last_place_first(patches) if all(patches) else (), claim)


def last_place_first(patches: Sequence[Patch]) -> Patch:
    """Join patches so that a removal does not shift a place that a later operation names."""
    ordered = sorted(patches, key=lambda patch: _position(patch[0]["path"]), reverse=True)
    return tuple(chain.from_iterable(ordered))


def _hits(
    benchmark: str, finding: Finding, task: AgentTask, detector: TaskDetector, execution: Execution | None
) -> Iterator[Hit]:
    shard = check_shard([task], {}, [detector], execution)
    for item in shard.hits:
        alone = replace(shard, hits=(item,))
        found, _ = conclude(benchmark, [task.id], [alone], [detector])
        if found[0].id == finding.id:
            yield item.hit


def _position(pointer: str) -> list[tuple[int, str]]:
    """Sort key of a pointer in document order: list positions as numbers."""
    return [(int(token), "") if token.isdigit() else (-1, token) for token in split(pointer)]
