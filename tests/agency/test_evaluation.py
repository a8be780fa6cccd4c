"""Scripted agents play the tiny scenario: scores, carried workspaces, feedback, and what is written."""

import gzip
import json
from pathlib import Path

import pytest

from agenthard.agency.metrics import measures
from agenthard.flows.evaluation.finished import read_finished
from agenthard.flows.evaluation.settings import EvaluationSettings
from agenthard.taxonomy.trajectory import Trajectory
from tests.flows.evaluation.conftest import evaluated

ONE, TWO = "Code/tiny/one", "Code/tiny/two"


def played(suite: Path, out: Path, *agents: str, **options: str) -> list[Trajectory]:
    settings = EvaluationSettings(benchmark="agency", path=str(suite), agents=agents, out=str(out), options=options)
    outcome = evaluated(settings)
    assert outcome.complete, outcome.infrastructure_errors
    return list(read_finished(out, "agency").runs())


def test_scripted_agents_get_their_scores(suite: Path, tmp_path: Path) -> None:
    runs = played(suite, tmp_path / "out", "reference", "partial", "do_nothing", rounds="1")
    assert {(run.model, run.task_id, run.trial): run.score for run in runs} == {
        ("reference", ONE, 0): 10.0,
        ("reference", TWO, 0): 10.0,
        ("partial", ONE, 0): 7.5,
        ("partial", TWO, 0): 0.0,
        ("partial", TWO, 1): 0.0,
        **{("do_nothing", task, attempt): 0.0 for task in (ONE, TWO) for attempt in (0, 1)},
    }
    again = next(run for run in runs if (run.model, run.task_id, run.trial) == ("partial", TWO, 1))
    assert again.retry_of == f"partial/{TWO}//0/0" and again.user_model == "template"
    found = measures(runs)
    assert found["reference"].s_avg == 100 and found["partial"].s_avg == 37.5
    assert (found["partial"].att, found["do_nothing"].att) == (1.5, 2.0)
    with gzip.open(tmp_path / "out/rollouts.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    assert len(rows) == len(runs) and all(row["license"] == "MIT" for row in rows)
    told = next(
        row["feedback"] for row in rows if (row["agent"], row["task_id"], row["attempt"]) == ("partial", TWO, 0)
    )
    assert told["diagnosis"].startswith("- requirement 1 (0% met)") and "70123" not in json.dumps(told)


@pytest.mark.parametrize(("carry", "kept"), [("last", "second"), ("best", "first"), ("first", "first")])
def test_the_next_task_begins_on_the_attempt_that_is_carried(
    suite: Path, tmp_path: Path, carry: str, kept: str
) -> None:
    good = "echo 'echo 1' > sum.sh; echo me > note.txt; echo first > which"
    worse = "rm note.txt; echo second > which"
    calls = [[{"name": "run_shell_command", "arguments": {"command": command}}] for command in (good, worse)]
    look = [[{"name": "read_file", "arguments": {"absolute_path": "which"}}]]
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"tasks": {ONE: calls, TWO: look}}))
    runs = played(suite, tmp_path / "out", f"script:{script}", rounds="1", carry=carry)
    assert [run.score for run in runs] == [2.5, 0.0, 0.0, 0.0]
    assert next(message for message in runs[2].messages if message.role == "tool").content == f"{kept}\n"


def test_recorded_rollouts_are_played_again(suite: Path, tmp_path: Path) -> None:
    first = played(suite, tmp_path / "out", "reference", rounds="0")
    replay = f"replay:{tmp_path}/out/rollouts.jsonl.gz"
    again = played(suite, tmp_path / "again", replay, rounds="0")
    assert [run.score for run in again] == [run.score for run in first]
    with gzip.open(tmp_path / "again/rollouts.jsonl.gz", "rt", encoding="utf-8") as lines:
        assert all(json.loads(line)["rollout"]["other_answers"] == 0 for line in lines)


def test_equal_plays_give_equal_tables_and_runs(suite: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        played(suite, tmp_path / name, "partial", rounds="1")
    for file in ("trajectories.jsonl.gz", "tables/episodes.parquet"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()
