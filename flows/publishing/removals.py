"""What is not in a published split, or only until a person decides: why, with which evidence, and who decided."""

from collections.abc import Iterator, Mapping
from typing import Literal

from agenthard.audit.decisions.repaired_split import RepairedSplitManifest
from agenthard.audit.decisions.split import HardSplitManifest, NotKept
from agenthard.audit.judge.aggregate.findings import JudgeCheck
from agenthard.flows.publishing.chosen import ChosenSplit
from agenthard.taxonomy.finding import Finding
from agenthard.taxonomy.record import Record

Status = Literal["removed", "not_selected", "unreadable", "under_review", "unchecked", "repaired"]
Decided = Literal["check", "judge", "person", "policy"]
IN_SPLIT: tuple[Status, ...] = ("under_review", "unchecked", "repaired")


class Quote(Record):
    """Text of the benchmark's own file that shows a flaw."""

    file: str
    """File, relative to the benchmark's folder; the log of a run has its name."""
    line: int | None
    """1-based line; None when it is not known."""
    pointer: str
    """JSON Pointer in that document, or in the record of the task."""
    text: str
    """The text there."""
    note: str = ""
    """What it shows."""


class Reason(Record):
    """A finding behind a decision."""

    finding_id: str
    """Finding of the audit."""
    check: str
    """Check or judge that made it."""
    check_version: str
    """Its version."""
    category: str
    """Category of the taxonomy."""
    tier: str
    """How sure it is: confirmed, suspected or signal."""
    claim: str
    """What is wrong."""
    evidence: tuple[Quote, ...]
    """Quotes that show it; a program has found each again."""


class Decider(Record):
    """Who or what decided."""

    kind: Decided
    """A check by rule, a panel of models, a person of a review or an override, or the policy's other rules."""
    name: str
    """Check with version, reviewer, or version of the policy."""
    said: str = ""
    """What a person said, when and why."""


class Removal(Record):
    """One task that is not in the split, or that is in it with a remark."""

    task_id: str
    """Task."""
    category: str
    """Category or domain of the task, if it could be read."""
    status: Status
    """removed: flawed; not_selected: too easy, telling too little, solved by no model, or with too few outcomes for the
    hard split; unreadable: the record is damaged. In the split are: under_review (a person has to decide), unchecked
    (no deciding check could run), repaired (in a changed form)."""
    reasons: tuple[str, ...]
    """Why, in words."""
    decided_by: tuple[Decider, ...]
    """Who decided."""
    findings: tuple[Reason, ...]
    """Findings behind it."""


def removals_of(chosen: ChosenSplit, categories: Mapping[str, str]) -> Iterator[Removal]:
    """Yield what is not in the split, then what is in it with a remark.

    Args:
        chosen: the split.
        categories: category of each task that could be read.
    """
    manifest, writer = chosen.manifest, _Writer(chosen, categories)
    for task in manifest.dropped:
        yield writer.removal(task, "removed")
    if isinstance(manifest, HardSplitManifest):
        for hard in manifest.not_hard:
            solved = "unknown" if hard.solved is None else f"{100 * hard.solved:.1f} % of {hard.models} models"
            reason = f"{hard.verdict} for the hard split: solved by {solved}"
            decider = Decider(kind="policy", name=f"difficulty rule: {manifest.rule.model_dump_json()}")
            yield writer.plain(hard.task_id, "not_selected", reason, decider)
    for unread in manifest.quarantined:
        place = f"{unread.file}{'' if unread.line is None else f':{unread.line}'} {unread.pointer}".rstrip()
        decider = Decider(kind="check", name=f"reader of {manifest.source}")
        yield writer.plain(unread.task_id or place, "unreadable", f"{place}: {unread.reason}", decider)
    for task in manifest.under_review:
        yield writer.removal(task, "under_review")
    for task in manifest.unchecked:
        yield writer.removal(task, "unchecked")
    if isinstance(manifest, RepairedSplitManifest):
        for repaired in manifest.repaired:
            task = NotKept(task_id=repaired.task_id, reasons=repaired.reasons, finding_ids=repaired.finding_ids)
            accepted = tuple(
                Decider(kind="person", name=each.by, said=f"accepted a patch on {each.at:%Y-%m-%d}: {each.reason}")
                for each in repaired.accepted
            )
            yield writer.removal(task, "repaired", accepted)


class _Writer:
    def __init__(self, chosen: ChosenSplit, categories: Mapping[str, str]) -> None:
        self._categories = categories
        self._findings = {finding.id: finding for finding in chosen.findings}
        self._policy = chosen.audited.policy
        self._people = chosen.report.get("people") or {}

    def removal(self, task: NotKept, status: Status, more: tuple[Decider, ...] = ()) -> Removal:
        findings = [self._findings[each] for each in task.finding_ids if each in self._findings]
        return Removal(
            task_id=task.task_id,
            category=self._categories.get(task.task_id, ""),
            status=status,
            reasons=task.reasons,
            decided_by=(*more, *self._deciders(task, findings)),
            findings=tuple(map(_reason, findings)),
        )

    def plain(self, task_id: str, status: Status, reason: str, decider: Decider) -> Removal:
        return Removal(
            task_id=task_id,
            category=self._categories.get(task_id, ""),
            status=status,
            reasons=(reason,),
            decided_by=(decider,),
            findings=(),
        )

    def _deciders(self, task: NotKept, findings: list[Finding]) -> Iterator[Decider]:
        override = self._policy.overrides.get(task.task_id)
        if override is not None:
            yield Decider(kind="person", name=override.by, said=f"override of the policy: {override.reason}")
        yield from self._said("tasks", task.task_id)
        seen = set()
        for finding in findings:
            name = f"{finding.check} {finding.check_version}"
            if name not in seen:
                seen.add(name)
                yield Decider(kind="judge" if finding.check == JudgeCheck.id else "check", name=name)
            yield from self._said("findings", finding.id)
        if not findings and override is None and task.task_id not in self._people.get("tasks", {}):
            yield Decider(kind="policy", name=f"policy {self._policy.version}")

    def _said(self, what: str, identity: str) -> Iterator[Decider]:
        given = self._people.get(what, {}).get(identity)
        if given is None:
            return
        final = [given["final"]] if given.get("final") else []
        for each in (*final, *given.get("answers", ())):
            about = "on the task" if what == "tasks" else f"on finding {identity}"
            role = "adjudicated: " if each in final else ""
            said = f"{role}{each['answer']} {about}, {str(each['at'])[:10]}"
            yield Decider(kind="person", name=each["by"], said=f"{said}: {each['reason']}" if each["reason"] else said)


def _reason(finding: Finding) -> Reason:
    return Reason(
        finding_id=finding.id,
        check=finding.check,
        check_version=finding.check_version,
        category=finding.category,
        tier=finding.tier.value,
        claim=finding.claim,
        evidence=tuple(
            Quote(
                file=item.native.file if item.native else item.trajectory_id or item.task_id,
                line=item.native.line if item.native else None,
                pointer=item.native.pointer if item.native else item.pointer,
                text=item.native.text if item.native else item.quote,
                note=item.note,
            )
            for item in finding.evidence
        ),
    )
