"""Agents without a model: the same bytes whoever plays, folders that grow, folders that are refused, and the audit."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agenthard.flows.errors import CommandError
from agenthard.flows.evaluation.flow import run_evaluation
from agenthard.flows.evaluation.settings import EvaluationSettings
from tests.flows.evaluation.conftest import attempts, evaluated, key

AGENTS = ("random", "slot-filter", "solver+forgetting:0.3")
PUBLISHED = ("tables/episodes.parquet", "trajectories.jsonl.gz")


def settings(suite: Path, out: Path, **changes: object) -> EvaluationSettings:
    base = EvaluationSettings(
        benchmark="ace", path=str(suite), agents=AGENTS, trials=2, failure_rates=(0.0, 0.3), out=str(out)
    )
    return base.model_copy(update=changes)


def published(out: Path) -> dict[str, bytes]:
    return {name: (out / name).read_bytes() for name in PUBLISHED}


@pytest.fixture(scope="module")
def done(suite: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three agents on four instances, two failure rates, two trials: 48 episodes, by one process."""
    out = tmp_path_factory.mktemp("evaluations") / "one"
    outcome = evaluated(settings(suite, out))
    assert outcome.complete and (outcome.planned, outcome.settled) == (48, 48)
    return out


@pytest.mark.long
def test_two_processes_write_the_same_bytes(suite: Path, done: Path, tmp_path: Path) -> None:
    outcome = run_evaluation(settings(suite, tmp_path / "two", workers=2))
    assert outcome.complete
    assert published(tmp_path / "two") == published(done)


@pytest.mark.long
def test_bytes_do_not_depend_on_the_hash_seed(suite: Path, done: Path, tmp_path: Path) -> None:
    code = (
        "import sys; from agenthard.flows.evaluation.settings import EvaluationSettings as S\n"
        "from tests.flows.evaluation.conftest import evaluated\n"
        "evaluated(S.model_validate_json(sys.argv[1]))"
    )
    for seed in ("1", "2"):
        text = settings(suite, tmp_path / seed).model_dump_json()
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.getcwd()}
        subprocess.run([sys.executable, "-c", code, text], check=True, env=environment)
        assert published(tmp_path / seed) == published(done)


@pytest.mark.long
def test_a_folder_that_grows_plays_only_what_is_new(suite: Path, done: Path, tmp_path: Path) -> None:
    out = tmp_path / "grown"
    small = evaluated(settings(suite, out, agents=AGENTS[:2], trials=1, failure_rates=(0.0,)))
    first = {key(row): row["seconds"] for row in attempts(out)}
    assert (small.planned, len(first)) == (8, 8)
    evaluated(settings(suite, out, trials=1, failure_rates=(0.0,)))
    assert len(attempts(out)) == 12
    assert evaluated(settings(suite, out)).complete
    again = {key(row): row["seconds"] for row in attempts(out)}
    assert {name: again[name] for name in first} == first
    assert published(out) == published(done)
    shrunk = evaluated(settings(suite, out, agents=AGENTS[:2], trials=1, failure_rates=(0.0,)))
    assert (shrunk.planned, shrunk.settled, shrunk.complete) == (8, 8, True)
    assert [(row.agent, row.run) for row in shrunk.board] == [(row.agent, row.run) for row in small.board]


@pytest.mark.parametrize("change", [{"seed": 7}, {"options": {"mode": "paper"}}])
def test_other_conditions_in_the_same_folder_are_refused(change: dict[str, object], suite: Path, done: Path) -> None:
    before = published(done)
    with pytest.raises(CommandError, match="another suite"):
        evaluated(settings(suite, done, **change))
    assert published(done) == before and len(attempts(done)) == 48


def test_another_suite_in_the_same_folder_is_refused(suite: Path, done: Path, tmp_path: Path) -> None:
    other = tmp_path / "suite"
    subprocess.run(["cp", "-r", str(suite), str(other)], check=True)
    lines = (other / "answers.jsonl").read_text().splitlines(keepends=True)
    (other / "answers.jsonl").write_text("".join(lines[:-1]))
    with pytest.raises(CommandError, match="another suite"):
        evaluated(settings(other, done))


def test_a_folder_with_something_else_is_refused(suite: Path, tmp_path: Path) -> None:
    (tmp_path / "diary.txt").write_text("mine")
    with pytest.raises(CommandError, match="not empty, and not an evaluation"):
        evaluated(settings(suite, tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["diary.txt"]


def test_failure_rates_are_conditions_of_their_own(done: Path) -> None:
    rows = attempts(done)
    failures = {0.0: 0, 0.3: 0}
    for row in rows:
        failures[row["failure_rate"]] += json.loads(row["usage"])["failed_calls"]
    assert failures[0.0] == 0 < failures[0.3]
    with gzip.open(done / "trajectories.jsonl.gz", "rt") as lines:
        ids = [json.loads(line)["id"] for line in lines]
    assert len(set(ids)) == 48 and sum("/failures 0.3/" in id for id in ids) == 24


def test_the_page_names_every_agent(done: Path) -> None:
    page = (done / "report" / "evaluation.html").read_text()
    assert all(agent in page for agent in AGENTS)


def test_the_audit_reads_every_run(suite: Path, done: Path, tmp_path: Path) -> None:
    from agenthard.flows.audit_flow import run_audit
    from agenthard.flows.audit_plan import AuditInput, AuditSettings

    runs = (str(done / "trajectories.jsonl.gz"),)
    settings = AuditSettings(source="ace", path=str(suite), runs=runs, out=str(tmp_path / "audit"), workers=1)
    outcome = run_audit(AuditInput(settings))
    assert (outcome.tasks, outcome.runs, outcome.quarantined, outcome.quarantined_runs) == (4, 48, 0, 0)
