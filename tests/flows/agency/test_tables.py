"""``agenthard agency tables`` on runs written by hand, whose figures are derived in comments, and on the release."""

import csv
import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agenthard.agency.paper import PublishedMeasure, checks_within, published_rows
from agenthard.agency.paper_tables import compared
from agenthard.agency.run_groups import group_of, run_groups
from agenthard.flows.agency_runs import read_runs
from agenthard.flows.cli import app
from agenthard.flows.errors import CommandError
from agenthard.taxonomy.task import Message, ToolCall
from agenthard.taxonomy.trajectory import Trajectory

CALLS = ("run_shell_command", "write_file", "write_file", "web_fetch", "todo_write")


def attempt(
    group: str, model: str, task: str, number: int, score: float, calls: Sequence[str] = (), tokens: int = 500_000
) -> Trajectory:
    messages = [
        Message(role="assistant", content="", tool_calls=(ToolCall(name=name, arguments={}),)) for name in calls
    ]
    return Trajectory(
        id=f"{group}/{task}/{number}",
        task_id=task,
        model=model,
        protocol=group,
        trial=number,
        score=score,
        passed=score >= 6,
        messages=(*messages, Message(role="assistant", content="I wrote the page and tested it.")),
        usage={"prompt_tokens": tokens, "completion_tokens": 0, "seconds": 1800},
        retry_of=f"{group}/{task}/{number - 1}" if number else None,
    )


def plays() -> list[Trajectory]:
    """Two tasks of a game and one of code: the first task fails, then passes; the second passes; the third fails."""
    native, plan = "m1, scaffold=native", "m1, scaffold=json-plan"
    rows = [
        attempt(native, "m1", "Game/one/task1", 0, 4, CALLS),
        attempt(native, "m1", "Game/one/task1", 1, 8),
        attempt(native, "m1", "Game/one/task2", 0, 10),
        attempt(native, "m1", "Code/one/task1", 0, 2),
        attempt(native, "m1", "Code/one/task1", 1, 3),
        attempt(native, "m1", "Game/one", 0, 9),  # the sum of a scenario, which its tasks stand for
    ]
    return [*rows, *(attempt(plan, "m1", run.task_id, run.trial, 6) for run in rows if run.trial == 0)]


def show(*arguments: object, code: int = 0) -> str:
    result = CliRunner().invoke(app, ["agency", "tables", *map(str, arguments)])
    assert result.exit_code == code, (result.output, result.exception)
    return result.stdout


@pytest.fixture
def written(tmp_path: Path) -> Path:
    file = tmp_path / "runs.jsonl.gz"
    file.write_bytes(gzip.compress("".join(run.model_dump_json() + "\n" for run in plays()).encode()))
    return file


def test_tables_and_figures(written: Path, tmp_path: Path) -> None:
    out = tmp_path / "tables"
    found = json.loads(show(written, "--out", out, "--json"))["tables"]
    plan, native = found["table_2_scores_by_capability"]
    # Game: (8 + 10) / 2 = 9, Code: 3; S_avg = (90 + 30) / 2.
    assert (native["Game"], native["Code"], native["S_avg"]) == (90, 30, 60)
    assert (plan["S_avg"], plan["scenarios"], plan["tasks"]) == (60, 2, 3)
    passes = found["table_3_attempts_and_passes"][1]
    # Att: (3/2 + 2/1) / 2. At once Game has (4 + 10) / 2 = 7 of 10, which passes; Code passes at no attempt.
    assert (passes["Att"], passes["Pass@1 %"], passes["Pass@2 %"], passes["Rise %"]) == (1.75, 50, 50, 0)
    assert (passes["Pass@1 by task %"], passes["Pass@2 by task %"]) == (25, 50)
    assert found["table_4_models_by_scaffolds"] == [{"model": "m1", "native": 60, "json-plan": 60}]
    effort = found["table_5_effort_and_efficiency"][1]
    # Five attempts of 0.5 million tokens and half an hour in two scenarios; five replies with a call.
    assert (effort["million tokens"], effort["turns"], effort["hours"]) == (1.25, 2.5, 1.25)
    assert effort["E_att"] == pytest.approx(60 / 1.75) and effort["E_tok"] == pytest.approx(60 / 1.25)
    rounds = found["table_7_scaffolds_by_attempts"][1]
    assert (rounds["scaffold"], rounds["Avg(1)"], rounds["Avg(2)"], rounds["calls"]) == ("native", 45, 60, 2.5)
    calls = {(row["group"], row["tool"]): row["m1, scaffold=native"] for row in found["table_8_calls_of_tools"]}
    assert calls == {
        ("shell", "run_shell_command"): 1,
        ("file", "write_file"): 2,
        ("web", "web_fetch"): 1,
        ("other", "todo_write"): 1,
    }
    shares = {row["group"]: row["share %"] for row in found["figure_5_shares_of_tools"]}
    assert shares == {"shell": 20, "file": 40, "web": 20, "other": 20}
    page = (out / "tables.html").read_text()
    assert "Figure 4: efficiency" in page and "Figure 5: shares of tools" in page and "<svg" in page
    with (out / "table_3_attempts_and_passes.csv").open() as file:
        assert [row["Att"] for row in csv.DictReader(file)] == ["1.0", "1.75"]
    again = tmp_path / "again"
    show(written, "--out", again)
    assert {p.name: p.read_bytes() for p in out.iterdir()} == {p.name: p.read_bytes() for p in again.iterdir()}


def test_the_released_run(corpora: Path) -> None:
    found = json.loads(show(corpora / "agencybench", "--compare", "--json"))["tables"]
    row = found["table_2_scores_by_capability"][0]
    assert (row["scenarios"], row["tasks"], round(row["Frontend"], 1), round(row["S_avg"], 1)) == (32, 138, 49.3, 49.4)
    passes = found["table_3_attempts_and_passes"][0]
    assert (passes["Pass@1 %"], passes["Pass@2 %"]) == (100 * 5 / 32, 100 * 9 / 32)
    effort = found["table_5_effort_and_efficiency"][0]
    assert (effort["million tokens"], effort["turns"], effort["hours"]) == (None, None, None)
    holds = {row["what"]: row["equal"] for row in found["compared_with_the_paper"]}
    assert holds == {
        **{f"{name} of the released run": "no" for name in ("Game", "Backend", "Code", "Research", "MCP")},
        "Frontend of the released run": "yes",
        "S_avg of the released run": "no",
        "Att of the released run": "no",
        "Pass@1 of the released run": "yes",
        "Pass@2 of the released run": "yes",
        "shell share %": None,
    }
    within = {
        row["what"]: row["equal"] for row in found["checks_within_the_paper"] if row["model"] == "claude-4.5-opus"
    }
    assert within == {
        "Pass@1 is a share of 32 scenarios": "yes",
        "Pass@2 is a share of 32 scenarios": "yes",
        "S_avg is the mean of the capabilities, weighted by their scenarios": "no",
    }


def test_published_numbers_that_cannot_be_derived_are_named() -> None:
    figures = (PublishedMeasure(source="Figure 4", model="other", measure="E_att", value=38.7),)
    _, within = compared(run_groups(plays(), resamples=100), published_rows(), figures)
    assert ("other", "E_att: not checked, its parts are not among the rows", "38.7", None, None) in within.rows


def test_every_published_pass_is_a_share_of_32_scenarios() -> None:
    for row in published_rows():
        assert all(check.holds for check in checks_within(row) if check.name.startswith("Pass@"))


@pytest.mark.parametrize("tool", ["update_memory_bank", "save_memory"])
def test_tools_of_memory_are_one_group(tool: str) -> None:
    assert group_of(tool) == "memory"


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    broken = tmp_path / "runs.jsonl"
    broken.write_text(plays()[0].model_dump_json() + "\n{}\n")
    for path, words in ((broken, "line 2: not a run"), (tmp_path / "none", "neither a folder nor a file of runs")):
        result = CliRunner().invoke(app, ["agency", "tables", str(path)])
        assert isinstance(result.exception, CommandError) and words in str(result.exception)


def test_an_evaluation_folder_is_read_by_its_runs(tmp_path: Path, written: Path) -> None:
    folder = tmp_path / "evaluation"
    folder.mkdir()
    (folder / "trajectories.jsonl.gz").write_bytes(written.read_bytes())
    runs, left_out = read_runs([folder])
    assert len(runs) == len(plays()) and left_out == []
