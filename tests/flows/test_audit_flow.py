"""The whole job on a small native benchmark: a real Prefect flow, real processes, real files."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agenthard.audit.detectors.registry import detectors
from agenthard.flows.audit_outputs import AuditOutcome
from agenthard.flows.audit_plan import AuditInput, AuditSettings
from agenthard.flows.audited_run import last_run_with_costs, read_costs
from agenthard.flows.cli import app
from agenthard.flows.profile import TOP_CHECKS
from agenthard.taxonomy import GroundTruth, ToolCall
from tests.builders import make_run, make_task

TASKS = 60


@pytest.fixture(scope="session", autouse=True)
def prefect_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep Prefect's files out of the user's home."""
    home = tmp_path_factory.mktemp("prefect")
    before = os.environ.get("PREFECT_HOME")
    os.environ["PREFECT_HOME"] = str(home)
    yield
    if before is None:
        del os.environ["PREFECT_HOME"]
    else:
        os.environ["PREFECT_HOME"] = before


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixty tasks; every tenth has a string where the schema says integer. One line is no JSON."""
    folder = tmp_path_factory.mktemp("benchmark")
    lines = []
    for i in range(TASKS):
        book = f"book-{i}" if i % 10 == 0 else i
        call = ToolCall(name="lend_book", arguments={"book_id": book, "member": f"Member {i}"})
        task = make_task(
            f"lib/{i}",
            ground_truth=GroundTruth(semantics="required", turns=((call,),)),
            user={"kind": "scripted", "turns": [[{"role": "user", "content": f"Lend {book} to Member {i}."}]]},
        )
        lines.append(task.model_dump_json(exclude={"origins"}))
    (folder / "tasks.jsonl").write_text("\n".join([*lines, '{"id": "broken"']) + "\n", encoding="utf-8")
    runs = [make_run(f"lib/{i}", model, passed=(i + m) % 3 != 0) for i in range(TASKS) for m, model in enumerate("ABC")]
    runs.append(make_run("lib/1", "D", passed=None))
    runs.append(make_run("lib/none", "D"))
    (folder / "runs.jsonl").write_text("".join(run.model_dump_json() + "\n" for run in runs), encoding="utf-8")
    return folder


def audit(benchmark: Path, out: Path, workers: int) -> AuditOutcome:
    from agenthard.flows.audit_flow import run_audit

    runs = (str(benchmark / "runs.jsonl"),)
    return run_audit(
        AuditInput(AuditSettings(source="native", path=str(benchmark), runs=runs, out=str(out), workers=workers))
    )


def contents(folder: Path) -> dict[str, bytes]:
    files = (p for p in folder.rglob("*") if p.is_file() and "work" not in p.relative_to(folder).parts)
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in files}


@pytest.fixture(scope="module")
def one_worker(benchmark: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[AuditOutcome, Path]:
    out = tmp_path_factory.mktemp("runs") / "one"
    return audit(benchmark, out, workers=1), out


def test_nothing_is_lost(one_worker: tuple[AuditOutcome, Path]) -> None:
    outcome, out = one_worker
    assert (outcome.tasks, outcome.checked, outcome.quarantined) == (TASKS, TASKS, 1)
    assert (outcome.runs, outcome.infrastructure_errors, outcome.quarantined_runs) == (3 * TASKS + 1, 1, 1)
    assert outcome.check_errors == 0
    assert sum(outcome.decisions.values()) == TASKS
    reasons = [json.loads(line)["reason"] for line in (out / "quarantine.jsonl").read_text().splitlines()]
    assert len(reasons) == 2
    assert "lib/none" in reasons[1]


def test_what_each_check_took_can_be_listed(one_worker: tuple[AuditOutcome, Path], tmp_path: Path) -> None:
    _, out = one_worker
    listed = CliRunner().invoke(app, ["checks", "--cost", "--run", str(out), "--json"])
    costs = {check: found[out.name] for check, found in json.loads(listed.stdout).items()}
    assert set(costs) == {detector.id for detector in detectors(experimental=False)}
    assert {cost["tasks"] for cost in costs.values()} == {TASKS}
    assert costs["call-schema"]["seconds"] > 0
    nothing = CliRunner().invoke(app, ["checks", "--cost", "--run", str(tmp_path)])
    assert "the time of each check is not recorded here" in str(nothing.exception)


def test_the_cost_of_checks_is_that_of_the_last_run_at_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert last_run_with_costs() is None
    for age, name in enumerate(("runs/new", "old", "too/far/below", "runs/unfinished")):
        costs = tmp_path / name / "work" / "costs" / "00000.json"
        costs.parent.mkdir(parents=True)
        costs.write_text(json.dumps({"tasks": 2, "seconds": {"call-schema": 3.0}, "executed": {"call-schema": 1.0}}))
        if name != "runs/unfinished":
            (tmp_path / name / "manifest.json").write_text("{}")
            os.utime(tmp_path / name / "manifest.json", (1000 - age, 1000 - age))
    listed = CliRunner().invoke(app, ["checks", "--cost"]).stdout
    assert "in the run folder runs/new" in listed
    assert "1500.000" in listed
    [cost] = read_costs(Path("runs/new")).values()
    assert (cost.tasks, cost.seconds, cost.executed) == (2, 3.0, 1.0)


def test_a_profile_names_stages_and_checks(benchmark: Path, tmp_path: Path) -> None:
    command = ["audit", "native", str(benchmark), "--workers", "1", "--out", str(tmp_path / "run"), "--profile"]
    profile = json.loads(CliRunner().invoke(app, [*command, "--json"]).stdout)["profile"]
    stages = [row["stage"] for row in profile["stages"]]
    assert stages[:3] == ["reading", "checking", "concluding"]
    assert {"writing split", "writing tables", "writing findings.json", "writing report.html"} <= set(stages)
    assert profile["tasks"] == TASKS
    assert {row["check"] for row in profile["checks"]} == {detector.id for detector in detectors(experimental=False)}
    taken = [row["seconds"] for row in profile["checks"]]
    assert taken == sorted(taken, reverse=True)
    assert sum(row["share"] for row in profile["checks"]) == pytest.approx(1, abs=0.01)

    printed = CliRunner().invoke(app, command).stdout
    table = printed[printed.index("time by stage") :]
    assert max(map(len, table.splitlines())) <= 80
    assert profile["checks"][0]["check"] in table
    assert f"{len(profile['checks']) - TOP_CHECKS} others" in table


def test_flawed_tasks_leave_the_split_and_kept_ones_are_byte_identical(
    one_worker: tuple[AuditOutcome, Path], benchmark: Path
) -> None:
    outcome, out = one_worker
    manifest = json.loads((out / "split" / "cleaned" / "manifest.json").read_text())
    assert [item["task_id"] for item in manifest["dropped"]] == [f"lib/{i}" for i in range(0, TASKS, 10)]
    assert outcome.kept == manifest["kept"] == TASKS - 6
    source = (benchmark / "tasks.jsonl").read_bytes().splitlines()
    kept = (out / "split" / "cleaned" / "tasks.jsonl").read_bytes().splitlines()
    assert kept == [line for i, line in enumerate(source) if i % 10 and i < TASKS]


@pytest.mark.long
def test_eight_workers_write_the_same_bytes(
    one_worker: tuple[AuditOutcome, Path], benchmark: Path, tmp_path: Path
) -> None:
    audit(benchmark, tmp_path / "many", workers=8)
    assert not (tmp_path / "many" / "work" / "tasks.parquet").exists()
    assert contents(tmp_path / "many") == contents(one_worker[1])


def test_a_killed_audit_goes_on_without_repeating_finished_shards(
    one_worker: tuple[AuditOutcome, Path], benchmark: Path, tmp_path: Path
) -> None:
    out = tmp_path / "killed"
    command = [sys.executable, "-m", "agenthard", "audit", "native", str(benchmark), "--workers", "1"]
    command += ["--runs", str(benchmark / "runs.jsonl"), "--out", str(out)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    shards = out / "work" / "shards"
    deadline = time.monotonic() + 120
    while not list(shards.glob("0*.zip")) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    finished = {path: path.stat().st_mtime_ns for path in shards.glob("0*.zip")}
    assert finished
    audit(benchmark, out, workers=1)
    assert {path: path.stat().st_mtime_ns for path in finished} == finished
    assert contents(out) == contents(one_worker[1])


def test_a_folder_of_another_audit_is_refused(one_worker: tuple[AuditOutcome, Path], benchmark: Path) -> None:
    from agenthard.flows.errors import RunFolderError
    from agenthard.flows.run_folder import RunFolder

    _, out = one_worker
    with pytest.raises(RunFolderError, match="other input"):
        RunFolder(out).claim("another key")
    with pytest.raises(RunFolderError, match="holds no audit"):
        with RunFolder(benchmark).hold():
            pass
