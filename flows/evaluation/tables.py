"""The episodes of a run folder as tables and as a file of runs that an audit reads. Equal episodes give equal bytes."""

import gzip
import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from agenthard.flows.evaluation.settings import EvaluationFolder
from agenthard.flows.evaluation.store import EpisodeStore
from agenthard.reports.kit.parquet import write_parquet
from agenthard.taxonomy.files import replacing

if TYPE_CHECKING:
    import pandas as pd

COUNTS = (
    *("turns", "messages", "calls", "malformed", "failed_calls", "queries", "global_checks", "truncations"),
    *("requests", "prompt_tokens", "completion_tokens", "cached_tokens", "reasoning_tokens"),
)
"""What an episode took, as whole numbers; null where it does not apply."""
KEY = ("agent", "task_id", "failure_rate", "trial", "attempt")
_EPISODES = pa.schema(
    [
        ("agent", pa.string()),
        ("task_id", pa.string()),
        ("domain", pa.string()),
        ("hidden_slots", pa.int64()),
        ("decoy_budget", pa.int64()),
        ("failure_rate", pa.float64()),
        ("trial", pa.int64()),
        ("attempt", pa.int64()),
        ("status", pa.string()),
        ("status_reason", pa.string()),
        ("ending", pa.string()),
        ("score", pa.float64()),
        ("passed", pa.bool_()),
        *((name, pa.int64()) for name in COUNTS),
        ("cost", pa.float64()),
    ]
)
_TIMING = pa.schema([*(_EPISODES.field(name) for name in KEY), pa.field("seconds", pa.float64())])


def write_tables(folder: EvaluationFolder, store: EpisodeStore) -> None:
    """Write ``tables/episodes.parquet``, and apart from it how long each attempt took, which no two runs agree on."""
    folder.tables.mkdir(parents=True, exist_ok=True)
    facts = {task.id: (task.group, task.facts) for task in store.tasks()}
    episodes = (_episode(row, facts[row["task_id"]]) for row in store.rows())
    write_parquet(folder.tables / "episodes.parquet", _EPISODES, episodes)
    timing = ({**_key(row), "seconds": row["seconds"]} for row in store.rows())
    write_parquet(folder.tables / "timing.parquet", _TIMING, timing)


def write_trajectories(folder: EvaluationFolder, store: EpisodeStore) -> int:
    """Write the last attempt of every episode as native JSON Lines, which ``agenthard audit --runs`` reads.

    Returns:
        How many runs there are.
    """
    count = 0
    with (
        replacing(folder.trajectories) as partial,
        partial.open("wb") as file,
        gzip.GzipFile("", "wb", 5, file, mtime=0) as packed,
    ):
        for run in store.trajectories():
            packed.write(run.model_dump_json().encode("utf-8") + b"\n")
            count += 1
    return count


def read_episodes(folder: EvaluationFolder) -> "pd.DataFrame":
    """Read the table of attempts with their times."""
    import pandas as pd

    episodes = pd.read_parquet(folder.tables / "episodes.parquet")
    timing = pd.read_parquet(folder.tables / "timing.parquet")
    return episodes.merge(timing, on=list(KEY), how="left", validate="one_to_one")


def _key(row: dict[str, Any]) -> dict[str, Any]:
    return {**{name: row[name] for name in KEY[:-1]}, "attempt": row["number"]}


def _episode(row: dict[str, Any], facts: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    usage = json.loads(row["usage"])
    group, numbers = facts
    return {
        **_key(row),
        "domain": group,
        "hidden_slots": numbers.get("hidden_slots"),
        "decoy_budget": numbers.get("decoy_budget"),
        **{name: row[name] for name in ("status", "status_reason", "ending", "score")},
        "passed": None if row["passed"] is None else bool(row["passed"]),
        **{name: None if usage.get(name) is None else int(usage[name]) for name in COUNTS},
        "cost": usage.get("cost"),
    }
