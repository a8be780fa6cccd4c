"""The table of episodes: its columns, what was evaluated, and the normalised form that every figure uses."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pydantic import Field

from agenthard.reports.kit.text import plural
from agenthard.taxonomy.declared import NOTHING, Declared
from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.record import Record


class EvaluationError(AgentHardError, ValueError):
    """The episodes, or published results, cannot be read; the message says where, why and what to do."""

    code = "AH708"
    remedy = "Correct the file at the place that the message names, or evaluate again."


class About(Record):
    """What was evaluated, and how. Nothing here is measured; the report repeats it."""

    title: str = "Evaluation"
    """Name of the evaluation for people."""
    suite: str = ""
    """Instances that were played: name, folder or content hash."""
    seeds: dict[str, int] = Field(default_factory=dict)
    """What is random → its seed."""
    versions: dict[str, str] = Field(default_factory=dict)
    """Part → its version."""
    conditions: dict[str, str | int | float | bool | None] = Field(default_factory=dict)
    """Setting → its value: step limit, output tokens, budgets, tool limits."""
    planned: dict[str, int] = Field(default_factory=dict)
    """Agent → episodes that were planned, over all failure rates; an agent that is not named has no plan."""
    families: dict[str, str] = Field(default_factory=dict)
    """Agent → family; an agent that is not named belongs to the part of its name before the first "+"."""
    level: float = Field(default=0.95, gt=0, lt=1)
    """Coverage of every interval; pairs are tested at 1 − level after Holm's correction."""
    resamples: int = Field(default=2000, ge=100)
    """Bootstrap resamples behind every interval that needs them."""
    seed: int = 0
    """Seed of every resample."""

    def family(self, agent: str) -> str:
        """Name the family of an agent.

        >>> About(families={"b": "mine"}).family("filter+forgets"), About(families={"b": "mine"}).family("b")
        ('filter', 'mine')
        """
        return self.families.get(agent) or agent.partition("+")[0].strip() or agent


REQUIRED = ("agent", "task_id", "trial", "attempt", "status", "passed")
TEXTS = ("agent", "task_id", "domain", "status", "ending")
_BEFORE = ("turns", "messages", "calls", "malformed", "failed_calls")
_AFTER = (
    *("truncations", "prompt_tokens", "completion_tokens", "cached_tokens", "reasoning_tokens", "requests"),
    *("cost", "seconds"),
)
"""Measures of every benchmark's episodes, before and after its own counts."""
STATUSES = ("ok", "agent_error", "infrastructure_error", "judge_error")
NO_VERDICT = ("infrastructure_error", "judge_error")
EPISODE = ["agent", "task_id", "failure_rate", "variant", "trial"]
"""Identity of an episode, which its attempts share."""


def usage_measures(declared: Declared) -> tuple[str, ...]:
    """Return what is summed up over attempts: lengths, the benchmark's counts, tokens, cost and time."""
    return (*_BEFORE, *declared.counts, *_AFTER)


def numbers_of(declared: Declared) -> tuple[str, ...]:
    """Return the columns that hold numbers."""
    own = dict.fromkeys((*(factor.name for factor in declared.factors), *declared.facts))
    return (*own, "failure_rate", "trial", "attempt", "score", *usage_measures(declared))


@dataclass(frozen=True)
class Episodes:
    """The attempts of all episodes, with a column ``verdict``: 1 passed, 0 failed, NaN where there is none."""

    attempts: pd.DataFrame
    """Every attempt, in the order of agent, task, failure rate, trial and attempt."""
    notes: tuple[str, ...] = ()
    """Problems of the table, and how they were handled."""
    variants: tuple[str, ...] = ("",)
    """Conditions apart from the failure rate, in words; the first is the reference."""

    @cached_property
    def first(self) -> pd.DataFrame:
        """The first attempt of every episode."""
        return self.attempts.drop_duplicates(EPISODE, keep="first").reset_index(drop=True)

    @cached_property
    def final(self) -> pd.DataFrame:
        """The last attempt of every episode: the one that counts, because only a broken attempt is repeated."""
        return self.attempts.drop_duplicates(EPISODE, keep="last").reset_index(drop=True)

    @cached_property
    def failure_rates(self) -> tuple[float, ...]:
        """Shares of tool calls that were made to fail, rising; the first is the reference."""
        return tuple(float(rate) for rate in sorted(self.attempts["failure_rate"].unique()))

    def at_reference(self, part: pd.DataFrame) -> pd.DataFrame:
        """Keep the episodes under the reference condition, which the leaderboard and most figures are about."""
        part = self.at_variant(part)
        return part[part["failure_rate"] == self.failure_rates[0]] if self.failure_rates else part

    def at_variant(self, part: pd.DataFrame) -> pd.DataFrame:
        """Keep the episodes whose conditions, apart from the failure rate, are the reference's."""
        return part[part["variant"] == self.variants[0]] if len(self.variants) > 1 else part

    def conditions(self) -> Iterator[tuple[str, pd.DataFrame]]:
        """Yield the final attempts under each condition with its words, the reference first; one has no words."""
        several = len(self.failure_rates) > 1
        parts: dict[Any, pd.DataFrame] = dict(iter(self.final.groupby(["failure_rate", "variant"])))
        for rate, variant in sorted(parts, key=lambda key: (key[0], self.variants.index(key[1]))):
            part = parts[rate, variant]
            yield ", ".join(filter(None, (f"p = {rate:g}" if several else "", str(variant)))), part


def read_episodes(path: Path) -> pd.DataFrame:
    """Read the table of episodes from a Parquet file.

    Args:
        path: the file.

    Returns:
        The table.

    Raises:
        EvaluationError: when the file does not exist, or is not Parquet.
    """
    try:
        return pd.read_parquet(path)
    except FileNotFoundError as error:
        raise EvaluationError(f"{path}: no such file; run the evaluation first") from error
    except (OSError, ValueError) as error:
        raise EvaluationError(f"{path}: no table of episodes can be read from it ({error})") from error


def normalised(frame: pd.DataFrame, declared: Declared = NOTHING) -> Episodes:
    """Bring a table of episodes into one form.

    An agent that broke its own episode (``agent_error``) without a verdict has failed. An episode that the
    infrastructure or the judge broke has no verdict, regardless of the table. A row without an agent or a task, and a
    second row of one attempt, are left out; a column that is absent is unknown everywhere. Each such step is noted.

    Args:
        frame: one row per episode and attempt.
        declared: what the benchmark declares.

    Returns:
        The attempts with their verdict.

    Raises:
        EvaluationError: when a column is absent without which nothing can be counted.
    """
    absent = [name for name in REQUIRED if name not in frame.columns]
    if absent:
        raise EvaluationError(
            f"the table of episodes has no column {', '.join(absent)}: nothing can be counted without; "
            f"it needs at least {', '.join(REQUIRED)}"
        )
    notes = _Notes(len(frame))
    table = pd.DataFrame(index=range(len(frame)))
    for name in TEXTS:
        table[name] = _texts(frame, name)
    for name in numbers_of(declared):
        table[name] = _numbers(frame, name, notes)
    passed = frame["passed"].astype(object).map({True: 1.0, False: 0.0})
    table["variant"], variants = name_variants(frame, declared)
    table["verdict"] = passed.to_numpy(dtype=np.float64, na_value=np.nan)
    notes.add(
        frame["passed"].notna().to_numpy() & table["verdict"].isna(),
        lambda n: f"{plural(n, 'row')} with a value of passed that is neither true nor false: without a verdict",
    )
    nameless = table["agent"].isna() | table["task_id"].isna()
    notes.add(nameless, lambda n: f"{plural(n, 'row')} without an agent or a task: left out")
    table = table[~nameless].copy()
    _mend(table, notes)
    table = table.sort_values([*EPISODE, "attempt"], kind="stable")
    again = table.duplicated([*EPISODE, "attempt"])
    notes.add(again, lambda n: f"{plural(n, 'row')} for an attempt that another row tells of: the first one counts")
    return Episodes(table[~again].reset_index(drop=True), tuple(notes.lines), variants)


def _mend(table: pd.DataFrame, notes: "_Notes") -> None:
    for name in ("trial", "attempt", "failure_rate"):
        unknown = table[name].isna()
        if name != "failure_rate" or not unknown.all():
            notes.add(unknown, partial(_read_as_zero, name))
        table[name] = table[name].fillna(0.0)
    unknown = ~table["status"].isin(STATUSES)
    notes.add(unknown, lambda n: f"{plural(n, 'row')} with a status that is not known: read as ok")
    table.loc[unknown, "status"] = "ok"
    broken = table["status"].isin(NO_VERDICT)
    notes.add(
        broken & table["verdict"].notna(),
        lambda n: f"{plural(n, 'attempt')} that the infrastructure or the judge broke, with a verdict: it is not used",
    )
    table.loc[broken, "verdict"] = np.nan
    table.loc[(table["status"] == "agent_error") & table["verdict"].isna(), "verdict"] = 0.0


def _read_as_zero(name: str, rows: int) -> str:
    return f"{plural(rows, 'row')} without {name}: read as 0"


def name_variants(frame: pd.DataFrame, declared: Declared) -> tuple[list[str], tuple[str, ...]]:
    """Name the values of all axes apart from the failure rate, as far as they differ.

    Args:
        frame: a table with a column for each axis.
        declared: what the benchmark declares.

    Returns:
        The name in each row, and all names in their order, the reference first.
    """
    axes = [axis for axis in declared.axes if axis.name != "failure_rate" and axis.name in frame.columns]
    texts = {axis: [str(value) for value in _texts(frame, axis.name)] for axis in axes}
    varying = {axis: column for axis, column in texts.items() if len(set(column)) > 1}
    if not varying:
        return [""] * len(frame), ("",)
    rows = list(zip(*varying.values(), strict=True))
    ordered = sorted(set(rows), key=lambda row: [axis.rank(value) for axis, value in zip(varying, row, strict=True)])
    names = {
        row: ", ".join(f"{axis.letter} = {value}" for axis, value in zip(varying, row, strict=True)) for row in ordered
    }
    return [names[row] for row in rows], tuple(names.values())


class _Notes:
    def __init__(self, rows: int) -> None:
        self.rows = rows
        self.lines: list[str] = []

    def add(self, found: Any, say: Callable[[int], str]) -> None:
        count = int(np.asarray(found, dtype=bool).sum())
        if count:
            self.lines.append(f"{say(count)} (of {self.rows:,} rows)")


def _texts(frame: pd.DataFrame, name: str) -> Any:
    if name not in frame.columns:
        return np.full(len(frame), None, dtype=object)
    column = frame[name].astype(object).reset_index(drop=True)
    return column.where(column.notna(), None).map(lambda value: None if value is None else str(value)).astype(object)


def _numbers(frame: pd.DataFrame, name: str, notes: _Notes) -> Any:
    if name not in frame.columns:
        return np.full(len(frame), np.nan)
    numbers = pd.to_numeric(frame[name], errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan, copy=True)
    unusable = ~np.isfinite(numbers) & frame[name].notna().to_numpy()
    notes.add(unusable, lambda n: f"{plural(n, 'row')} with a {name} that is not a finite number: unknown")
    numbers[~np.isfinite(numbers)] = np.nan
    return numbers
