"""Every finding can be reproduced: its command runs as printed, and ``replay --finding`` shows it."""

import json
import random
import shlex
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from agenthard.flows.audit_plan import AuditSettings
from agenthard.flows.audited_run import read_findings
from agenthard.flows.cli import app
from agenthard.flows.demo import write_demo
from agenthard.flows.errors import CommandError
from agenthard.flows.run_folder import write_json
from agenthard.taxonomy.finding import Finding, Proof
from tests.flows.audits import audit_by_steps

SEED = 20261122
SAMPLED = 12
"""Findings whose commands are run on each corpus."""


def audit(source: str, path: Path, out: Path, *, domains: tuple[str, ...] = (), runs: tuple[str, ...] = ()) -> Path:
    """Audit in this process, without Prefect."""
    settings = AuditSettings(source=source, path=str(path), domains=domains, runs=runs, out=str(out))
    audit_by_steps(settings)
    return out


def invoke(*words: str) -> Result:
    return CliRunner().invoke(app, list(words))


def run_printed(finding: Finding) -> str:
    """Run the command of a finding as a shell would split it."""
    program, *words = shlex.split(finding.command)
    assert program == "agenthard"
    done = invoke(*words)
    assert done.exit_code == 0, f"{finding.id} {finding.command}: {done.output}{done.exception}"
    shown = done.output
    if "--check" in words:
        assert finding.id in shown and finding.claim in shown, finding.command
    else:
        assert "verdict: " in shown, finding.command
    return shown


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo run")
    benchmark = folder / "the benchmark"
    write_demo(benchmark)
    return audit("native", benchmark, folder / "demo", runs=(str(benchmark / "runs.jsonl"),))


@pytest.mark.long
def test_the_command_of_every_finding_of_the_demo_shows_it_again(demo: Path) -> None:
    findings = read_findings(demo)
    assert len(findings) > 20
    assert all(finding.command for finding in findings)
    for finding in findings:
        run_printed(finding)


def test_the_check_of_a_finding_runs_again(demo: Path) -> None:
    finding = next(each for each in read_findings(demo) if each.check == "call-schema")
    again = invoke("replay", "--finding", finding.id, "--run", str(demo))
    assert again.exit_code == 0, again.output
    assert finding.claim in again.output
    assert f"finding {finding.id}" in again.output


def test_a_check_that_finds_nothing_any_more_says_so(demo: Path) -> None:
    benchmark = str(demo.parent / "the benchmark")
    flagged = {task for each in read_findings(demo) if each.check == "call-schema" for task in each.task_ids}
    sound = next(t for t in json.loads((demo / "work" / "plan.json").read_text())["task_ids"] if t not in flagged)
    done = invoke("replay", "native", benchmark, sound, "--check", "call-schema")
    assert done.exit_code == 1
    assert "finds nothing" in done.output


def test_the_proof_of_a_finding_is_executed(tmp_path: Path) -> None:
    suite = tmp_path / "suite"
    assert invoke("ace", "generate", "--out", str(suite), "-H", "3", "-B", "2", "--domain", "course").exit_code == 0
    run = audit("ace", suite, tmp_path / "run")
    task_id = json.loads((run / "work" / "plan.json").read_text())["task_ids"][0]
    document = json.loads((run / "findings.json").read_text())
    example = Finding.model_validate(
        {
            "id": "0" * 12,
            "check": "call-schema",
            "check_version": "1",
            "category": "too-lenient",
            "severity": "affects_score",
            "tier": "confirmed",
            "claim": "An empty run passes.",
            "task_ids": [task_id],
            "evidence": [{"task_id": task_id, "pointer": "/id", "quote": task_id}],
            "proof": Proof(task_id=task_id, kind="constructed", passes=True, should_pass=False, evaluator="ace"),
        }  # fmt: skip
    )
    document["findings"].append(example.model_dump(mode="json"))
    write_json(run / "findings.json", document)
    done = invoke("replay", "--finding", example.id, "--run", str(run))
    # the evaluator of ACE rejects a run that does nothing, so this proof does not hold
    assert "rightly: it has to be rejected" in done.output, done.output
    assert done.exit_code == 1
    shown = invoke("show", str(run), example.id)
    assert "a constructed run" in shown.output


def test_what_cannot_be_shown_is_refused_with_a_reason(demo: Path, tmp_path: Path) -> None:
    for words, reason in (
        (["explain", "0123456789ab", "--run", str(demo)], "no finding '0123456789ab'"),
        (["explain", "0123456789ab", "--run", str(tmp_path)], "no finished audit here"),
        (["replay", "--finding", "0123456789ab", "--run", str(demo)], "no finding"),
        (["replay", "native", str(demo.parent / "the benchmark"), "none", "--check", "call-schema"], "has no task"),
        (["replay", "native", str(demo), "none", "--check", "no-such"], "no check 'no-such'"),
        (["replay", "native"], "expected SOURCE [PATH] TASK"),
        (["replay", "native", "p", "t", "--finding", "0123456789ab"], "give no other"),
    ):
        done = invoke(*words)
        assert isinstance(done.exception, CommandError), words
        assert reason in str(done.exception)


@pytest.mark.long
@pytest.mark.corpora
@pytest.mark.parametrize(
    ("source", "folder", "domains"),
    [
        ("tau2", "tau2-bench_v0.1.3", ("airline",)),
        ("tau-bench", "tau-bench_59a200c", ("airline",)),
        ("acebench", "acebench_2025-02-26", ()),
    ],
)
def test_commands_of_real_findings_run_as_printed(
    corpora: Path, tmp_path: Path, source: str, folder: str, domains: tuple[str, ...]
) -> None:
    findings = read_findings(audit(source, corpora / folder, tmp_path / "run", domains=domains))
    assert all(finding.command for finding in findings)
    for finding in random.Random(SEED).sample(findings, min(SAMPLED, len(findings))):
        run_printed(finding)
