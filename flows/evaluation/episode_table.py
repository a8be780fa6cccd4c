"""The tables of an evaluation: one row per attempt at an episode, and the durations apart from it."""

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from agenthard.flows.evaluation.benchmark import Benchmark
from agenthard.flows.evaluation.episodes import options_of
from agenthard.flows.evaluation.settings import EvaluationFolder
from agenthard.flows.evaluation.store import EpisodeStore
from agenthard.reports.kit.parquet import write_parquet
from agenthard.taxonomy.declared import Axis, Declared

if TYPE_CHECKING:
    import pandas as pd

_BEFORE = ("turns", "messages", "calls", "malformed", "failed_calls")
_AFTER = ("truncations", "requests", "prompt_tokens", "completion_tokens", "cached_tokens", "reasoning_tokens")
"""Counts of every benchmark's episodes, before and after its own; null where one does not apply."""
KEY = ("agent", "task_id", "failure_rate", "trial", "attempt")


def write_tables(folder: EvaluationFolder, store: EpisodeStore, benchmark: Benchmark) -> None:
    """Write ``tables/episodes.parquet``, and ``tables/timing.parquet`` with durations, which differ from run to run."""
    folder.tables.mkdir(parents=True, exist_ok=True)
    schema = _schema(benchmark)
    facts = {task.id: (task.group, task.facts) for task in store.tasks()}
    episodes = (_episode(row, *facts[row["task_id"]], benchmark) for row in store.rows())
    write_parquet(folder.tables / "episodes.parquet", schema, episodes)
    timing = ({**_key(row, benchmark), "seconds": row["seconds"]} for row in store.rows())
    names = [*KEY[:-2], *(axis.name for axis in other_axes(benchmark.declared)), *KEY[-2:]]
    seconds = pa.schema([*(schema.field(name) for name in names), pa.field("seconds", pa.float64())])
    write_parquet(folder.tables / "timing.parquet", seconds, timing)


def _schema(benchmark: Benchmark) -> pa.Schema:
    return pa.schema(
        [
            ("agent", pa.string()),
            ("task_id", pa.string()),
            ("domain", pa.string()),
            *((name, pa.int64()) for name in benchmark.declared.facts),
            ("failure_rate", pa.float64()),
            *((axis.name, pa.string()) for axis in other_axes(benchmark.declared)),
            ("trial", pa.int64()),
            ("attempt", pa.int64()),
            ("status", pa.string()),
            ("status_reason", pa.string()),
            ("ending", pa.string()),
            ("score", pa.float64()),
            ("passed", pa.bool_()),
            *((name, pa.int64()) for name in _counts(benchmark)),
            ("cost", pa.float64()),
        ]
    )


def other_axes(declared: Declared) -> list[Axis]:
    """Return the axes apart from the failure rate: conditions that an evaluation has one or several values of."""
    return [axis for axis in declared.axes if axis.condition]


def _counts(benchmark: Benchmark) -> tuple[str, ...]:
    return (*_BEFORE, *benchmark.declared.counts, *_AFTER)


def read_episodes(folder: EvaluationFolder) -> "pd.DataFrame":
    """Read the table of attempts with their times."""
    import pandas as pd

    episodes = pd.read_parquet(folder.tables / "episodes.parquet")
    timing = pd.read_parquet(folder.tables / "timing.parquet")
    return episodes.merge(
        timing, on=[name for name in timing.columns if name != "seconds"], how="left", validate="one_to_one"
    )


def _key(row: dict[str, Any], benchmark: Benchmark) -> dict[str, Any]:
    conditions = {**benchmark.conditions(), **options_of(row["variant"])}
    return {
        **{name: row[name] for name in KEY[:-1]},
        **{axis.name: str(conditions[axis.condition]) for axis in other_axes(benchmark.declared)},
        "attempt": row["number"],
    }


def _episode(row: dict[str, Any], group: str, facts: dict[str, Any], benchmark: Benchmark) -> dict[str, Any]:
    usage = json.loads(row["usage"])
    return {
        **_key(row, benchmark),
        "domain": group,
        **{name: facts.get(name) for name in benchmark.declared.facts},
        **{name: row[name] for name in ("status", "status_reason", "ending", "score")},
        "passed": None if row["passed"] is None else bool(row["passed"]),
        **{name: None if usage.get(name) is None else int(usage[name]) for name in _counts(benchmark)},
        "cost": usage.get("cost"),
    }
