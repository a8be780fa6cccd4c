"""Joins the results of parts of a shard to the result of the whole."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from agenthard.audit.coverage import CoverageTable
from agenthard.audit.detectors.base import Detector
from agenthard.audit.shards import CheckedHit, ShardResult, hash_shared_keys


def merge_results(task_ids: Sequence[str], parts: Sequence[ShardResult], detectors: Sequence[Detector]) -> ShardResult:
    """Join results of some tasks each, in the order of the tasks, to what `check_shard` returns for all of them.

    Args:
        task_ids: all tasks of the shard.
        parts: results, in the order of their tasks.
        detectors: the detectors that ran.
    """
    ids = [detector.id for detector in detectors]
    found: dict[str, list[CheckedHit]] = {check: [] for check in ids}
    for part in parts:
        for item in part.hits:
            found[item.check].append(item)
    observed = set(chain.from_iterable(part.observations for part in parts))
    noted = {
        check: tuple(chain.from_iterable(part.observations.get(check, ()) for part in parts))
        for check in ids
        if check in observed
    }
    suites = [detector for detector in detectors if noted.get(detector.id)]
    return ShardResult(
        coverage=CoverageTable.merged(task_ids, ids, (part.coverage for part in parts)),
        hits=tuple(chain.from_iterable(found[check] for check in ids)),
        observations=noted,
        shared_keys=hash_shared_keys(suites, noted),
        seconds=_sums(part.seconds for part in parts),
        executed=_sums(part.executed for part in parts),
    )


def _sums(parts: Iterable[Mapping[str, float]]) -> dict[str, float]:
    total: dict[str, float] = {}
    for part in parts:
        for check, seconds in part.items():
            total[check] = round(total.get(check, 0.0) + seconds, 6)
    return total
