"""The cleaned and the hard split in the benchmark's own format, with a manifest that says why the others are gone."""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agenthard.audit.decisions.difficulty import DifficultyRule, HardTask
from agenthard.audit.decisions.policy import Action, Decision, Policy
from agenthard.audit.sources.base import NotRead, Quarantined, Source, Version
from agenthard.taxonomy.files import write_text
from agenthard.taxonomy.record import Record

ACTIONS: tuple[Action, ...] = ("keep", "unchecked", "review", "drop")
"""Decisions of an audit, mildest first."""


class SplitFile(Record):
    """One file of the split."""

    path: str
    """Path relative to the split's folder."""
    sha256: str
    """Hash of its bytes."""


class NotKept(Record):
    """A task that is not in the split, or is in it only until a person decides."""

    task_id: str
    """Task."""
    reasons: tuple[str, ...]
    """Why."""
    finding_ids: tuple[str, ...]
    """Findings behind the reasons."""


class SplitManifest(Record):
    """What a split holds, made from what, and why."""

    schema_version: str = "1"
    """Version of this layout."""
    split: str
    """Name of the split."""
    split_id: str
    """First 16 hex digits of the hash over benchmark content, policy and kept ids: equal id, equal split."""
    source: str
    """Name of the source."""
    benchmark: Version
    """Release that the split was made from."""
    agenthard: str
    """Version of AgentHard."""
    checks: dict[str, str]
    """Version of every check that ran."""
    policy: Policy
    """The whole policy."""
    total: int
    """Tasks read."""
    kept: int
    """Tasks in the split, the unchecked ones included, and those under review when ``review_included``."""
    review_included: bool = True
    """Tasks under review stay in until a person decides."""
    counts: dict[Action, int]
    """Tasks per decision."""
    kept_ids: tuple[str, ...]
    """Ids in the split, in the benchmark's order."""
    dropped: tuple[NotKept, ...]
    """Tasks left out."""
    under_review: tuple[NotKept, ...]
    """Tasks in the split whose flaw is suspected, or that were not fully checked."""
    unchecked: tuple[NotKept, ...] = ()
    """Tasks in the split on which no deciding check could run: nothing speaks against them, nothing for them."""
    quarantined: tuple[Quarantined, ...]
    """Records that could not be read; they are not in the split."""
    not_read: tuple[NotRead, ...] = ()
    """What looks like tasks in the benchmark's folder and was not read; it is not in the split."""
    files: tuple[SplitFile, ...]
    """Files written."""


class HardSplitManifest(SplitManifest):
    """What a hard split holds: issue-cleaned tasks that not nearly all selection models solve."""

    tasks_id: str
    """Id of the set of tasks, as reports print it."""
    rule: DifficultyRule
    """Parameters of the selection."""
    experiment: str
    """Experiment that the outcomes are from; empty when the logs name none."""
    selection_models: tuple[str, ...]
    """Models whose outcomes selected the split: it may not be used to report their scores."""
    kept_for_category: tuple[str, ...]
    """Tasks in the split although nearly all models solve them, so that each category keeps its least share."""
    not_hard: tuple[HardTask, ...]
    """Issue-cleaned tasks left out: easy, all_fail (to review: a wrong key looks like a hard task) or unknown."""
    minimum_detectable_difference: str
    """The smallest difference that the split can detect, as text."""


def write_cleaned_split(
    source: Source,
    out: Path,
    decisions: Sequence[Decision],
    *,
    benchmark: Version,
    policy: Policy,
    checks: dict[str, str],
    agenthard: str,
    quarantined: Sequence[Quarantined],
    not_read: Sequence[NotRead] = (),
) -> SplitManifest:
    """Write the split named "cleaned": every task that was not dropped.

    Args:
        source: the benchmark.
        out: folder to write; it is created.
        decisions: one per task, in the benchmark's order.
        benchmark: release that was read.
        policy: the policy behind the decisions.
        checks: version of every check.
        agenthard: version of AgentHard.
        quarantined: records that could not be read.
        not_read: what looks like tasks and was not read.

    Returns:
        The manifest, which is also written as ``manifest.json`` into ``out``.
    """
    keep = [decision.task_id for decision in decisions if decision.action != "drop"]
    files = write_tasks(source, out, keep)
    counts = Counter(decision.action for decision in decisions)
    manifest = SplitManifest(
        split="cleaned",
        split_id=split_id_of(benchmark, policy, keep),
        source=source.name,
        benchmark=benchmark,
        agenthard=agenthard,
        checks=checks,
        policy=policy,
        total=len(decisions),
        kept=len(keep),
        counts={action: counts[action] for action in ACTIONS},
        kept_ids=tuple(keep),
        dropped=not_kept(decisions, "drop"),
        under_review=not_kept(decisions, "review"),
        unchecked=not_kept(decisions, "unchecked"),
        quarantined=tuple(quarantined),
        not_read=tuple(not_read),
        files=files,
    )
    write_manifest(manifest, out)
    return manifest


def write_hard_split(
    source: Source,
    out: Path,
    cleaned: SplitManifest,
    tasks: Sequence[HardTask],
    *,
    rule: DifficultyRule,
    selection_models: Sequence[str],
    experiment: str,
    tasks_id: str,
    minimum_detectable_difference: str,
) -> HardSplitManifest:
    """Write the split named "hard": the issue-cleaned tasks that are selected.

    Args:
        source: the benchmark.
        out: empty folder to write; it is created.
        cleaned: manifest of the cleaned split, from which release, policy and issue decisions are taken.
        tasks: verdict on every task of the cleaned split, in its order.
        rule: parameters of the selection.
        selection_models: models whose outcomes selected.
        experiment: experiment that the outcomes are from.
        tasks_id: id of the set of tasks, as reports print it.
        minimum_detectable_difference: the smallest difference that the split can detect, as text.

    Returns:
        The manifest, which is also written as ``manifest.json`` into ``out``.

    Raises:
        ValueError: when the tasks are not those of the cleaned split.
    """
    if [task.task_id for task in tasks] != list(cleaned.kept_ids):
        raise ValueError("the hard split is selected from the tasks of the cleaned split, in its order")
    keep = [task.task_id for task in tasks if task.selected]
    kept = set(keep)
    files = write_tasks(source, out, keep)
    shared = cleaned.model_dump(exclude={"split", "split_id", "kept", "kept_ids", "under_review", "unchecked", "files"})
    manifest = HardSplitManifest(
        **shared,
        split="hard",
        split_id=split_id_of(cleaned.benchmark, cleaned.policy, keep),
        kept=len(keep),
        kept_ids=tuple(keep),
        under_review=tuple(task for task in cleaned.under_review if task.task_id in kept),
        unchecked=tuple(task for task in cleaned.unchecked if task.task_id in kept),
        files=files,
        tasks_id=tasks_id,
        rule=rule,
        experiment=experiment,
        selection_models=tuple(selection_models),
        kept_for_category=tuple(task.task_id for task in tasks if task.verdict == "kept_for_category"),
        not_hard=tuple(task for task in tasks if not task.selected),
        minimum_detectable_difference=minimum_detectable_difference,
    )
    write_manifest(manifest, out)
    return manifest


def write_tasks(source: Source, out: Path, keep: Sequence[str]) -> tuple[SplitFile, ...]:
    """Write the tasks in the benchmark's own format, and return the files with their hashes."""
    out.mkdir(parents=True, exist_ok=True)
    written = sorted(path.relative_to(out).as_posix() for path in source.write_split(keep, out))
    return tuple(SplitFile(path=name, sha256=_sha256(out / name)) for name in written)


def write_manifest(manifest: SplitManifest, out: Path) -> None:
    """Write ``manifest.json``."""
    write_text(out / "manifest.json", manifest.model_dump_json(indent=2) + "\n")


def split_id_of(benchmark: Version, policy: Policy, keep: Sequence[str], changes: Sequence[Any] = ()) -> str:
    """Identify a split by the benchmark's content, the policy, the kept tasks and what was changed in them."""
    parts = [benchmark.content_hash, policy.model_dump(mode="json"), list(keep), *([list(changes)] if changes else [])]
    identity = json.dumps(parts, sort_keys=True)
    return hashlib.sha256(identity.encode()).hexdigest()[:16]


def not_kept(decisions: Sequence[Decision], action: Action) -> tuple[NotKept, ...]:
    """List the tasks with one decision, and why."""
    return tuple(
        NotKept(task_id=decision.task_id, reasons=decision.reasons, finding_ids=decision.finding_ids)
        for decision in decisions
        if decision.action == action
    )


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
