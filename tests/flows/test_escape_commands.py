"""The commands for escape rooms, end to end on small suites."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner

from agenthard.escape.storage import SUITES
from agenthard.flows.cli import app
from agenthard.flows.errors import exit_code
from agenthard.taxonomy.errors import AgentHardError
from tests.escape.made import rooms


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    SUITES.write(tmp_path / "suite", rooms()[:6], {}, count=6)
    return tmp_path / "suite"


def run(*words: object, given: str = "", code: int = 0) -> str:
    done = CliRunner().invoke(app, [*map(str, words)], input=given)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        # The command line turns refusals into messages and exit codes after this point.
        assert isinstance(done.exception, AgentHardError), done.exception
        assert exit_code(type(done.exception)) == code, done.exception
        return str(done.exception)
    assert done.exit_code == code, done.output
    return done.stdout


def as_json(*words: object, **more: Any) -> Any:
    return json.loads(run(*words, "--json", **more))


def test_a_suite_is_generated_resumed_and_verified(tmp_path: Path) -> None:
    out = tmp_path / "e"
    words = ("escape", "generate", "--out", out, "-n", 5, "-n", 6, "--rooms", 2)
    assert as_json(*words)["rooms"] == 4
    before = (out / "secrets.jsonl").read_bytes()
    (out / "secrets.jsonl").write_bytes(before[:-10])
    assert as_json(*words)["tiers"] == [{"size": 5, "rooms": 2}, {"size": 6, "rooms": 2}]
    assert (out / "secrets.jsonl").read_bytes() == before
    found = as_json("escape", "verify", out)
    assert (found["problems"], found["same_graph"], found["unreadable"]) == ([], 0, [])
    assert [tier["proved"] for tier in found["tiers"]] == [2, 2]
    assert "4 rooms: 4 proved" in run("escape", "verify", out)
    run(*words, "--seed", 9, code=64)


@pytest.mark.parametrize("words", [("-n", 1), ("-n", 5, "--rooms", 0), ("-n", 5, "-n", 5)])
def test_what_cannot_exist_is_refused(tmp_path: Path, words: tuple[object, ...]) -> None:
    run("escape", "generate", "--out", tmp_path / "e", *words, code=64)
    assert not (tmp_path / "e").exists()


def test_a_changed_answer_is_a_defect_and_a_broken_line_incomplete(suite: Path) -> None:
    lines = (suite / "secrets.jsonl").read_bytes().splitlines(keepends=True)
    answer = rooms()[1].secret.answer
    lines[1] = lines[1].replace(f'"answer":"{answer}"'.encode(), b'"answer":"ESC-1"')
    (suite / "secrets.jsonl").write_bytes(b"".join(lines))
    found = as_json("escape", "verify", suite, code=1)
    assert {problem["kind"] for problem in found["problems"]} >= {"answer"}
    lines[1] = b"{\n"
    (suite / "secrets.jsonl").write_bytes(b"".join(lines))
    assert len(as_json("escape", "verify", suite, code=2)["unreadable"]) == 1


def test_probes_find_no_give_away_in_a_suite(suite: Path) -> None:
    assert "No trait gives answers away" in run("escape", "probe", suite)


def test_a_person_plays_a_room(suite: Path, tmp_path: Path) -> None:
    room = rooms()[0]
    lines = []
    for id in room.order():
        part = next(each for each in room.room.parts if each.id == id)
        values = " ".join(f"{name}={value}" for name, value in room.secret.mechanisms[id].inputs.items())
        word = "use" if part.kind in ("tool", "terminal") else "open"
        lines += [f"look {id}"] + ([f"{word} {id} {values}"] if part.kind != "item" else [])
    if any("\n" in line for line in lines):
        pytest.fail("the first room of the suite needs a value of several lines; choose another")
    lines += ["what?", f"answer {room.secret.answer}"]
    runs = tmp_path / "runs.jsonl"
    shown = run("escape", "play", suite, room.id, "--out", runs, given="\n".join(lines) + "\n")
    assert "You are out." in shown
    record = json.loads(runs.read_text())
    assert (record["passed"], record["model"], record["task_id"]) == (True, "person", room.id)
    assert as_json("escape", "play", suite, room.id, code=1)["ending"] == "open"
    assert as_json("escape", "play", suite, room.id, given="quit\n", code=1)["ending"] == "done"
    run("escape", "play", suite, "nowhere", code=64)


@pytest.mark.long
def test_a_suite_is_evaluated_shown_in_tables_and_audited(suite: Path, tmp_path: Path) -> None:
    out, agents = tmp_path / "evaluation", ("--agent", "story", "--agent", "oracle+give-up:0.9")
    done = as_json("evaluate", "escape", suite, *agents, "--out", out, "--workers", 1)
    assert (done["settled"], done["without_verdict"]) == (12, 0)
    report = (out / "report" / "evaluation.html").read_text()
    linked = sorted(set(re.findall(r'href="(runs/run-[0-9a-f]{16}\.html)"', report)))
    assert len(linked) == len(list((out / "report" / "runs").iterdir())) >= 2
    assert all('id="step"' in (out / "report" / page).read_text() for page in linked)
    tables = as_json("escape", "tables", out, "--out", tmp_path / "csv")
    assert {row["agent"]: row["success"] for row in tables["by_size"]} == {"story": 1.0, "oracle+give-up:0.9": 0.0}
    assert (tmp_path / "csv" / "success.csv").read_text().startswith("agent,parts,n,SR %")
    text = run("escape", "tables", out)
    assert "Failed uses per episode" in text and "Human *" in text and "71.0 %: no k of 60 gives it" in text
    assert "Success against turns" in (tmp_path / "csv" / "tables.html").read_text()
    person = tmp_path / "person.jsonl"
    run("escape", "play", suite, "escape_n5_000", "--out", person, given="quit\n", code=1)
    both = as_json("escape", "tables", out, "--people", person)
    assert [row["SR %"] for row in both["tables"]["success"] if row["agent"] == "person"] == [0.0]
    flawed = shutil.copytree(suite, tmp_path / "flawed")
    rooms = (flawed / "rooms.jsonl").read_text().splitlines()
    rooms[0] = json.dumps({**json.loads(rooms[0]), "story": "You are locked in."})
    (flawed / "rooms.jsonl").write_text("\n".join(rooms) + "\n")
    words = ("audit", "escape", flawed, "--runs", out / "trajectories.jsonl.gz", "--out", tmp_path / "audit")
    assert as_json(*words, code=1)["tasks"] == 6
    tasks = "".join(path.read_text() for path in (tmp_path / "audit" / "instances").glob("*.js"))
    pages = set(re.findall(r'"page":"(runs/run-[0-9a-f]{16}\.html)"', tasks))
    assert len(pages) == 2 and all((tmp_path / "audit" / page).is_file() for page in pages)
    run("escape", "tables", tmp_path, code=64)


@pytest.mark.long
def test_several_values_of_a_condition_are_played_in_one_evaluation(suite: Path, tmp_path: Path) -> None:
    out, both = tmp_path / "evaluation", ("--set", "feedback=none", "--set", "feedback=per_param")
    words = ("evaluate", "escape", suite, "--agent", "greedy", "--out", out, "--workers", 1)
    done = as_json(*words, *both)
    assert (done["planned"], done["settled"], done["board"][0]["final"]["scored"]) == (12, 12, 6)
    episodes = pd.read_parquet(out / "tables" / "episodes.parquet")
    solved = episodes.groupby("feedback")["passed"].sum()
    assert episodes["feedback"].value_counts().to_dict() == {"none": 6, "per_param": 6}
    assert done["board"][0]["final"]["passed"] == solved["per_param"] > solved["none"]
    # Each value alone gives the same episodes.
    run(*words[:-3], tmp_path / "alone", "--workers", 1, *both[:2])
    alone = pd.read_parquet(tmp_path / "alone" / "tables" / "episodes.parquet")
    own = episodes[episodes["feedback"] == "none"].reset_index(drop=True)
    pd.testing.assert_frame_equal(alone, own)
    page = (out / "report" / "evaluation.html").read_text()
    assert "feedback = none" in page and "feedback = per_param" in page
    tables = as_json("escape", "tables", out)["tables"]["success"]
    assert {row["agent"] for row in tables} >= {"greedy (feedback none)", "greedy (feedback per_param)"}
    assert as_json(*words, *both, "--set", "feedback=binary")["settled"] == 18
    run(*words, "--set", "execution=free", "--set", "execution=golden", code=64)


@pytest.mark.long
def test_one_file_goes_from_nothing_to_a_leaderboard(tmp_path: Path) -> None:
    config = tmp_path / "run.yaml"
    config.write_text(
        "benchmark: escape\nout: out\ngenerate: {sizes: [5], rooms: [6]}\n"
        "evaluate: {agents: [story, random], options: {feedback: [none, per_param]}}\n"
        "report: {draws: 200, resamples: 50}\n"
    )
    done = as_json("run", config)
    assert (done["evaluation"]["settled"], done["audit"]["tasks"]) == (24, 6)
    assert done["report"]["stages"]["initial"] == 6
    analysis = json.loads((tmp_path / "out" / "audit" / "report" / "analysis.json").read_text())
    boards = {board["split"]: [row["model"] for row in board["rows"]] for board in analysis["leaderboards"]}
    assert boards["initial"] == boards["cleaned"] == ["story", "random"]
    assert (tmp_path / "out" / "tasks" / "rooms.jsonl").is_file()
    assert (tmp_path / "out" / "evaluation" / "report" / "evaluation.html").is_file()
    config.write_text("benchmark: escape\nout: out\ngenerate: {sizes: [5], what: 1}\n")
    assert "generate.what" in run("run", config, code=64)
    config.write_text("benchmark: bfcl\nout: out\ngenerate: {}\n")
    assert "cannot be generated" in run("run", config, code=64)
