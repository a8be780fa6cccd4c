"""Turns shard results into findings and coverage: suite detectors conclude, hits of one cause are merged."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import reduce

import numpy as np

from agenthard.audit.coverage import CoverageTable
from agenthard.audit.detectors.base import Conclusion, Detector, Hit, Observation, SuiteDetector
from agenthard.audit.detectors.support.sharing import ADDED_UP
from agenthard.audit.proof import prove_conclusion
from agenthard.audit.shards import CheckedHit, ShardResult
from agenthard.audit.time_limit import CONCLUSION_SECONDS, cpu_limit
from agenthard.taxonomy.finding import Finding, Level, Status, finding_id


def conclude(
    benchmark: str, task_ids: Sequence[str], shards: Iterable[ShardResult], detectors: Sequence[Detector]
) -> tuple[list[Finding], CoverageTable]:
    """Merge shard results.

    Args:
        benchmark: name of the benchmark; the subject of findings that many tasks share.
        task_ids: all tasks in the benchmark's order.
        shards: results in the order of the tasks; read once.
        detectors: the detectors that ran.

    Returns:
        Findings ordered by first task, check and id; coverage ordered by task and check.
    """
    coverage = CoverageTable(task_ids, [detector.id for detector in detectors])
    hits, observed = list[CheckedHit](), list[ShardResult]()
    empty = CoverageTable((), ())
    for shard in shards:
        coverage.take(shard.coverage)
        hits.extend(shard.hits)
        observed.append(replace(shard, coverage=empty, hits=()))
    for detector in detectors:
        if isinstance(detector, SuiteDetector):
            hits.extend(_conclude_suite(detector, observed, coverage))
    by_id, order = {detector.id: detector for detector in detectors}, coverage.row
    findings = _number(benchmark, by_id, _merge(by_id, hits, coverage))
    for finding in findings:
        for task_id in finding.task_ids:
            _flag(coverage, task_id, finding.check, "")
        for task_id in finding.also_in:
            if coverage.status(task_id, finding.check) is Status.CLEAN:
                _flag(coverage, task_id, finding.check, "carries the cause of a finding that is not about this task")
    findings.sort(key=lambda f: (order[(f.task_ids or f.also_in)[0]], f.check, f.id))
    return findings, coverage


def _flag(coverage: CoverageTable, task_id: str, check: str, reason: str) -> None:
    if coverage.status(task_id, check) is not Status.ERROR:
        _change(coverage, task_id, check, Status.FLAGGED, reason)


def _change(coverage: CoverageTable, task_id: str, check: str, status: Status, reason: str) -> None:
    coverage.set(coverage.row[task_id], coverage.column[check], status, reason)


def _conclude_suite(
    detector: SuiteDetector, shards: Sequence[ShardResult], coverage: CoverageTable
) -> Iterable[CheckedHit]:
    observed: list[Observation] = []
    try:
        with cpu_limit(CONCLUSION_SECONDS):
            observed = _comparable(detector, shards)
            results = list(detector.conclude(observed))
    except Exception as error:  # noqa: BLE001 - a detector's failure makes its tasks errors, never ends the audit
        reason = f"{type(error).__name__}: {error}"[:300]
        for task_id in coverage.tasks:
            if coverage.status(task_id, detector.id) is Status.CLEAN:
                _change(coverage, task_id, detector.id, Status.ERROR, reason)
        return
    for result in results:
        if isinstance(result, Conclusion):
            hit = prove_conclusion(detector, result.hit, observed)
            yield CheckedHit(check=detector.id, task_ids=result.task_ids, also_in=result.also_in, hit=hit)
            continue
        for task_id in result.task_ids:
            if coverage.status(task_id, detector.id) is Status.CLEAN:
                _change(coverage, task_id, detector.id, Status.NOT_CHECKED, result.reason)


def _comparable(detector: SuiteDetector, shards: Sequence[ShardResult]) -> list[Observation]:
    """Return the observations without those that share no key with another one."""
    if type(detector).shared_keys is SuiteDetector.shared_keys:
        return [note for shard in shards for note in shard.observations.get(detector.id, ())]
    rows = [shard.shared_keys.get(detector.id, np.empty((0, 2), np.uint64)) for shard in shards]
    hashes = np.concatenate([keys[:, 1] for keys in rows]) if rows else np.empty(0, np.uint64)
    hashes.sort()
    shared = np.unique(hashes[1:][hashes[1:] == hashes[:-1]])
    found = list[Observation]()
    for shard, keys in zip(shards, rows, strict=True):
        positions = np.unique(keys[np.isin(keys[:, 1], shared), 0]).tolist()
        if positions:
            notes = shard.observations[detector.id]
            found.extend(notes[position] for position in positions)
    return found


def _merge(detectors: Mapping[str, Detector], hits: Iterable[CheckedHit], coverage: CoverageTable) -> list[CheckedHit]:
    # Shards come in task order, so the hit that is met first, and kept, is the same for any number of workers.
    by_cause: dict[tuple[str, ...], list[CheckedHit]] = {}
    for number, item in enumerate(hits):
        category = item.hit.category or detectors[item.check].category
        if item.hit.cause is not None:
            cause = ("cause", item.hit.cause)
        else:
            cause = ("clone", item.clone) if item.clone else ("place", str(number))
        # A cause that is shown in one task and not in another is two findings: only the first can remove tasks.
        key = (item.check, category, *cause, item.hit.tier or detectors[item.check].tier)
        by_cause.setdefault(key, []).append(item)
    return [_merged(items, coverage) if len(items) > 1 else items[0] for items in by_cause.values()]


def _merged(items: Sequence[CheckedHit], coverage: CoverageTable) -> CheckedHit:
    affected = {coverage.row[task_id] for item in items for task_id in item.task_ids}
    carrying = {coverage.row[task_id] for item in items for task_id in item.also_in} - affected
    decides = {coverage.row[task_id] for item in items for task_id in item.hit.decides}
    measures = reduce(_added, (item.hit.measures for item in items))

    def names(rows: set[int]) -> tuple[str, ...]:
        return tuple(coverage.tasks[row] for row in sorted(rows))

    hit = items[0].hit.model_copy(update={"decides": names(decides), "measures": measures})
    return items[0].model_copy(update={"hit": hit, "task_ids": names(affected), "also_in": names(carrying)})


def _added(one: Mapping[str, float], other: Mapping[str, float]) -> dict[str, float]:
    """Add up what is counted task by task; other measures are those of the first hit."""
    return {**one, **{name: one.get(name, 0.0) + other[name] for name in ADDED_UP if name in other}}


def _number(benchmark: str, detectors: Mapping[str, Detector], hits: Iterable[CheckedHit]) -> list[Finding]:
    used: dict[str, int] = {}
    findings = []
    for item in hits:
        detector, hit = detectors[item.check], item.hit
        category = hit.category or detector.category
        shared = hit.cause if hit.cause is not None else item.clone
        subject = item.task_ids[0] if shared is None else benchmark
        locator = shared or "\x1f".join(evidence.pointer for evidence in hit.evidence)
        identity = finding_id(subject, category, f"{item.check}\x1f{locator}")
        used[identity] = used.get(identity, 0) + 1
        if used[identity] > 1:
            identity = finding_id(identity, category, str(used[identity]))
        findings.append(
            Finding(
                id=identity,
                check=detector.id,
                check_version=detector.version,
                category=category,
                severity=hit.severity or detector.severity,
                tier=hit.tier or detector.tier,
                level=_level(detector, hit, {*item.task_ids, *item.also_in}),
                claim=hit.claim,
                why=hit.why or detector.why,
                fix=hit.fix,
                task_ids=item.task_ids,
                also_in=item.also_in,
                decides=hit.decides,
                evidence=hit.evidence,
                proof=hit.proof,
                command=hit.command,
                patch=hit.patch,
                measures=hit.measures,
            )
        )
    return findings


def _level(detector: Detector, hit: Hit, carriers: Collection[str]) -> Level:
    """Return where the cause of a hit has to be fixed.

    A check that looks at every task meets all that carry a cause. So what it finds in a tool or a prompt that one task
    alone has is that task's own; and a cause with a name that is quoted from the policy or the tools is the
    environment's, whatever the check usually finds.
    """
    if hit.level is not None or isinstance(detector, SuiteDetector):
        return hit.level or detector.level
    if detector.level is Level.ENVIRONMENT:
        return Level.ENVIRONMENT if len(carriers) > 1 else Level.TASK
    shared = hit.cause is not None and all(
        item.trajectory_id is None and item.pointer.startswith("/environment/") for item in hit.evidence
    )
    return Level.ENVIRONMENT if shared and len(carriers) > 1 else detector.level
