"""Reads a run folder for a survey, and says which audits were made in the same way."""

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agenthard.audit.coverage import RAN, CoverageTable
from agenthard.audit.statistics import Estimate, Result, wilson_interval
from agenthard.audit.statistics.intervals import clustered_wilson
from agenthard.audit.statistics.result import undefined
from agenthard.reports.cleaning.inputs import CleaningInput, load_run
from agenthard.reports.coverage_parquet import read_coverage_parquet
from agenthard.reports.kit.load import RunTablesError, load_json, table_file
from agenthard.reports.kit.text import plural
from agenthard.taxonomy.finding import Finding
from agenthard.taxonomy.record import Record


class Rate(Record):
    """k of N tasks."""

    k: int
    """Tasks that it is about."""
    n: int
    """Tasks that could be looked at; the others are not counted."""
    share: Result
    """k / n with Wilson's interval; variants of one base task count as one cluster. Undefined for n = 0."""


@dataclass(frozen=True)
class SurveyedAudit:
    """One finished audit."""

    run: str
    """Name of the run folder, for people."""
    found: CleaningInput
    """Tasks, decisions, findings, runs."""
    manifest: Mapping[str, Any]
    """Manifest of the run folder."""
    checks: Mapping[str, Mapping[str, Any]]
    """What each check did and why it did not run elsewhere, by id, as findings.json lists it."""
    not_read: Sequence[Mapping[str, Any]]
    """What looks like tasks and was not read."""
    tickets: int
    """Causes that tasks share."""
    coverage: CoverageTable
    """What each check did on each task."""

    @cached_property
    def task_ids(self) -> tuple[str, ...]:
        """Tasks, in the benchmark's order."""
        return tuple(task.id for task in self.found.tasks)

    @cached_property
    def checked(self) -> frozenset[str]:
        """Tasks on which at least one check ran."""
        return frozenset(self.coverage.tasks_having(*RAN))

    def looked_at(self, checks: Collection[str]) -> frozenset[str]:
        """Tasks on which at least one of these checks ran."""
        columns = [column for check, column in self.coverage.column.items() if check in checks]
        return frozenset(self.coverage.tasks[row] for row in np.flatnonzero(self._ran[:, columns].any(axis=1)))

    @cached_property
    def working(self) -> frozenset[str]:
        """Checks that ran on at least one task."""
        return frozenset(self.coverage.checks[column] for column in np.flatnonzero(self._ran.any(axis=0)))

    @cached_property
    def _ran(self) -> NDArray[np.bool_]:
        return self.coverage.having(*RAN)

    def rate(self, tasks: Collection[str], among: Collection[str], level: float = 0.95) -> Rate:
        """Count tasks among those that were looked at, with Wilson's interval.

        Args:
            tasks: tasks that are counted.
            among: tasks that were looked at; tasks that are counted belong to them.
            level: coverage of the interval.
        """
        within = set(among) | set(tasks)
        k, n, clusters = len(set(tasks)), len(within), self.found.clusters
        if not n:
            return Rate(k=0, n=0, share=undefined("no task was looked at", 0, "tasks"))
        if clusters is None:
            return Rate(k=k, n=n, share=wilson_interval(k, n, level, "tasks"))
        counts: dict[str, tuple[int, int]] = {}
        for task in within:
            yes, all_of_it = counts.get(clusters[task], (0, 0))
            counts[clusters[task]] = yes + (task in tasks), all_of_it + 1
        low, high = clustered_wilson([counts[name] for name in sorted(counts)], level)
        method = f"Wilson interval, {plural(len(counts), 'cluster')} of variants"
        share = Estimate(value=k / n, low=low, high=high, level=level, n=n, of=n, unit="tasks", method=method)
        return Rate(k=k, n=n, share=share)

    def of_check(self, *checks: str) -> list[Finding]:
        """Findings of some checks."""
        return [finding for finding in self.found.findings if finding.check in checks]


def load_audit(folder: Path) -> SurveyedAudit:
    """Read a run folder.

    Args:
        folder: run folder of a finished audit.

    Returns:
        The audit.

    Raises:
        RunTablesError: when the folder holds no finished audit of a known layout.
    """
    document, manifest = load_json(folder, "findings.json"), load_json(folder, "manifest.json")
    try:
        return SurveyedAudit(
            run=folder.resolve().name,
            found=load_run(folder),
            manifest=manifest,
            checks={row["id"]: row for row in document["checks"]},
            not_read=document["not_read"],
            tickets=len(document["tickets"]),
            coverage=read_coverage_parquet(table_file(folder, "coverage")),
        )
    except (KeyError, TypeError) as error:
        raise RunTablesError(f"{folder}: findings.json has no {error}; audit again with this version") from error


def differences(one: SurveyedAudit, other: SurveyedAudit) -> tuple[str, ...]:
    """Say in which ways two audits were made differently, so that their counts may not be compared.

    Checks that only one of them could run, because of its benchmark, are not a difference: every rate counts the tasks
    that were looked at. People's decisions about single tasks are none either.

    Args:
        one: an audit.
        other: the audit that it is compared with.
    """
    first, second = one.manifest, other.manifest
    said = []
    if first["taxonomy"] != second["taxonomy"]:
        said.append(f"taxonomy {first['taxonomy']} here, {second['taxonomy']} there")
    mine, theirs = _rules(first["policy"]), _rules(second["policy"])
    if mine != theirs:
        versions = f"{first['policy']['version']} here, {second['policy']['version']} there"
        same = first["policy"]["version"] == second["policy"]["version"]
        said.append("other rules under the same version of the policy" if same else f"policy {versions}")
    changed = [
        f"{check} {first['checks'][check]} here, {second['checks'][check]} there"
        for check in sorted(set(first["checks"]) & set(second["checks"]))
        if first["checks"][check] != second["checks"][check]
    ]
    if changed:
        said.append(f"{plural(len(changed), 'check')} of another version ({_some(changed)})")
    for checks, where in (
        (set(first["checks"]) - set(second["checks"]), "here only"),
        (set(second["checks"]) - set(first["checks"]), "there only"),
    ):
        if checks:
            said.append(f"{plural(len(checks), 'check')} asked to run {where} ({_some(sorted(checks))})")
    return tuple(said)


def reference_of(audits: Sequence[SurveyedAudit]) -> SurveyedAudit:
    """Return the first of the audits that were made in the most frequent way.

    Args:
        audits: at least one audit.
    """
    ways = [_way(audit) for audit in audits]
    most = max(Counter(ways).values())
    return next(audit for audit, way in zip(audits, ways, strict=True) if ways.count(way) == most)


def _way(audit: SurveyedAudit) -> str:
    manifest = audit.manifest
    return json.dumps([manifest["taxonomy"], _rules(manifest["policy"]), manifest["checks"]], sort_keys=True)


def _rules(policy: Mapping[str, Any]) -> Any:
    return {name: value for name, value in policy.items() if name != "overrides"}


_NAMED = 3
"""Checks named in a sentence."""


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"
