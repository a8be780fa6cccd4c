"""What a judging leaves is a run folder: every command that reads one reads it."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agenthard.flows.cli import app
from agenthard.flows.judging.run import run_judging
from tests.flows.judging.made import case, judging, model, panel, verdict
from tests.loopback import Loopback


@pytest.fixture(scope="module")
def judged(audited: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("folder") / "judged"
    with pytest.MonkeyPatch.context() as patch, Loopback() as server:
        patch.setenv("COMPATIBLE_API_KEY", server.service.key)
        server.service.brain = verdict
        run_judging(judging(audited, out, panel([{"model": model("chat", server.url)}])))
    return out


def run(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == code, (result.output, result.exception)
    return result.output


def test_score(judged: Path, tmp_path: Path) -> None:
    labels = tmp_path / "labels.jsonl"
    wrong = [{"task_id": case(n).id, "flawed": n % 10 == 1} for n in range(40)]
    labels.write_text("\n".join(map(json.dumps, wrong)), encoding="utf-8")
    assert "judge" in run("score", str(judged), "--labels", str(labels))


def test_report(judged: Path) -> None:
    run("report", str(judged), "--draws", "200", "--resamples", "20")
    assert (judged / "report" / "report.html").is_file()


def test_the_stage_of_the_judge_has_its_row(audited: Path, judged: Path, tmp_path: Path) -> None:
    quick = ("--draws", "200", "--resamples", "20")
    paper = json.loads(run("paper", str(audited), str(judged), "--out", str(tmp_path), *quick, "--json"))
    before, after = (
        {row["stage"]: row for row in table["rows"]} for table in paper["tables"] if table["name"].startswith("stages-")
    )
    assert not before["LLM judge"]["ran"] and after["LLM judge"]["ran"]
    kept = json.loads((judged / "split" / "cleaned" / "manifest.json").read_text())["kept"]
    assert after["LLM judge"]["tasks"] == kept
    assert after["LLM judge"]["to_review"] > after["rule-based filtering"]["to_review"] > 0
    assert before["rule-based filtering"]["tasks"] == after["rule-based filtering"]["tasks"]
    assert [each["judged"] for each in paper["runs"]] == [False, True]
    assert {each["benchmarks"] for each in paper["compressions"]} == {1}, "one benchmark, audited twice"


def test_compare(audited: Path, judged: Path) -> None:
    assert "The key lends another book." in run("compare", str(audited), str(judged), "--json")


def test_repair(judged: Path, tmp_path: Path) -> None:
    outcome: dict[str, Any] = json.loads(run("repair", str(judged), "--out", str(tmp_path / "repair"), "--json"))
    assert outcome["findings"] >= 4


def test_files(judged: Path) -> None:
    manifest = json.loads((judged / "manifest.json").read_text())
    assert manifest["checks"]["judge"] and manifest["judge"]["answered"] == 28
    assert "key" not in json.dumps(manifest["judge"]["settings"]).replace("key_env", "")
    names = {path.name for path in (judged / "judge").iterdir()}
    assert names >= {"panels.jsonl", "verdicts.jsonl", "questions.parquet", "evidence.md", "evidence.json"}
    page = (judged / "report.html").read_text()
    assert "The key lends another book." in page


def test_people_decide_a_judged_run_again(judged: Path) -> None:
    """The runs and replays of its report are in the folder of the audit; without verdicts not a byte changes."""
    before = {path: path.read_bytes() for path in sorted(judged.rglob("*")) if path.is_file()}
    shown = json.loads(run("decide", str(judged), "--json"))
    assert not shown["changed"] and shown["verdicts_on_tasks"] == 0
    assert {path: path.read_bytes() for path in sorted(judged.rglob("*")) if path.is_file()} == before
