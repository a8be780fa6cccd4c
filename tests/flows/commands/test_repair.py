"""``agenthard repair`` on an audited native benchmark."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.native import Native
from agenthard.flows.audit_plan import AuditSettings
from agenthard.flows.cli import app
from agenthard.flows.errors import CommandError, RunFolderError
from agenthard.taxonomy import AgentTask, GroundTruth, ToolCall
from tests.builders import make_task
from tests.flows.audits import audit_by_steps

BOOKS: list[Any] = [1, "2", "three", 4, "5"]
"""Numbers of books in the ground truths; the tool takes an integer. The last task has another flaw as well."""


def lending(number: int, book: Any) -> AgentTask:
    call = ToolCall(name="lend_book", arguments={"book_id": book, "member": f"Member {number}"})
    lost = ToolCall(name="lose_everything", arguments={})
    calls = (call, lost) if number == len(BOOKS) - 1 else (call,)
    return make_task(
        f"lib/{number}",
        user={"kind": "scripted", "turns": [[{"role": "user", "content": f"Book {book} for Member {number}."}]]},
        ground_truth=GroundTruth(semantics="required", turns=(calls,)),
    )


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("benchmarks") / "library"
    folder.mkdir()
    lines = [lending(i, book).model_dump_json(exclude={"origins"}) for i, book in enumerate(BOOKS)]
    (folder / "tasks.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


@pytest.fixture
def audited(benchmark: Path, tmp_path: Path) -> Path:
    """A run folder, made by the steps of the audit without its flow."""
    settings = AuditSettings(source="native", path=str(benchmark), out=str(tmp_path / "run"))
    audit_by_steps(settings)
    return tmp_path / "run"


def repair(*arguments: str) -> Any:
    done = CliRunner().invoke(app, ["repair", *arguments, "--json"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def contents(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_what_can_be_repaired_is_back_in_the_split(audited: Path, benchmark: Path) -> None:
    before = contents(benchmark)
    outcome = repair(str(audited))
    assert (outcome["with_patch"], outcome["accepted"], outcome["proposals"]) == (2, 2, 2)
    assert (outcome["removed_before"], outcome["decisions"]) == (
        3,
        {"keep": 2, "repair": 1, "drop": 2, "review": 0, "unchecked": 0},
    )
    assert "all-fail" in outcome["not_repeated"]
    kept = {task.id: task for task in Native(audited / "repair" / "repaired").tasks(Quarantine())}
    assert list(kept) == ["lib/0", "lib/1", "lib/3"]
    assert kept["lib/1"].ground_truth.turns[0][0].arguments["book_id"] == 2
    lines = (benchmark / "tasks.jsonl").read_bytes().splitlines()
    written = (audited / "repair" / "repaired" / "tasks.jsonl").read_bytes().splitlines()
    assert written == [lines[0], lines[1].replace(b'"book_id":"2"', b'"book_id":2'), lines[3]]
    assert contents(benchmark) == before
    repairs = json.loads((audited / "repair" / "repairs.json").read_text())["repairs"]
    assert [(r["proposal"]["task_id"], r["accepted"], r["in_split"]) for r in repairs] == [
        ("lib/1", True, True),
        ("lib/4", True, False),
    ]
    issues = sorted((audited / "repair" / "issues").iterdir())
    assert len(issues) == 2
    assert all("please say so" in issue.read_text() for issue in issues)


def test_the_same_repair_writes_the_same_bytes(audited: Path, tmp_path: Path) -> None:
    repair(str(audited))
    repair(str(audited))
    shutil.rmtree(audited / "work" / "shards")
    (audited / "work" / "key").write_text("another version")
    repair(str(audited), "--out", str(tmp_path / "again"))
    assert contents(tmp_path / "again") == contents(audited / "repair")


def test_findings_and_checks_can_be_chosen(audited: Path) -> None:
    ids = [finding["id"] for finding in json.loads((audited / "findings.json").read_text())["findings"]]
    chosen = [name for name in ids if repair(str(audited), "--finding", name)["accepted"]]
    assert len(chosen) == 2
    assert repair(str(audited), "--check", "near-miss-value")["findings"] == 0


def test_people_are_told_in_a_table(audited: Path) -> None:
    shown = CliRunner().invoke(app, ["repair", str(audited)]).output
    assert "proposals: 2 of 2 accepted" in shown
    assert "removed by the audit 3, still removed 2" in shown


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda run, _: shutil.rmtree(run), "no finished audit"),
        (lambda run, _: shutil.rmtree(run / "work"), "settings.json is missing"),
        (lambda _, other: shutil.rmtree(other), "not here any more"),
        (lambda _, other: (other / "tasks.jsonl").write_text("{}\n"), "has changed since the audit"),
        (lambda run, _: ((run / "repair").mkdir(), (run / "repair" / "mine.txt").touch()), "holds no repairs"),
    ],
)
def test_what_is_in_the_way_is_said(audited: Path, benchmark: Path, tmp_path: Path, spoil: Any, message: str) -> None:
    other = Path(shutil.copytree(benchmark, tmp_path / "other"))
    spoil(audited, other)
    with pytest.raises((CommandError, RunFolderError), match=message):
        CliRunner().invoke(app, ["repair", str(audited), "--benchmark", str(other)], catch_exceptions=False)


@pytest.mark.parametrize("option", ["--finding", "--check"])
def test_an_unknown_name_is_refused(audited: Path, option: str) -> None:
    with pytest.raises(CommandError, match="no (finding|check) nonsense"):
        CliRunner().invoke(app, ["repair", str(audited), option, "nonsense"], catch_exceptions=False)
