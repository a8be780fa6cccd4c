"""Checks that read ground truths, on real benchmarks: flaws that their maintainers fixed, duplicates, and no noise."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agenthard.audit.conclude import conclude
from agenthard.audit.detectors import ground_truth
from agenthard.audit.shards import check_shard
from agenthard.audit.sources.base import Source
from agenthard.audit.sources.bfcl import BFCL
from agenthard.audit.sources.tau.tau2 import Tau2Bench
from agenthard.audit.sources.tau.tau_bench import TauBench
from agenthard.taxonomy import Finding, Severity, Status
from tests.corpora import tasks_of

pytestmark = pytest.mark.corpora


def audit(source: Source) -> list[Finding]:
    tasks = tasks_of(type(source), source.root)
    # Those that replay ground truths have tests of their own.
    every = [getattr(ground_truth, name)() for name in ground_truth.__all__]
    detectors = [each for each in every if not each.id.startswith("gold-")]
    findings, coverage = conclude(source.name, [t.id for t in tasks], [check_shard(tasks, {}, detectors)], detectors)
    assert [row for row in coverage if row.status is Status.ERROR] == []
    return findings


def found_in(findings: list[Finding], check: str, *severities: Severity) -> Iterator[str]:
    for finding in findings:
        if finding.check == check and (not severities or finding.severity in severities):
            yield from finding.task_ids


VARIANTS = ("base", "long_context", "miss_func", "miss_param")


@pytest.mark.long
def test_bfcl(corpora: Path) -> None:
    findings = audit(BFCL(corpora / "bfcl_v3_2025-07-17"))
    schema = set(found_in(findings, "call-schema"))
    assert {"multi_turn_base_173", "multi_turn_miss_func_49", "live_multiple_862-181-3"} <= schema
    assert 30 <= len(schema) <= 45
    assert list(found_in(findings, "turn-count")) == ["multi_turn_base_154"]
    near_miss = set(found_in(findings, "near-miss-value", Severity.AFFECTS_SCORE))
    assert {"multi_turn_base_10", "multi_turn_miss_func_34", "live_multiple_678-163-3"} <= near_miss
    assert len(near_miss) == 8
    assert set(found_in(findings, "misplaced-value")) == {f"multi_turn_{k}_78" for k in VARIANTS}
    ungrounded = set(found_in(findings, "ungrounded-argument"))
    assert {"multi_turn_base_188", "live_multiple_621-160-1", "live_multiple_276-127-11"} <= ungrounded
    assert 25 <= len(ungrounded) <= 40
    assert len([f for f in findings if f.check == "duplicate-task"]) == 3
    assert len([f for f in findings if f.check == "conflicting-gold"]) == 3


@pytest.mark.long
def test_tau_bench(corpora: Path) -> None:
    findings = audit(TauBench(corpora / "tau-bench_59a200c"))
    assert list(found_in(findings, "duplicate-task")) == ["retail/93", "retail/95"]
    assert set(found_in(findings, "near-miss-value")) == {"airline/9", "airline/25"}
    assert set(found_in(findings, "ungrounded-argument")) == {"retail/2", "retail/3", "retail/4"}
    assert {finding.check for finding in findings} == {"duplicate-task", "near-miss-value", "ungrounded-argument"}


@pytest.mark.long
def test_tau2_bench(corpora: Path) -> None:
    findings = audit(Tau2Bench(corpora / "tau2-bench_v0.1.3"))
    assert set(found_in(findings, "near-miss-value")) == {"airline/23", "airline/35"}
    assert set(found_in(findings, "unknown-output")) == {"airline/14"}
    assert {finding.check for finding in findings} == {"near-miss-value", "ungrounded-argument", "unknown-output"}
