"""The table of turns: what agents did at each turn of their episodes, over all episodes of a condition."""

from collections import Counter
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

import pyarrow as pa

from agenthard.flows.evaluation.benchmark import Benchmark
from agenthard.flows.evaluation.episode_table import other_axes
from agenthard.flows.evaluation.episodes import options_of
from agenthard.flows.evaluation.settings import EvaluationFolder
from agenthard.flows.evaluation.store import EpisodeStore
from agenthard.reports.evaluation.turns import COUNTS, TurnCounter
from agenthard.reports.kit.parquet import write_parquet

if TYPE_CHECKING:
    import pandas as pd

NAME = "turns.parquet"
_Group = tuple[str, float, str]
"""Agent, failure rate and variant of the conditions."""


def write_turns(folder: EvaluationFolder, store: EpisodeStore, benchmark: Benchmark) -> None:
    """Write ``tables/turns.parquet``, where the benchmark declares that its report is about turns."""
    if not benchmark.declared.by_turn:
        return
    axes = other_axes(benchmark.declared)
    sums = _count(store)
    fields = [("agent", pa.string()), ("failure_rate", pa.float64()), *((axis.name, pa.string()) for axis in axes)]
    schema = pa.schema([*fields, *((name, pa.int64()) for name in ("turn", *COUNTS))])
    rows = []
    for agent, rate, variant in sorted(sums):
        counts, conditions = sums[agent, rate, variant], {**benchmark.conditions(), **options_of(variant)}
        named = {"agent": agent, "failure_rate": rate} | {each.name: str(conditions[each.condition]) for each in axes}
        for turn in sorted({turn for turn, _ in counts}):
            rows.append({**named, "turn": turn, **{name: counts[turn, name] for name in COUNTS}})
    write_parquet(folder.tables / NAME, schema, rows)


def read_turns(folder: EvaluationFolder) -> "pd.DataFrame | None":
    """Read the table; None where the benchmark has none."""
    import pandas as pd

    path = folder.tables / NAME
    return pd.read_parquet(path) if path.is_file() else None


def _count(store: EpisodeStore) -> dict[_Group, Counter[tuple[int, str]]]:
    """Count the turns of all episodes, one episode at a time."""
    found: dict[_Group, Counter[tuple[int, str]]] = {}
    for episode, runs in groupby(store.trajectories(), key=itemgetter(0)):
        counter = TurnCounter()
        for _, run in runs:
            counter.add(run.messages, run.passed)
        found.setdefault((episode.agent, episode.failure_rate, episode.variant), Counter()).update(counter.turns)
    return found
