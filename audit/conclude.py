"""Turns shard results into findings and coverage: suite detectors conclude, hits of one cause are merged."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain

from agenthard.audit.detectors.base import Conclusion, Detector, Hit, SuiteDetector
from agenthard.audit.detectors.support.sharing import ADDED_UP
from agenthard.audit.proof import prove_conclusion
from agenthard.audit.shards import CheckedHit, ShardResult
from agenthard.audit.time_limit import CONCLUSION_SECONDS, cpu_limit
from agenthard.taxonomy.finding import Coverage, Finding, Level, Status, finding_id


def conclude(
    benchmark: str, task_ids: Sequence[str], shards: Sequence[ShardResult], detectors: Sequence[Detector]
) -> tuple[list[Finding], list[Coverage]]:
    """Merge shard results.

    Args:
        benchmark: name of the benchmark; the subject of findings that many tasks share.
        task_ids: all tasks in the benchmark's order.
        shards: results in the order of the tasks.
        detectors: the detectors that ran.

    Returns:
        Findings ordered by first task, check and id; coverage ordered by task and check.
    """
    order = {task_id: i for i, task_id in enumerate(task_ids)}
    coverage = {(row.task_id, row.check): row for shard in shards for row in shard.coverage}
    hits = list(chain.from_iterable(shard.hits for shard in shards))
    for detector in detectors:
        if isinstance(detector, SuiteDetector):
            hits.extend(_conclude_suite(detector, shards, coverage))
    by_id = {detector.id: detector for detector in detectors}
    findings = _number(benchmark, by_id, _merge(by_id, hits, order))
    for finding in findings:
        for task_id in finding.task_ids:
            _flag(coverage, task_id, finding.check, "")
        for task_id in finding.also_in:
            if coverage[task_id, finding.check].status is Status.CLEAN:
                _flag(coverage, task_id, finding.check, "carries the cause of a finding that is not about this task")
    findings.sort(key=lambda f: (order[(f.task_ids or f.also_in)[0]], f.check, f.id))
    position = {detector.id: i for i, detector in enumerate(detectors)}
    rows = sorted(coverage.values(), key=lambda row: (order[row.task_id], position[row.check]))
    return findings, rows


def _flag(coverage: dict[tuple[str, str], Coverage], task_id: str, check: str, reason: str) -> None:
    row = coverage[task_id, check]
    if row.status is not Status.ERROR:
        coverage[task_id, check] = row.model_copy(update={"status": Status.FLAGGED, "reason": reason})


def _conclude_suite(
    detector: SuiteDetector, shards: Sequence[ShardResult], coverage: dict[tuple[str, str], Coverage]
) -> Iterable[CheckedHit]:
    observed = list(chain.from_iterable(shard.observations.get(detector.id, ()) for shard in shards))
    try:
        with cpu_limit(CONCLUSION_SECONDS):
            results = list(detector.conclude(observed))
    except Exception as error:  # noqa: BLE001 - a detector's failure makes its tasks errors, never ends the audit
        reason = f"{type(error).__name__}: {error}"[:300]
        for key, row in coverage.items():
            if row.check == detector.id and row.status is Status.CLEAN:
                coverage[key] = row.model_copy(update={"status": Status.ERROR, "reason": reason})
        return
    for result in results:
        if isinstance(result, Conclusion):
            hit = prove_conclusion(detector, result.hit, observed)
            yield CheckedHit(check=detector.id, task_ids=result.task_ids, also_in=result.also_in, hit=hit)
            continue
        for task_id in result.task_ids:
            row = coverage[task_id, detector.id]
            if row.status is Status.CLEAN:
                changed = {"status": Status.NOT_CHECKED, "reason": result.reason}
                coverage[task_id, detector.id] = row.model_copy(update=changed)


def _merge(detectors: Mapping[str, Detector], hits: Iterable[CheckedHit], order: Mapping[str, int]) -> list[CheckedHit]:
    # Shards come in task order, so the hit that is met first, and kept, is the same for any number of workers.
    merged: dict[tuple[str, ...], CheckedHit] = {}
    for number, item in enumerate(hits):
        category = item.hit.category or detectors[item.check].category
        if item.hit.cause is not None:
            cause = ("cause", item.hit.cause)
        else:
            cause = ("clone", item.clone) if item.clone else ("place", str(number))
        # A cause that is shown in one task and not in another is two findings: only the first can remove tasks.
        key = (item.check, category, *cause, item.hit.tier or detectors[item.check].tier)
        known = merged.get(key)
        if known is not None:
            affected = {*known.task_ids, *item.task_ids}
            carrying = {*known.also_in, *item.also_in} - affected
            decides = sorted({*known.hit.decides, *item.hit.decides}, key=order.__getitem__)
            item = known.model_copy(
                update={
                    "hit": known.hit.model_copy(
                        update={"decides": tuple(decides), "measures": _added(known.hit.measures, item.hit.measures)}
                    ),
                    "task_ids": tuple(sorted(affected, key=order.__getitem__)),
                    "also_in": tuple(sorted(carrying, key=order.__getitem__)),
                }
            )
        merged[key] = item
    return list(merged.values())


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
