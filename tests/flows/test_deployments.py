"""Flows of a deployment with parameters as JSON: validated, resumed by content, with artifacts."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prefect.client.orchestration import get_client
from prefect.testing.utilities import prefect_test_harness

from agenthard.flows.artifacts import ADDRESS_VARIABLE, ROOT_VARIABLE
from agenthard.flows.demo import write_demo

pytestmark = pytest.mark.long


@pytest.fixture(scope="module", autouse=True)
def server() -> Iterator[None]:
    with prefect_test_harness(server_startup_timeout=120):
        yield


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("deployed")
    write_demo(folder / "bench")
    path, runs = str(folder / "bench"), str(folder / "bench" / "runs.jsonl")
    return {"source": "native", "path": path, "runs": [runs], "out": str(folder / "runs" / "demo")}


def task_runs() -> list[tuple[str, str]]:
    with get_client(sync_client=True) as client:
        return [(run.name.rpartition("-")[0], run.state_name or "") for run in client.read_task_runs()]


def artifacts() -> set[str]:
    with get_client(sync_client=True) as client:
        return {each.key or "" for each in client.read_artifacts()}


def test_every_stage_from_json(settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    from agenthard.flows import deployments

    out = Path(settings["out"])
    monkeypatch.setenv(ADDRESS_VARIABLE, "https://audits.example.org/runs")
    monkeypatch.setenv(ROOT_VARIABLE, str(out.parent))
    given = json.loads(json.dumps(settings))
    outcome = deployments.audit(given)
    assert json.loads(json.dumps(outcome)) == outcome and outcome["tasks"] == 60
    assert {"agenthard-audit-native", "agenthard-audit-page-native"} <= artifacts()

    page = out / "report.html"
    written = page.stat().st_mtime_ns
    assert deployments.audit(given) == outcome
    assert page.stat().st_mtime_ns == written, "an equal audit is not repeated"
    assert ("audit", "Cached") in task_runs()
    (out / "manifest.json").rename(out / "manifest.away")
    assert deployments.audit(given) == outcome
    assert page.stat().st_mtime_ns != written, "a result counts only with its output"

    assert deployments.decide({"run": str(out)})["split_id"] == outcome["split_id"]
    assert deployments.repair({"run": str(out), "out": str(out / "repair")})["accepted"] > 0
    assert deployments.publish({"run": str(out)})["version"] == "1.0.0"
    report = deployments.report({"run": str(out), "analysis": {"draws": 200, "resamples": 100}})
    assert report and "agenthard-report-native" in artifacts()
    assert f"agenthard-page-{settings['source']}" in artifacts()
    labels = str(Path(settings["path"]) / "labels.jsonl")
    wanted = {"run": str(out), "labels": [labels], "resamples": 100, "out": str(out.parent / "alignment.json")}
    aligned = deployments.align(wanted)
    assert aligned == json.loads((out.parent / "alignment.json").read_bytes()) == deployments.align(wanted)
    assert "agenthard-alignment-demo" in artifacts() and ("align", "Cached") in task_runs()
    planted = deployments.faults({"out": str(out.parent / "faults"), "per_category": 1, "sound": 5})
    assert (Path(planted["run"]) / "findings.json").is_file()
    copy = shutil.copytree(out, out.parent / "copy")
    assert deployments.compare({"first": str(out), "second": str(copy)})["new_defects"] == 0


def test_wrong_parameters_are_refused_before_anything_starts(settings: dict[str, Any]) -> None:
    from prefect.exceptions import ParameterTypeError

    from agenthard.flows import deployments

    with pytest.raises(ParameterTypeError, match="sauce"):
        deployments.audit({**settings, "sauce": "native"})


def test_a_step_is_repeated_only_where_that_can_help(settings: dict[str, Any], tmp_path: Path) -> None:
    from agenthard.audit.sources.base import SourceError
    from agenthard.flows import deployments

    before = len(task_runs())
    with pytest.raises(SourceError):
        deployments.audit({**settings, "path": str(tmp_path / "gone"), "runs": [], "out": str(tmp_path / "out")})
    assert len(task_runs()) == before + 1
