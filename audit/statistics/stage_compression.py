"""How much of a benchmark a stage removes."""

from collections.abc import Mapping

from agenthard.audit.statistics.result import Estimate, Result, Undefined, undefined
from agenthard.taxonomy.record import Record


class StageCompression(Record):
    """Size of a stage against the original and against the stage before."""

    stage: str
    """Name of the stage."""
    n: int
    """Tasks left."""
    from_original: Result
    """1 − n / tasks of the first stage."""
    from_previous: Result
    """1 − n / tasks of the stage before; undefined for the first stage."""


def compression(kept: int, original: int) -> Result:
    """Share of tasks removed: ``1 − n_kept / n``.

    Args:
        kept: tasks left.
        original: tasks before.

    Returns:
        The share, 0..1. Undefined when there were no tasks.

    Raises:
        ValueError: when more tasks are left than there were, or a number is negative.

    >>> compression(121, 165).value
    0.2666666666666667
    """
    if not 0 <= kept <= original:
        raise ValueError(f"a stage can keep 0 to {original} tasks, got {kept}")
    if not original:
        return undefined("there were no tasks", 0, "tasks")
    return Estimate(value=1 - kept / original, n=original, of=original, unit="tasks", method="1 − kept / original")


def stage_compressions(sizes: Mapping[str, int]) -> tuple[StageCompression, ...]:
    """Compare every stage with the original and with the stage before.

    Args:
        sizes: stage → tasks left, in order; the first stage is the original.

    Returns:
        One record per stage.

    Raises:
        ValueError: when a stage has more tasks than the one before.
    """
    names, counts = list(sizes), list(sizes.values())
    return tuple(
        StageCompression(
            stage=name,
            n=counts[i],
            from_original=compression(counts[i], counts[0]),
            from_previous=compression(counts[i], counts[i - 1]) if i else undefined("no stage comes before the first"),
        )
        for i, name in enumerate(names)
    )


def pooled_compression(benchmarks: Mapping[str, tuple[int, int]]) -> Result:
    """Compression of all benchmarks put together: ``1 − Σ kept / Σ n``. Large benchmarks weigh more.

    Args:
        benchmarks: benchmark → (tasks left, tasks before).

    Returns:
        The share, 0..1. Undefined when there were no tasks.
    """
    kept, original = (sum(pair[i] for pair in benchmarks.values()) for i in (0, 1))
    result = compression(kept, original)
    if isinstance(result, Undefined):
        return result
    return result.model_copy(update={"method": f"pooled over {len(benchmarks)} benchmarks: 1 − Σ kept / Σ original"})


def macro_compression(benchmarks: Mapping[str, tuple[int, int]]) -> Result:
    """Mean of the benchmarks' compressions; every benchmark weighs the same.

    Args:
        benchmarks: benchmark → (tasks left, tasks before).

    Returns:
        The share, 0..1; benchmarks without tasks are left out ("n of N"). Undefined when none has tasks.
    """
    parts = [compression(kept, original) for kept, original in benchmarks.values()]
    values = [part.value for part in parts if isinstance(part, Estimate)]
    if not values:
        return undefined("no benchmark has tasks", 0, "benchmarks")
    return Estimate(
        value=sum(values) / len(values), n=len(values), of=len(parts), unit="benchmarks", method="macro average"
    )
