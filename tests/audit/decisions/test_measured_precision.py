"""Actions of the shipped policy that rest on measurements, and the measurements themselves."""

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from agenthard.audit.conclude import conclude
from agenthard.audit.decisions.measured_precision import MeasuredPrecision, measured_table
from agenthard.audit.decisions.policy import load_policy
from agenthard.audit.detectors.registry import detectors
from agenthard.audit.shards import check_shard
from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.formats.runs import read_runs
from agenthard.audit.sources.registry import open_source
from agenthard.taxonomy.finding import Status
from agenthard.taxonomy.trajectory import Trajectory

DOCS = Path(__file__).parents[3] / "docs" / "policy.md"
LABELLED = (
    ("tau-bench", "tau-bench_59a200c", "tau1_airline"),
    ("tau2", "tau2-bench_v0.1.3", "tau2_airline"),
)
FROM_RUNS = ("all-fail", "all-pass", "few-pass", "consensus-against-gold", "negative-discrimination")


def measured(**counts: int) -> MeasuredPrecision:
    return MeasuredPrecision.model_validate({**counts, "labels": "mine", "data": "development"})


def test_a_signal_asks_for_a_review_exactly_where_it_earns_it() -> None:
    rules = [rule for rule in load_policy().rules if rule.measured is not None]
    assert len(rules) == 8
    for rule in rules:
        assert rule.measured is not None
        assert (rule.action == "review") == rule.measured.earns_review, rule.check


def test_what_earns_a_review() -> None:
    # 7 of 7: the lower end of the Wilson interval is 7 / (7 + 1.96²) = 0.646
    sure = measured(flagged=7, flawed=7, comparable=100, comparable_flawed=64)
    assert sure.interval[0] == pytest.approx(7 / (7 + 1.959964**2))
    assert sure.earns_review
    assert not measured(flagged=7, flawed=7, comparable=100, comparable_flawed=65).earns_review
    assert not measured(flagged=0, flawed=0, comparable=0, comparable_flawed=0).earns_review
    assert measured(flagged=0, flawed=0, comparable=9, comparable_flawed=0).interval == (0.0, 1.0)
    with pytest.raises(ValidationError, match="must hold"):
        measured(flagged=2, flawed=3, comparable=9, comparable_flawed=9)


def test_the_documentation_holds_the_table_of_the_policy() -> None:
    assert measured_table(load_policy()) in DOCS.read_text(encoding="utf-8")


@pytest.mark.long
@pytest.mark.corpora
def test_the_figures_of_statistical_signals_can_be_taken_again(corpora: Path) -> None:
    asked = [detector for detector in detectors() if detector.id in FROM_RUNS]
    counts = {check: [0, 0, 0, 0] for check in FROM_RUNS}
    for name, folder, label_file in LABELLED:
        source = open_source(name, corpora / folder, ("airline",))
        rows = map(json.loads, (corpora / "labels_dev" / f"{label_file}.jsonl").read_text().splitlines())
        flawed = {f"airline/{row['task_id']}": bool(row["flawed"]) for row in rows}
        runs: dict[str, list[Trajectory]] = {}
        for run in read_runs(source, corpora / "trajectories" / f"{label_file}.jsonl.gz", Quarantine()):
            runs.setdefault(run.task_id, []).append(run)
        tasks = list(source.tasks(Quarantine()))
        found, coverage = conclude(name, [task.id for task in tasks], [check_shard(tasks, runs, asked)], asked)
        flagged = {(finding.check, task_id) for finding in found for task_id in finding.task_ids}
        for row in coverage:
            if row.status in (Status.CLEAN, Status.FLAGGED):
                hit, bad = (row.check, row.task_id) in flagged, flawed[row.task_id]
                for place, value in enumerate((hit, hit and bad, True, bad)):
                    counts[row.check][place] += value
    figures = {
        rule.check: [m.flagged, m.flawed, m.comparable, m.comparable_flawed]
        for rule in load_policy().rules
        if (m := rule.measured) is not None and rule.check in FROM_RUNS
    }
    assert figures == counts
