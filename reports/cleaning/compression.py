"""How much the stages remove over several benchmarks: pooled over tasks, and as a mean over benchmarks."""

from collections.abc import Mapping

from agenthard.audit.statistics import Result, macro_compression, pooled_compression
from agenthard.reports.cleaning.record import CleaningAnalysis
from agenthard.reports.cleaning.stages import STAGES, StageName
from agenthard.taxonomy.record import Record

StageSizes = Mapping[StageName, int]


class StageCompressions(Record):
    """What is left of several benchmarks after one stage."""

    stage: StageName
    """Stage."""
    title: str
    """Name for people."""
    ran: int
    """Benchmarks on which it ran; where it did not, what the stage before leaves counts."""
    benchmarks: int
    """Benchmarks."""
    kept: int
    """Tasks left, over all benchmarks."""
    tasks: int
    """Tasks before, over all benchmarks."""
    pooled: Result
    """1 − Σ kept / Σ tasks: large benchmarks weigh more."""
    macro: Result
    """Mean over benchmarks of 1 − kept / tasks: every benchmark weighs the same."""


def stage_sizes(analysis: CleaningAnalysis) -> dict[StageName, int]:
    """Return how many tasks each stage of one benchmark leaves; stages that did not run are left out.

    Args:
        analysis: its analysis.
    """
    return {stage.name: stage.n for stage in analysis.stages if stage.ran and stage.n is not None}


def compressions(benchmarks: Mapping[str, StageSizes]) -> tuple[StageCompressions, ...]:
    """Compress several benchmarks stage by stage.

    Args:
        benchmarks: for each benchmark the tasks that its stages leave, the initial ones first.

    Returns:
        One row per stage after the initial one that ran on some benchmark.
    """
    rows, kept = [], {name: sizes["initial"] for name, sizes in benchmarks.items()}
    for stage, title in STAGES.items():
        ran = [name for name, sizes in benchmarks.items() if stage in sizes]
        if stage == "initial" or not ran:
            continue
        kept |= {name: benchmarks[name][stage] for name in ran}
        pairs = {name: (kept[name], sizes["initial"]) for name, sizes in benchmarks.items()}
        rows.append(
            StageCompressions(
                stage=stage,
                title=title,
                ran=len(ran),
                benchmarks=len(benchmarks),
                kept=sum(left for left, _ in pairs.values()),
                tasks=sum(there for _, there in pairs.values()),
                pooled=pooled_compression(pairs),
                macro=macro_compression(pairs),
            )
        )
    return tuple(rows)
