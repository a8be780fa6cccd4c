"""The list of a queue: instances in an order of each reviewer's own, and filters with counts."""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Final

import numpy as np
import pyarrow.parquet

from agenthard.audit.decisions.priority import review_order
from agenthard.audit.judge.aggregate.findings import JudgeCheck
from agenthard.flows.review.figures import TaskValue, read_scores, task_values
from agenthard.flows.review.queue import queue_names, queue_tasks
from agenthard.flows.review.web.open_run import OpenRun
from agenthard.flows.review.web.series import Series
from agenthard.taxonomy.categories import COMPONENT_TITLES
from agenthard.taxonomy.finding import Finding, Severity, Tier

STATUS: Final = {
    "open": "open for you",
    "assigned": "assigned to you",
    "decided": "decided by you",
    "others": "decided by others",
    "disputed": "disputed",
    "adjudicated": "adjudicated",
    "skipped": "skipped by you",
    "stale": "stale verdicts",
}
RUNS: Final = {"all_fail": "every run fails", "all_pass": "every run passes", "mixed": "some fail", "none": "no runs"}
LEADERBOARD: Final = {"changes": "would change it"}
SINCE: Final = ("new", "flipped", "fixed", "persisted")
ACTIONS: Final = ("drop", "review", "keep", "unchecked")


@dataclass(frozen=True)
class Row:
    """What the queue shows of an instance."""

    task_id: str
    """Task."""
    severity: Severity | None
    """The worst that a finding does to the score; None without findings."""
    categories: tuple[str, ...]
    """Categories of the findings, the gravest first."""
    rule: bool
    """Whether a check other than a judge found a flaw."""
    judge: bool
    """Whether the judges found a flaw."""
    verified: bool
    """Whether a finding is confirmed: its evidence is the proof."""
    since: tuple[str, ...]
    """What happened to its findings since the run before."""
    passed: int
    """Runs that passed."""
    scored: int
    """Runs that were scored."""


@dataclass(frozen=True)
class Facet:
    """One kind of filter."""

    name: str
    """Name in the address."""
    title: str
    """Name for people."""
    by_checks: bool
    """Whether it tells what checks found."""
    values: tuple[str, ...]
    """What can be chosen."""
    titles: Mapping[str, str]
    """Names of the values for people, where they differ."""
    has: "np.ndarray[Any, np.dtype[np.bool_]]"
    """Which instance has which value: instances × values."""


@dataclass(frozen=True)
class Choice:
    """A value of a filter with the number of instances that it would leave, the other filters as they are."""

    value: str
    """Value in the address."""
    title: str
    """Words for people."""
    count: int
    """Instances."""


@dataclass(frozen=True)
class Listed:
    """What filters leave."""

    ids: tuple[str, ...]
    """Tasks, in the reviewer's order."""
    choices: Mapping[str, tuple[Choice, ...]]
    """Values of each filter that leave anything, by its name."""


class Listing:
    """The instances of a run."""

    def __init__(self, run: OpenRun, series: Series) -> None:
        self._run, self._series = run, series
        self._ids = tuple(run.decisions)
        self._position = {task_id: number for number, task_id in enumerate(self._ids)}
        self.order = lru_cache(64)(self._order)
        self._places = lru_cache(64)(self._order_as_places)

    def row(self, task_id: str) -> Row:
        """Return what the queue shows of an instance."""
        found = sorted(self._run.findings_of.get(task_id, ()), key=lambda each: list(Severity).index(each.severity))
        passed, scored = self._outcomes.get(task_id, (0, 0))
        flaws = [each for each in found if each.tier is not Tier.SIGNAL]
        return Row(
            task_id=task_id,
            severity=found[0].severity if found else None,
            categories=tuple(dict.fromkeys(each.category for each in found)),
            rule=any(each.check != JudgeCheck.id for each in flaws),
            judge=any(each.check == JudgeCheck.id for each in flaws),
            verified=any(each.tier is Tier.CONFIRMED for each in flaws),
            since=self._since.get(task_id, ()),
            passed=passed,
            scored=scored,
        )

    def select(self, filters: Mapping[str, str], reviewer: str) -> Listed:
        """Choose instances.

        Args:
            filters: value by name of the filter; ``q`` is a part of the id. Unknown values leave nothing.
            reviewer: whose order it is, and whom the statuses are about.
        """
        facets = [*self.facets, self._status(reviewer), self._reviewers(), self._queues()]
        masks = {facet.name: _mask(facet, filters[facet.name]) for facet in facets if filters.get(facet.name)}
        if filters.get("q"):
            wanted = filters["q"].casefold()
            masks["q"] = np.array([wanted in task_id.casefold() for task_id in self._ids], dtype=bool)
        choices = {facet.name: tuple(self._choices(facet, masks)) for facet in facets}
        left = self._all(masks)
        order = self._places(reviewer)
        return Listed(tuple(self._ids[number] for number in order[left[order]].tolist()), choices)

    @cached_property
    def facets(self) -> tuple[Facet, ...]:
        """Filters that do not depend on what people have said."""
        run, findings = self._run, self._run.findings_of

        def of(name: str, title: str, value: Callable[[Finding], str], titles: Mapping[str, str]) -> Facet:
            return self._facet(
                name, title, True, titles, (map(value, findings.get(task_id, ())) for task_id in self._ids)
            )

        component = {each.id: str(each.component) for each in run.taxonomy.categories}
        names = {each.id: each.name for each in run.taxonomy.categories}
        checks = {check: check for check in sorted({finding.check for finding in run.findings.values()})}
        return (
            of(
                "component",
                "Component",
                lambda each: component.get(each.category, ""),
                {str(each): title for each, title in COMPONENT_TITLES.items()},
            ),
            of("category", "Category", lambda each: each.category, names),
            of("check", "Check", lambda each: each.check, checks),
            of("tier", "Sure", lambda each: each.tier.value, {tier.value: tier.value for tier in Tier}),
            of(
                *("severity", "Severity", lambda each: each.severity.value),
                {each.value: each.value.replace("_", " ") for each in Severity},
            ),
            self._facet(
                *("action", "Decision", True, {each: each for each in ACTIONS}),
                ([run.decisions[task_id].action] for task_id in self._ids),
            ),
            self._facet(
                *("since", "Since the run before", True, {each: each for each in SINCE}),
                (self._since.get(task_id, ()) for task_id in self._ids),
            ),
            self._facet("runs", "Runs", False, RUNS, ([self._outcome(task_id)] for task_id in self._ids)),
            self._facet(
                *("leaderboard", "Leaderboard", False, LEADERBOARD),
                (["changes"] if task_id in self._changing else [] for task_id in self._ids),
            ),
        )

    @cached_property
    def _since(self) -> dict[str, tuple[str, ...]]:
        """What happened to the findings of each task since the run before; empty for the first run."""
        found: dict[str, set[str]] = {}
        changes = self._series.changes(self._run)
        for finding in self._run.findings.values():
            if finding.id in changes:
                for task_id in finding.task_ids:
                    found.setdefault(task_id, set()).add(changes[finding.id].change)
        for each in self._series.changed(self._run) if changes else ():
            for task_id in each.finding.task_ids if each.change.change == "fixed" else ():
                found.setdefault(task_id, set()).add("fixed")
        return {task_id: tuple(each for each in SINCE if each in own) for task_id, own in found.items()}

    @cached_property
    def values(self) -> list[TaskValue]:
        """What a decision on each task can change on the leaderboard, the greatest change first."""
        kept = {task_id: each.action != "drop" for task_id, each in self._run.decisions.items()}
        return task_values(read_scores(self._run.folder, self._ids), kept)

    @cached_property
    def _changing(self) -> frozenset[str]:
        return frozenset(each.task_id for each in self.values if each.pairs)

    def _facet(
        self, name: str, title: str, by_checks: bool, titles: Mapping[str, str], has: Iterable[Iterable[str]]
    ) -> Facet:
        place = {value: number for number, value in enumerate(titles)}
        matrix = np.zeros((len(self._ids), len(place)), dtype=bool)
        for number, values in enumerate(has):
            matrix[number, [place[value] for value in set(values) if value in place]] = True
        return Facet(name, title, by_checks, tuple(place), titles, matrix)

    def _choices(self, facet: Facet, masks: Mapping[str, Any]) -> Iterable[Choice]:
        left = self._all({name: mask for name, mask in masks.items() if name != facet.name})
        counts = facet.has[left].sum(axis=0)
        for value, count in zip(facet.values, counts, strict=True):
            if count:
                yield Choice(value, facet.titles[value], int(count))

    def _all(self, masks: Mapping[str, Any]) -> Any:
        return np.logical_and.reduce([np.ones(len(self._ids), dtype=bool), *masks.values()])

    def _status(self, reviewer: str) -> Facet:
        """What people have said, as one reviewer may know it."""
        matrix = np.zeros((len(self._ids), len(STATUS)), dtype=bool)
        matrix[:, 0] = True
        with self._run.lock:
            for (what, name), item in self._run.state.items():
                if what != "task" or name not in self._position:
                    continue
                own = reviewer in item.verdicts
                values = {
                    "open": not own and item.adjudication is None,
                    "assigned": reviewer in item.assigned,
                    "decided": own,
                    "others": not own and bool(item.verdicts),
                    "disputed": item.split,
                    "adjudicated": item.adjudication is not None,
                    "skipped": reviewer in item.skipped,
                    "stale": bool(item.stale),
                }
                matrix[self._position[name]] = [values[each] for each in STATUS]
        return Facet("status", "Status", False, tuple(STATUS), STATUS, matrix)

    def _reviewers(self) -> Facet:
        with self._run.lock:
            said = {name: list(item.verdicts) for (what, name), item in self._run.state.items() if what == "task"}
        return self._said("by", "Verdict by", said)

    def _queues(self) -> Facet:
        """Named queues."""
        inside: dict[str, list[str]] = {}
        with self._run.lock:
            for name in queue_names(self._run.state):
                for task_id in queue_tasks(self._run.state, name):
                    inside.setdefault(task_id, []).append(name)
        return self._said("queue", "Queue", inside)

    def _said(self, name: str, title: str, has: Mapping[str, Iterable[str]]) -> Facet:
        """Make a filter of what few instances have."""
        values = sorted({value for each in has.values() for value in each})
        place = {value: number for number, value in enumerate(values)}
        matrix = np.zeros((len(self._ids), len(values)), dtype=bool)
        for task_id, own in has.items():
            if task_id in self._position:
                matrix[self._position[task_id], [place[value] for value in own]] = True
        return Facet(name, title, False, tuple(values), {value: value for value in values}, matrix)

    def _order(self, reviewer: str) -> tuple[str, ...]:
        """Order the instances: surest and gravest evidence first; equal ones in an order of the reviewer's own."""
        tiers, severities = list(Tier), list(Severity)
        rank = {
            each.task_id: (
                *(tiers.index(each.tier), severities.index(each.severity)),
                *(-len(each.checks), -len(each.signals)),
            )
            for each in review_order(self._ids, self._run.findings.values())
        }
        last = (len(tiers), 0, 0, 0)

        def drawn(task_id: str) -> bytes:
            return hashlib.sha256(f"{reviewer}\x1f{task_id}".encode("utf-8", "surrogatepass")).digest()

        return tuple(sorted(self._ids, key=lambda task_id: (rank.get(task_id, last), drawn(task_id))))

    def _order_as_places(self, reviewer: str) -> "np.ndarray[Any, np.dtype[np.int64]]":
        return np.array([self._position[task_id] for task_id in self.order(reviewer)], dtype=np.int64)

    def _outcome(self, task_id: str) -> str:
        passed, scored = self._outcomes.get(task_id, (0, 0))
        return "none" if not scored else "all_fail" if not passed else "all_pass" if passed == scored else "mixed"

    @cached_property
    def _outcomes(self) -> dict[str, tuple[int, int]]:
        """Runs that passed and runs that were scored, by task."""
        path = self._run.folder / "tables" / "trajectories.parquet"
        if not path.is_file():
            return {}
        with pyarrow.parquet.ParquetFile(path) as file:
            table = file.read(columns=["task_id", "passed"])
        found: dict[str, tuple[int, int]] = {}
        for task_id, outcome in zip(table["task_id"].to_pylist(), table["passed"].to_pylist(), strict=True):
            if outcome is not None:
                passed, scored = found.get(task_id, (0, 0))
                found[task_id] = (passed + bool(outcome), scored + 1)
        return found


def _mask(facet: Facet, value: str) -> "np.ndarray[Any, np.dtype[np.bool_]]":
    if value not in facet.values:
        return np.zeros(len(facet.has), dtype=bool)
    chosen: np.ndarray[Any, np.dtype[np.bool_]] = facet.has[:, facet.values.index(value)]
    return chosen
