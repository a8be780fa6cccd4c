"""``agenthard leaderboard`` on run folders: splits, re-scored runs, files, refusals."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agenthard.flows.audit_plan import AuditSettings
from agenthard.flows.cli import app
from agenthard.flows.errors import EXPECTED, error_message
from agenthard.reports.leaderboard.record import Leaderboards
from tests.flows.audits import audit_by_steps
from tests.reports.survey.library import audit_library

FEW = ("--draws", "200", "--resamples", "200")


@pytest.fixture(scope="module")
def audit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return audit_library(tmp_path_factory.mktemp("audits"), "library")


def command(*arguments: str | Path) -> str:
    done = CliRunner().invoke(app, ["leaderboard", *map(str, arguments), *FEW])
    assert done.exit_code == 0, f"{done.output}\n{done.exception!r}"
    return done.stdout


def refused(*arguments: str | Path) -> str:
    done = CliRunner().invoke(app, ["leaderboard", *map(str, arguments), *FEW])
    assert isinstance(done.exception, EXPECTED), done.output
    return error_message(done.exception)


def repair(run: Path, out: Path) -> Path:
    done = CliRunner().invoke(app, ["repair", str(run), "--out", str(out), "--json"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return out


def test_the_runs_of_an_audit_are_scored_on_both_splits(audit: Path, tmp_path: Path) -> None:
    out = command(audit, "--out", tmp_path / "board")
    assert "Initial split" in out and "Issue-cleaned split" in out and "8/12" in out and "6/10" in out
    assert {path.suffix for path in (tmp_path / "board").iterdir()} == {".html", ".json"}
    assert str(tmp_path / "board" / "index.html") in out
    found = Leaderboards.model_validate_json(command(audit, "--split", "clean", "--json"))
    assert [split.name for split in found.benchmarks[0].splits] == ["clean"]


def test_where_nothing_can_be_executed_the_repaired_split_says_so(audit: Path, tmp_path: Path) -> None:
    repaired = repair(audit, tmp_path / "repairs")
    found = json.loads(command(audit, "--split", "repaired", "--repaired", repaired, "--json"))
    [split] = found["benchmarks"][0]["splits"]
    manifest = json.loads((repaired / "repaired" / "manifest.json").read_text(encoding="utf-8"))
    assert split["card"]["n"] == manifest["kept"]
    assert split["rescoring"]["repaired"] == [each["task_id"] for each in manifest["repaired"]]


def test_repairs_of_another_release_or_of_other_decisions_are_refused(audit: Path, tmp_path: Path) -> None:
    repaired = repair(audit, tmp_path / "repairs")
    other = audit_library(tmp_path, "other", flawed=(1, 2, 3))
    assert "which none of the runs audited" in refused(other, "--split", "repaired", "--repaired", repaired)
    path = repaired / "repaired" / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**manifest, "kept_ids": manifest["kept_ids"][1:]}), encoding="utf-8")
    assert "made from other decisions" in refused(audit, "--split", "repaired", "--repaired", repaired)
    path.write_text("{}", encoding="utf-8")
    assert "not the manifest of a repaired split" in refused(audit, "--split", "repaired", "--repaired", repaired)
    shutil.rmtree(repaired / "repaired")
    assert "no repaired split here" in refused(audit, "--split", "repaired", "--repaired", repaired)


def test_words_that_do_not_fit_together_are_refused(audit: Path, tmp_path: Path) -> None:
    table = tmp_path / "scores.csv"
    table.write_text("model,t1,t2\na,1,0\nb,0,1\n", encoding="utf-8")
    assert "one of the two" in refused()
    assert "one of the two" in refused(audit, "--matrix", table)
    assert "are for run folders of audits" in refused("--matrix", table, "--split", "clean")
    assert "--drop is for a table of scores" in refused(audit, "--drop", table)
    assert "--split repaired needs --repaired" in refused(audit, "--split", "repaired")
    assert "--split repaired needs --repaired" in refused(audit, "--repaired", tmp_path)
    assert "no experiment 'x' among the runs" in refused(audit, "--experiment", "x")


@pytest.mark.corpora
@pytest.mark.long
def test_real_runs_are_judged_again_under_the_repaired_ground_truth(corpora: Path, tmp_path: Path) -> None:
    runs = str(corpora / "trajectories" / "tau1_retail.jsonl.gz")
    settings: dict[str, Any] = {"domains": ("retail",), "runs": (runs,), "experiments": ("paper_run",)}
    path = str(corpora / "tau-bench_59a200c")
    audit_by_steps(AuditSettings(source="tau-bench", path=path, out=str(tmp_path / "run"), **settings))
    repaired = repair(tmp_path / "run", tmp_path / "repairs")
    words = ("--split", "clean", "--split", "repaired", "--repaired", repaired, "--json")
    found = Leaderboards.model_validate_json(command(tmp_path / "run", *words))
    clean, again = found.benchmarks[0].splits
    assert again.rescoring is not None and {"retail/13", "retail/64"} <= set(again.rescoring.repaired)
    assert again.rescoring.rescored > 0.8 * again.rescoring.runs > 0
    unsure = sum(each.runs for each in again.rescoring.not_rescored)
    assert again.rescoring.rescored + unsure == again.rescoring.runs
    assert "own tools" in again.rescoring.evaluator
    assert [row.model for row in found.benchmarks[0].models]
    shutil.rmtree(tmp_path / "run" / "work")
    gone = Leaderboards.model_validate_json(command(tmp_path / "run", *words)).benchmarks[0].splits[1].rescoring
    assert gone is not None and gone.rescored == 0
    assert [each.runs for each in gone.not_rescored] == [gone.runs], "without the work folder nothing is judged again"
    assert "no finished audit here (work/settings.json is missing)" in gone.not_rescored[0].reason
