"""Reading a run folder: what is needed, what is refused, and that conversations stay unread."""

import json
from pathlib import Path
from typing import Literal

import pyarrow.parquet as pq
import pytest

from agenthard.audit.decisions.policy import load_policy
from agenthard.audit.statistics import Estimate, Undefined
from agenthard.reports.cleaning.inputs import RUN_COLUMNS, load_run
from agenthard.reports.comparison.audits import load_side
from agenthard.reports.findings_json import write_findings_json
from agenthard.reports.kit.load import RunTablesError
from agenthard.reports.result import AuditResult
from agenthard.reports.tables import write_tables
from agenthard.taxonomy.finding import Status
from agenthard.taxonomy.trajectory import Judgement
from tests.builders import make_run


@pytest.fixture
def folder(shop: AuditResult, tmp_path: Path) -> Path:
    out = tmp_path / "run"
    runs = [make_run(task.id, model, passed) for task in shop.tasks for model, passed in (("a", True), ("b", None))]
    write_tables(shop, out / "tables", runs)
    write_findings_json(shop, out / "findings.json")
    manifest = {
        "agenthard": "0.1.0",
        "taxonomy": "1.0",
        "source": "shop",
        "benchmark": {"label": "v2", "content_hash": "00ff", "files": 3},
        "key": "ab12",
        "policy": load_policy().model_copy(update={"version": "7"}).model_dump(mode="json"),
        "checks": {check.id: check.version for check in shop.checks},
    }
    (out / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return out


def test_the_input_is_what_the_tables_say(folder: Path, shop: AuditResult) -> None:
    found = load_run(folder)
    assert [task.id for task in found.tasks] == [task.id for task in shop.tasks]
    assert [task.category for task in found.tasks] == [task.subtask for task in shop.tasks]
    texts = ["\n".join(text for _, text in task.user_texts()) for task in shop.tasks]
    assert [task.prompt for task in found.tasks] == texts
    read = {"task_id", "action", "reasons", "finding_ids"}
    assert [d.model_dump(include=read) for d in found.decisions] == [d.model_dump(include=read) for d in shop.decisions]
    assert list(found.findings) == list(shop.findings)
    assert found.components == {f.id: shop.taxonomy[f.category].component for f in shop.findings}
    assert (found.audit.policy, found.audit.benchmark, found.audit.content_hash) == ("7", "v2", "00ff")
    (experiment,) = found.experiments
    assert experiment.missing.models == ("a", "b")
    assert (experiment.missing.coverage, experiment.failures.coverage) == ((5, 10), (10, 10))


def test_the_ledger_counts_what_each_check_did(folder: Path, shop: AuditResult) -> None:
    found = load_run(folder)
    ran = (Status.CLEAN, Status.FLAGGED)
    assert found.checked == len({row.task_id for row in shop.coverage if row.status in ran})
    for entry in found.ledger:
        rows = [row.status for row in shop.coverage if row.check == entry.check]
        counts = (entry.flagged, entry.clean, entry.not_checked, entry.errors)
        expected = (Status.FLAGGED, Status.CLEAN, Status.NOT_CHECKED, Status.ERROR)
        assert counts == tuple(rows.count(status) for status in expected)


def test_what_each_judge_gave_is_kept_and_split_from_the_rest_of_the_variance(folder: Path, shop: AuditResult) -> None:
    kinds: tuple[tuple[str, Literal["text", "script"], float], ...] = (
        ("x", "text", 1.0),
        ("y", "text", 0.0),
        ("z", "script", 9.0),
    )
    judged = tuple(Judgement(judge=name, kind=kind, score=score, reason="long") for name, kind, score in kinds)
    runs = [make_run(task.id, "a", True).model_copy(update={"judgements": judged}) for task in shop.tasks]
    write_tables(shop, folder / "tables", runs)
    (experiment,) = load_run(folder).experiments
    # The two models differ by 1 on every run, a variance of 1/2; the script is no judge.
    assert isinstance(experiment.judge, Estimate) and (experiment.judge.value, experiment.judge.n) == (0.5, 5)
    path = folder / "tables" / "trajectories.parquet"
    pq.write_table(pq.read_table(path).drop_columns(["judgements"]), path)
    (older,) = load_run(folder).experiments
    assert isinstance(older.judge, Undefined) and older.missing.models == ("a",)


def test_conversations_are_not_read() -> None:
    assert "messages" not in RUN_COLUMNS


def test_findings_of_an_earlier_run_are_known(folder: Path, shop: AuditResult) -> None:
    assert load_run(folder, folder).known == {finding.id for finding in shop.findings}
    assert load_run(folder).known is None


def test_contents_differ_where_a_task_differs(folder: Path, shop: AuditResult, tmp_path: Path) -> None:
    side = load_side(folder)
    assert list(side.contents) == [task.id for task in shop.tasks]
    assert side.coverage[shop.coverage[0].check, shop.coverage[0].task_id] == shop.coverage[0].status
    path = folder / "tables" / "tasks.parquet"
    table = pq.read_table(path)
    users = table["user"].to_pylist()
    users[0] = users[0].replace("W17", "W18")
    pq.write_table(table.set_column(table.schema.get_field_index("user"), "user", [users]), path)
    later = load_side(folder)
    assert [task for task, content in later.contents.items() if side.contents[task] != content] == [shop.tasks[0].id]


@pytest.mark.parametrize("name", ["manifest.json", "findings.json", "tables/tasks.parquet", "tables/coverage.parquet"])
def test_an_unfinished_audit_is_refused_with_the_next_step(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(RunTablesError, match=r"is missing\); run `agenthard audit` first"):
        load_run(folder)


def test_broken_files_are_one_message(folder: Path) -> None:
    tasks = folder / "tables" / "decisions.parquet"
    good = tasks.read_bytes()
    tasks.write_bytes(b"PAR1 broken")
    with pytest.raises(RunTablesError, match="cannot read its columns"):
        load_run(folder)
    tasks.write_bytes(good)
    (folder / "findings.json").write_text("[", encoding="utf-8")
    with pytest.raises(RunTablesError, match="not valid JSON"):
        load_run(folder)
    (folder / "findings.json").write_text("{}", encoding="utf-8")
    with pytest.raises(RunTablesError, match="audit again"):
        load_run(folder)
