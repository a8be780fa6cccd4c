"""Ten layouts of one benchmark go through ``infer`` and an audit without a person editing anything."""

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from typer.testing import CliRunner

import agenthard as ah
from agenthard.audit.sources.mapping.infer import Proposal, infer
from agenthard.audit.sources.mapping.infer.proposal_yaml import as_yaml
from agenthard.flows.cli import app
from agenthard.taxonomy.finding import Status, Tier
from tests.audit.sources.mapping.layouts import CASES, LAYOUTS, jsonl, openai_tools, written

EXPECTED_CHECKS = {
    "unknown tool": ("call-schema",),
    "wrong type": ("call-schema",),
    "missing required argument": ("call-schema",),
    "same task, other gold": ("conflicting-gold",),
    "value not in the prompt": ("ungrounded-argument",),
}


@dataclass(frozen=True)
class Audited:
    """A layout after ``infer`` and an audit."""

    proposal: Proposal
    result: ah.AuditResult
    tasks: tuple[ah.AgentTask, ...]


@cache
def audited(name: str) -> Audited:
    with TemporaryDirectory() as folder:
        proposal = infer(LAYOUTS[name](Path(folder) / name))
        mapping = Path(folder) / "mapping-of-it.yaml"
        mapping.write_text(as_yaml(proposal, mapping.parent))
        result = ah.audit(ah.open_source("mapping", mapping))
        return Audited(proposal, result, tuple(result.tasks))


@pytest.mark.parametrize("name", LAYOUTS)
def test_the_proposal_reads_what_was_written(name: str) -> None:
    found = audited(name)
    assert found.proposal.understood.problems == []
    assert len(found.tasks) == len(CASES)
    for task, case in zip(found.tasks, CASES, strict=True):
        said = " ".join(text for _, text in task.user_texts())
        assert case.ask in said
        assert "You take orders" not in said
        calls = [(call.name.removeprefix("restaurant."), call.arguments) for _, call in task.gold_calls()]
        assert calls == list(case.calls)
        tools = {tool.name.removeprefix("restaurant."): tool.parameters for tool in task.environment.tools}
        assert set(tools) == {"order_food", "book_table"}
        assert sorted(tools["order_food"]["required"]) == ["count", "dish"]


@pytest.mark.parametrize("name", LAYOUTS)
def test_planted_flaws_are_found_and_nothing_else_is_confirmed(name: str) -> None:
    found = audited(name)
    assert found.result.mapping_doubts == ()
    planted = {task.id: case.planted for task, case in zip(found.tasks, CASES, strict=True) if case.planted}
    confirmed = {
        task for finding in found.result.findings if finding.tier is Tier.CONFIRMED for task in finding.task_ids
    }
    assert confirmed <= set(planted)
    for task, flaw in planted.items():
        checks = EXPECTED_CHECKS[flaw]
        flagged = [f for f in found.result.findings if task in f.task_ids and f.check in checks]
        rows = [row for row in found.result.coverage.of_task(task) if row.check in checks]
        assert flagged or all(row.status is Status.NOT_CHECKED and row.reason for row in rows), (flaw, rows)


def test_what_cannot_be_understood_is_told(tmp_path: Path) -> None:
    lisp = [
        {"id": case.id, "question": case.ask, "tools": openai_tools(), "gold": f"(:call {case.calls[0][0]} :now)"}
        for case in CASES
    ]
    (found,) = infer(jsonl(tmp_path / "lisp.jsonl", lisp)).understood.problems
    assert found.startswith("0 expected calls in 21 rows")

    other = [{**row, "gold": f"{'fetch(' if at % 4 else 'fetch(x='}{at})"} for at, row in enumerate(lisp)]
    (found,) = infer(jsonl(tmp_path / "other.jsonl", other)).understood.problems
    assert found == "21 of 21 calls name no documented tool, such as 'fetch'"

    same = [{**row, "question": "Please do what I ask.", "gold": "book_table(guests=1, time='9')"} for row in lisp]
    problems = infer(jsonl(tmp_path / "same.jsonl", same)).understood.problems
    assert problems == ["the user says the same in all 21 rows: map user.turns to another column"]


def test_calls_of_one_task_in_several_joined_rows_are_told(tmp_path: Path) -> None:
    jsonl(
        tmp_path / "questions.jsonl",
        [{"qid": case.id, "question": case.ask, "tools": openai_tools()} for case in CASES],
    )
    answers = [{"qid": case.id, "call": written(call)} for case in CASES for call in case.calls]
    jsonl(tmp_path / "answers.jsonl", answers)
    (problem,) = infer(tmp_path).understood.problems
    assert problem.startswith("4 joined rows have a key that an earlier one has")


def test_infer_prints_an_example_and_its_exit_code_tells_what_is_missing(tmp_path: Path) -> None:
    good = CliRunner().invoke(
        app, ["sources", "infer", str(LAYOUTS["chat"](tmp_path / "chat")), "--out", str(tmp_path / "m.yaml")]
    )
    assert good.exit_code == 0
    assert "21 of 21 rows parse: 21 turns of users, 2 tools, 25 expected calls" in good.output
    assert "  expects      order_food(dish='pizza', count=2)" in good.output
    bare = CliRunner().invoke(
        app, ["sources", "infer", str(jsonl(tmp_path / "a.jsonl", [{"ask": c.ask} for c in CASES]))]
    )
    assert bare.exit_code == 2
    assert "wrong or missing: 0 expected calls in 21 rows" in bare.output


def test_rows_in_memory_are_audited_as_files_are(tmp_path: Path) -> None:
    import pandas

    frame = pandas.read_json(LAYOUTS["nested_dialogue"](tmp_path), lines=True)
    by_frame, by_rows = ah.audit(frame), ah.audit(frame.to_dict("records"), mapping=by_hand())
    for result in (by_frame, by_rows):
        found = {task for finding in result.findings for task in finding.task_ids}
        assert found == {"p1", "p2", "p3", "p4", "p5", "p6"}
    assert by_frame.findings[0].evidence[0].native is not None


def test_a_table_of_sqlite_is_audited_as_a_frame(tmp_path: Path) -> None:
    import pandas

    tools = json.dumps(openai_tools())
    rows = [(case.id, case.ask, tools, "; ".join(map(written, case.calls))) for case in CASES]
    with closing(sqlite3.connect(tmp_path / "bench.db")) as connection:
        connection.execute("create table cases (id text, question text, tools text, gold text)")
        connection.executemany("insert into cases values (?, ?, ?, ?)", rows)
        result = ah.audit(pandas.read_sql("select * from cases", connection))
    assert {task for finding in result.findings for task in finding.task_ids} == {"p1", "p2", "p3", "p4", "p5", "p6"}


def by_hand() -> dict[str, object]:
    return {
        "id": "case.uid",
        "user": {"turns": "dialogue.exchanges"},
        "environment": {"tools": "toolbox.functions"},
        "ground_truth": {"calls": "expected_calls"},
    }


def test_one_of_several_calls_in_a_text_is_repaired(tmp_path: Path) -> None:
    rows = [
        {"id": i, "ask": f"A table for {i} at 18:30, then 2 soups.", "tools": openai_tools(),
         "gold": f"book_table(guests={i}, time='18:30'); order_food(dish='soup', count={count})"}
        for i, count in ((4, 2), (5, 2), (6, "'2'"), (7, 2))
    ]  # fmt: skip
    mapping = tmp_path / "m.yaml"
    jsonl(tmp_path / "data" / "rows.jsonl", rows)
    mapping.write_text(as_yaml(infer(tmp_path / "data"), tmp_path))
    result = ah.audit(ah.open_source("mapping", mapping))
    result.write(tmp_path / "run")
    outcome = ah.repair(result)
    assert (outcome.proposals, outcome.accepted) == (1, 1)
    lines = (tmp_path / "run/repair/repaired/rows.jsonl").read_text().splitlines()
    assert "book_table(guests=6, time='18:30'); order_food(dish='soup', count=2)" in lines[2]
