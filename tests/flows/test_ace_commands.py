"""The ACE-Bench commands as a user types them, killed runs and hostile files included."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agenthard.ace import storage
from agenthard.ace.generator import Parameters
from agenthard.flows.ace_generation import SuiteFormat, filename
from agenthard.flows.cli import app
from tests.flows import refusals

with suppress(ImportError):  # it keeps the standard error that it meets, which must not be that of a test runner
    import_module("mcp.client.stdio")

SMALL = ("-H", "2", "-H", "3", "-B", "0", "-B", "2", "-K", "8", "--rows", "3", "--cols", "4", "--per-cell", "3")
TWO = ("--domain", "meal", "--domain", "course")
FORMATS = [str(form) for form in SuiteFormat]


def run(*arguments: object, code: int = 0) -> str:
    result = CliRunner().invoke(app, ["ace", *map(str, arguments)])
    assert result.exit_code == code, (result.output, result.exception)
    return result.stdout


def start(*arguments: object, seed: str = "0") -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "agenthard", "ace", *map(str, arguments)]
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    return subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def refused(*arguments: object) -> str:
    return refusals.refused("ace", *arguments)


def fingerprint(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.fixture(scope="module")
def suites(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One suite in every format."""
    folder = tmp_path_factory.mktemp("suites")
    for form in FORMATS:
        run("generate", "--out", folder / form, "--format", form, *SMALL, *TWO)
    return folder


@pytest.mark.parametrize("command", ["generate", "verify", "probe", "serve-mcp"])
def test_every_command_has_help_with_an_example_and_json(command: str) -> None:
    said = run(command, "--help")
    assert "Example" in said and "Exit codes" in said and "--json" in said


def test_query_plans_are_stored_carried_out_and_refused_where_they_have_no_place(tmp_path: Path) -> None:
    asked = ("-H", "2", "-B", "2", "-K", "8", "--rows", "3", "--cols", "4", "--domain", "meal")
    run("generate", "--out", tmp_path / "a", *asked, "--query-plans")
    found = json.loads(run("verify", tmp_path / "a", "--json"))
    assert found["query_plans"] == {"none": 0, "by_extra_queries": {"2": 1}}
    assert "1 solvable within the paper's budget" in run("verify", tmp_path / "a")
    answers = tmp_path / "a" / "answers.jsonl"
    answer = json.loads(answers.read_text())
    answer["certificate"]["plan"]["steps"] = []
    answers.write_text(json.dumps(answer, separators=(",", ":")) + "\n")
    [problem] = json.loads(run("verify", tmp_path / "a", "--json", code=1))["problems"]
    assert problem["kind"] == "certificate" and "query plan" in problem["message"]
    plain = tmp_path / "plain"
    run("generate", "--out", plain, *asked)
    assert "0 solvable within the paper's budget" in run("verify", plain)
    assert "1 solvable within the paper's budget" in run("verify", plain, "--query-plans")
    assert "certificates" in refused("generate", "--out", tmp_path / "r", "--format", "reference", "--query-plans")


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_is_written_verified_and_probed(suites: Path, form: str) -> None:
    files = {path.name for path in (suites / form).iterdir()}
    names = {f"{d}_dataset_r3_c4_h2-3_cand8_budget0-2_seed0_each3.json" for d in ("meal", "course")}
    assert files == (names if form == "reference" else {"suite.json", f"puzzles.{form}", f"answers.{form}"})
    found = json.loads(run("verify", suites / form, "--json"))
    certified = 0 if form == "reference" else 24
    assert found == {
        "instances": 24, "unique": 24, "hard": 0, "certified": certified, "unreadable": [], "problems": [],
        "query_plans": {"none": 24, "by_extra_queries": {}},
    }  # fmt: skip
    report = json.loads(run("probe", suites / form, "--json"))
    assert (report["scenes"], report["unreadable"]) == (24, [])


def test_formats_hold_the_same_instances_and_ids_are_unique(suites: Path) -> None:
    from agenthard.ace.files import load

    held = {form: {each.id: each for each in load(suites / form)} for form in FORMATS}
    assert len(held["jsonl"]) == 24
    assert held["jsonl"] == held["parquet"]
    assert {id: each.puzzle for id, each in held["jsonl"].items()} == {
        id: each.puzzle for id, each in held["reference"].items()
    }
    assert {"meal_r3_c4_h2_b0", "meal_r3_c4_h2_b0_i1", "meal_r3_c4_h2_b0_i2"} < held["reference"].keys()


@pytest.mark.parametrize("form", FORMATS)
def test_running_again_changes_nothing_and_makes_nothing(
    suites: Path, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = fingerprint(suites / form)

    def nothing(*_: object) -> None:
        raise AssertionError("an instance was made again")

    monkeypatch.setattr("agenthard.ace.generator.stream.make", nothing)
    said = json.loads(run("generate", "--out", suites / form, "--format", form, *SMALL, *TWO, "--json"))
    assert sum(each["instances"] for each in said) == 24
    assert fingerprint(suites / form) == before


def _lines(folder: Path) -> int:
    found = list(folder.rglob("answers.jsonl"))
    return found[0].read_bytes().count(b"\n") if found else 0


@pytest.mark.parametrize("form", FORMATS)
def test_a_killed_run_is_taken_up_again_with_the_same_bytes(tmp_path: Path, suites: Path, form: str) -> None:
    asked = ("generate", "--out", tmp_path / "suite", "--format", form, *SMALL, *TWO)
    process = start(*asked)
    while _lines(tmp_path) < 5 and process.poll() is None:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    made = _lines(tmp_path)
    assert process.returncode == -signal.SIGKILL and 5 <= made < 24
    torn = next(tmp_path.rglob("puzzles.jsonl"))
    torn.write_bytes(torn.read_bytes() + b'{"id": "half')

    found = json.loads(run("verify", tmp_path / "suite", "--json", code=2))
    assert (found["instances"], found["hard"]) == (made, 0)
    assert f"interrupted here, after {made} of 24" in found["unreadable"][0]

    run(*asked)
    assert fingerprint(tmp_path / "suite") == fingerprint(suites / form)


def test_no_process_outlives_a_killed_run(tmp_path: Path) -> None:
    process = start("generate", "--out", tmp_path / "suite", "-H", "9", "-B", "9", "--per-cell", "99", "--workers", "3")
    while _lines(tmp_path) < 5 and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)  # every process of the run holds standard error open
    assert process.returncode == -signal.SIGKILL


@pytest.mark.parametrize("form", ["parquet", "reference"])
def test_an_interruption_while_the_format_is_written_leaves_nothing_behind(
    tmp_path: Path, suites: Path, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("generate", "--out", tmp_path / "suite", "--format", form, *SMALL, *TWO)
    moved: list[Path] = []
    move = Path.replace

    def breaks(source: Path, target: Path) -> Path:
        if target.parent == tmp_path / "suite":
            if moved:
                raise KeyboardInterrupt
            moved.append(target)
        return move(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", breaks)
        result = CliRunner().invoke(app, ["ace", *map(str, asked)])
    assert "the same command continues from there" in str(result.exception)
    run(*asked)
    assert fingerprint(tmp_path / "suite") == fingerprint(suites / form)


@pytest.mark.long
@pytest.mark.parametrize("form", ["jsonl", "reference"])
def test_workers_and_hash_seeds_change_no_byte(tmp_path: Path, suites: Path, form: str) -> None:
    for workers, seed in (("1", "1"), ("3", "2")):
        out = tmp_path / workers
        process = start("generate", "--out", out, "--format", form, *SMALL, *TWO, "--workers", workers, seed=seed)
        assert process.communicate() and process.returncode == 0
        assert fingerprint(out) == fingerprint(suites / form)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("-H", "0", "-B", "1"), "B = 1 with H = 0"),
        (("-H", "5", "-B", "10", "-K", "5"), "K = 5 is too small"),
        (("-H", "7", "--rows", "2", "--cols", "3"), "a 2x3 grid has only 6 cells"),
        (("--domain", "garden"), "unknown domain garden; there are: course"),
        (("--rows", "0"), "rows: Input should be greater than or equal to 1"),
        (("--per-cell", "0"), "per_cell: Input should be greater than or equal to 1"),
        (("--format", "stone"), "no format 'stone'; there are: jsonl, parquet, reference"),
    ],
)
def test_the_impossible_is_refused_before_anything_is_written(
    tmp_path: Path, options: tuple[str, ...], reason: str
) -> None:
    assert reason in refused("generate", "--out", tmp_path / "suite", *options)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_another_suite_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    one = ("-H", "1", "-B", "0", "-K", "4", "--rows", "2", "--cols", "2", "--domain", "meal")
    for form in FORMATS:
        out = tmp_path / form
        run("generate", "--out", out, "--format", form, *one)
        before = fingerprint(out)
        for other in FORMATS:
            seed = "1" if other == form else "0"
            if (form, other) != ("reference", "reference"):
                message = refused("generate", "--out", out, "--format", other, *one, "--seed", seed)
                assert "choose another folder" in message
        assert fingerprint(out) == before
    run("generate", "--out", tmp_path / "reference", "--format", "reference", *one, "--coupling")
    assert len(fingerprint(tmp_path / "reference")) == 2


def test_names_of_files_tell_whatever_differs() -> None:
    base = Parameters(hidden_slots=(1,), decoy_budgets=(0,))
    variants = [base, *(base.model_copy(update=change) for change in ({"per_cell": 2}, {"coupling": True}))]
    assert [filename(each, "meal") for each in variants] == [
        "meal_dataset_r5_c7_h1_cand25_budget0_seed0.json",
        "meal_dataset_r5_c7_h1_cand25_budget0_seed0_each2.json",
        "meal_dataset_r5_c7_h1_cand25_budget0_seed0_coupling.json",
    ]


def _spoil(suite: Path, name: str, number: int, change: Any) -> None:
    lines = (suite / name).read_text().splitlines(keepends=True)
    record = json.loads(lines[number])
    change(record)
    lines[number] = json.dumps(record) + "\n"
    (suite / name).write_text("".join(lines))


@pytest.fixture
def suite(suites: Path, tmp_path: Path) -> Path:
    """A copy of the suite in JSON lines, to be spoiled."""
    copy = tmp_path / "suite"
    copy.mkdir()
    for path in (suites / "jsonl").iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    return copy


def test_what_is_wrong_is_told_and_the_rest_goes_on(suite: Path) -> None:
    _spoil(suite, "answers.jsonl", 2, lambda record: record["certificate"].update(digest="0" * 64))
    _spoil(suite, "puzzles.jsonl", 5, lambda record: record.pop("rows"))
    found = json.loads(run("verify", suite, "--json", code=1))
    assert (found["instances"], found["unique"], found["hard"], len(found["unreadable"])) == (23, 23, 1, 1)
    assert [(each["kind"], each["id"]) for each in found["problems"]] == [("certificate", "meal_r3_c4_h2_b0_i2")]
    assert "instance 5: rows: Field required" in found["unreadable"][0]
    said = run("verify", suite, code=1)
    assert "23 instances, 23 with a certificate: 23 unique, 1 with hard violations, 1 unreadable" in said


def test_an_unreadable_instance_alone_is_code_2(suite: Path) -> None:
    _spoil(suite, "puzzles.jsonl", 5, lambda record: record.pop("rows"))
    run("verify", suite, code=2)
    assert "rows: Field required" in json.loads(run("probe", suite, "--json", code=2))["unreadable"][0]


def test_a_broken_instance_is_left_out_of_the_probes(suite: Path) -> None:
    _spoil(suite, "puzzles.jsonl", 0, lambda record: record["slots"][0]["candidates"].pop())
    report = json.loads(run("probe", suite, "--json", code=2))
    assert report["scenes"] == 23 and "is inconsistent" in report["unreadable"][0]


def test_a_shortcut_is_code_1(tmp_path: Path, suites: Path) -> None:
    for number, line in enumerate((suites / "jsonl" / "answers.jsonl").read_text().splitlines()):
        truths = [slot["truth"] for slot in json.loads(line)["answer"]["slots"]]

        def first(record: Any, truths: list[str] = truths) -> None:
            for slot, truth in zip(record["slots"], truths, strict=True):
                slot["candidates"] = [truth, *(id for id in slot["candidates"] if id != truth)]

        if number == 0:
            suite = tmp_path / "told"
            suite.mkdir()
            for path in (suites / "jsonl").iterdir():
                (suite / path.name).write_bytes(path.read_bytes())
        _spoil(suite, "puzzles.jsonl", number, first)
    report = json.loads(run("probe", suite, "--json", code=1))
    assert any(each["id"] == "order:first" for each in report["results"] if each["verdict"] == "gives away")


def test_nothing_to_read_is_code_3(tmp_path: Path) -> None:
    (tmp_path / "notes.json").write_text("{}")
    assert "nothing at this path" in refused("verify", tmp_path / "none")
    assert "no suite and no file in the layout of the paper" in refused("probe", tmp_path)
    assert "no list under 'instances'" in refused("verify", tmp_path / "notes.json")
    assert "no ACE-Bench instance here" in refused("serve-mcp", tmp_path, "x")


@pytest.mark.parametrize("form", FORMATS)
def test_an_instance_of_any_format_is_served_until_the_client_is_gone(suites: Path, tmp_path: Path, form: str) -> None:
    pytest.importorskip("mcp", reason="the extra 'mcp' is not installed")
    served = tmp_path / form
    served.mkdir()
    for path in (suites / form).iterdir():
        if not path.name.startswith("answers"):
            (served / path.name).write_bytes(path.read_bytes())
    outcome = tmp_path / "outcome.json"
    process = start("serve-mcp", served, "course_r3_c4_h3_b2_i1", "--result", outcome)
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (0, "")
    assert json.loads(outcome.read_text())["ending"] == "open"
    message = refused("serve-mcp", served, "nobody")
    assert "no instance 'nobody'" in message and "and 19 more" in message


def test_a_broken_instance_is_not_served(suite: Path) -> None:
    _spoil(suite, "puzzles.jsonl", 0, lambda record: record["items"].clear())
    assert "cannot be played" in refused("serve-mcp", suite, "meal_r3_c4_h2_b0")
    assert list(storage.SUITES.read_public(suite))


@pytest.mark.long
def test_an_evaluation_is_shown_in_the_tables_of_the_paper(tmp_path: Path) -> None:
    suite, out = tmp_path / "suite", tmp_path / "evaluation"
    run("generate", "--out", suite, *SMALL, "--domain", "meal")
    rates = ("--failure-rate", "0", "--failure-rate", "0.3")
    words = ["evaluate", "ace", suite, "--agent", "solver", "--agent", "random", *rates, "--out", out, "--workers", "1"]
    assert CliRunner().invoke(app, [*map(str, words)]).exit_code == 0
    found = json.loads(run("tables", out, "--hidden", "2", "--out", tmp_path / "tables", "--json"))
    cells = found["tables"]["cells"]
    assert {row["failure rate"] for row in cells} == {0.0, 0.3} and {row["H"] for row in cells} == {2, 3}
    assert [row["B"] for row in found["tables"]["slice_at_h_2"] if row["agent"] == "solver"] == [0, 2] * 2
    (failed, *_) = found["tables"]["why_runs_failed"]
    assert failed["failed"] == sum(failed[reason] for reason in ("stopped early", "filter picked", "decoy picked")) > 0
    assert [row["passed"] for row in found["tables"]["usage"] if row["agent"] == "solver"] == [24]
    assert "Slices: one factor held" in (tmp_path / "tables" / "tables.html").read_text()
    assert "is not known" in run("tables", out, "--suite", tmp_path / "gone")
