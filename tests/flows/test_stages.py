"""Flows without a server, which do not import Prefect, and with a real one, which records them."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from agenthard.flows.stages import has_server, run_flow, stage
from tests.builders import make_run, make_task
from tests.flows.commands.test_report import audited, write_benchmark


@stage("double", "double {number}")
def double(number: int) -> int:
    return 2 * number


@stage("fail")
def fail() -> None:
    raise ValueError("the stage failed")


def failing_stage() -> None:
    fail()


def failing_thread() -> None:
    fail.submit().result()


def flow(numbers: list[int]) -> list[int]:
    return [each.result() for each in [double.submit(number) for number in numbers]] + [double(10)]


@pytest.fixture
def benchmark(tmp_path: Path) -> Path:
    folder = tmp_path / "benchmark"
    folder.mkdir()
    tasks = [make_task(f"lib/{i}") for i in range(60)]
    runs = [make_run(task.id, model, passed=i % 2 == 0) for i, task in enumerate(tasks) for model in "AB"]
    (folder / "tasks.jsonl").write_text("".join(t.model_dump_json(exclude={"origins"}) + "\n" for t in tasks))
    (folder / "runs.jsonl").write_text("".join(run.model_dump_json() + "\n" for run in runs))
    return folder


def test_stages_run_in_as_many_threads_as_asked_for() -> None:
    assert run_flow(flow, "numbers", "numbers", 2, [1, 2, 3]) == [2, 4, 6, 20]
    meet = threading.Barrier(2, timeout=30)

    @stage("wait")
    def wait() -> int:
        return meet.wait()

    def both() -> set[int]:
        return {each.result() for each in (wait.submit(), wait.submit())}

    assert run_flow(both, "both", "both", 2) == {0, 1}


def test_an_error_of_a_stage_is_raised_as_it_is() -> None:
    for failing in (failing_stage, failing_thread):
        with pytest.raises(ValueError, match="the stage failed"):
            run_flow(failing, "failing", "failing", 1)
    with pytest.raises(RuntimeError, match="'double' was submitted outside a flow"):
        double.submit(1)


AUDIT = """
import sys
from agenthard.flows.cli import main
try:
    main()
finally:
    print("imported:", "prefect" in sys.modules)
"""


@pytest.mark.long
@pytest.mark.parametrize("workers", [1, 2])
def test_a_command_without_a_server_does_not_import_prefect(benchmark: Path, tmp_path: Path, workers: int) -> None:
    words = ["audit", "native", str(benchmark), "--runs", str(benchmark / "runs.jsonl"), "--workers", str(workers)]
    command = [sys.executable, "-P", "-c", AUDIT, *words, "--out", "run"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert "imported: False" in done.stdout, done.stdout + done.stderr
    assert (tmp_path / "run" / "report.html").is_file()


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("home/profiles.toml", 'active = "x"\n[profiles.x]\nPREFECT_API_URL = "http://127.0.0.1:9/api"\n'),
        ("prefect.toml", '[api]\nurl = "http://127.0.0.1:9/api"\n'),
        (".env", "PREFECT_API_URL=http://127.0.0.1:9/api\n"),
        ("pyproject.toml", '[tool.prefect.api]\nurl = "http://127.0.0.1:9/api"\n'),
        ("pyproject.toml", '[project]\ndependencies = ["prefect"]\n'),
        (None, ""),
    ],
)
def test_a_server_is_found_wherever_prefect_reads_its_address(tmp_path: Path, file: str | None, text: str) -> None:
    (tmp_path / "home").mkdir()
    if file:
        (tmp_path / file).write_text(text)
    code = "from agenthard.flows.stages import has_server; import sys; print(has_server(), 'prefect' in sys.modules)"
    environment = {"PREFECT_HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == (["True", "True"] if "url" in text.lower() else ["False", "False"])


@pytest.mark.long
def test_a_server_records_flows_and_their_stages_and_keeps_artifacts(benchmark: Path, tmp_path: Path) -> None:
    from prefect.client.orchestration import get_client
    from prefect.testing.utilities import prefect_test_harness

    from agenthard.flows.audit_flow import run_audit
    from agenthard.flows.audit_plan import AuditInput, AuditSettings
    from agenthard.flows.comparison import CompareSettings
    from agenthard.flows.report import ReportSettings
    from agenthard.flows.report_flow import run_comparison, run_report
    from agenthard.reports.cleaning.inputs import AnalysisSettings

    few = AnalysisSettings(draws=200, resamples=50)
    run = str(audited(write_benchmark(tmp_path / "lending"), tmp_path / "lent"))

    def audit(out: Path) -> None:
        runs = (str(benchmark / "runs.jsonl"),)
        run_audit(AuditInput(AuditSettings(source="native", path=str(benchmark), runs=runs, out=str(out), workers=2)))

    assert not has_server()
    audit(tmp_path / "{plain}")
    with prefect_test_harness(server_startup_timeout=120):
        assert has_server()
        audit(tmp_path / "{recorded}")
        with pytest.raises(ValueError, match="the stage failed"):
            run_flow(failing_stage, "failing", "failing {in braces}", 1)
        assert run_flow(flow, "numbers", "numbers", 2, [1, 2]) == [2, 4, 20]
        with get_client(sync_client=True) as client:
            flows = {run.name: run.state_name for run in client.read_flow_runs()}
            stages = sorted(run.name for run in client.read_task_runs() if run.state_name == "Completed")
            outcome = run_report(ReportSettings(run=run, analysis=few))
            run_comparison(CompareSettings(first=run, second=run, analysis=few))
            artifacts = {artifact.key: artifact for artifact in client.read_artifacts()}
            names = {flow.name for flow in client.read_flows()}
    assert outcome.hard_split is not None and names == {"audit", "failing", "numbers", "report", "compare"}
    of_report = {f"agenthard-{what}" for what in ("report-native", "leaderboards-native", "comparison")}
    assert of_report <= set(artifacts) and "# " in str(artifacts["agenthard-report-native"].data)
    assert flows == {"audit native": "Completed", "failing {in braces}": "Failed", "numbers": "Completed"}
    shards = [f"check shard {number}" for number in range(3)]
    assert [name.rsplit("-", 1)[0] if "-" in name else name for name in stages] == sorted(
        [*shards, "double 1", "double 10", "double 2", "publish", "read native"]
    )
    plain, recorded = (
        {p.relative_to(out): p.read_bytes() for p in out.rglob("*.json*") if "work" not in p.parts}
        for out in (tmp_path / "{plain}", tmp_path / "{recorded}")
    )
    assert plain == recorded
