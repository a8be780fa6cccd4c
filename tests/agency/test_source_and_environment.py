"""A suite as a source of audits, and its tasks behind the interface of environments."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from agenthard.agency.execution import AgencyEnvironment
from agenthard.agency.source import AgencySuite
from agenthard.audit.execution.environment import Attempt, UnavailableError
from agenthard.audit.sources.base import Quarantine, SourceError
from agenthard.audit.sources.registry import detect_name
from agenthard.taxonomy.task import AgentTask, ToolCall


@pytest.fixture
def environment() -> Iterator[AgencyEnvironment]:
    made = AgencyEnvironment()
    yield made
    made.close()


def tasks(suite: Path) -> list[AgentTask]:
    return list(AgencySuite(suite).read_tasks()[0])


def attempt(task: AgentTask) -> Attempt:
    return Attempt(turns=task.ground_truth.turns)


def test_each_task_of_a_chain_is_a_task(suite: Path) -> None:
    assert detect_name(suite) == "agency"
    one, two = tasks(suite)
    assert (one.id, two.id, one.subtask) == ("Code/tiny/one", "Code/tiny/two", "Code")
    assert [call.name for _, call in one.gold_calls()] == ["write_file", "write_file"]
    origin = two.origins["/user/turns/0/0/content"]
    document = json.loads((suite / origin.file).read_text())
    assert origin.pointer == "/tasks/1/query" and document["tasks"][1]["query"] == two.user.turns[0][0].content


def test_reference_solutions_pass_and_doing_nothing_fails(suite: Path, environment: AgencyEnvironment) -> None:
    for task in tasks(suite):
        assert environment.supports(task) is None
        verdict = environment.evaluate(task, attempt(task))
        assert verdict.passed and all(verdict.parts.values())
        nothing = environment.evaluate(task, Attempt())
        assert not nothing.passed and nothing.reason


def test_a_later_task_begins_on_what_the_reference_left(suite: Path, environment: AgencyEnvironment) -> None:
    one, two = tasks(suite)
    environment.reset(one)
    assert set(environment.snapshot()) == {"numbers.txt"}
    environment.reset(two)
    before = environment.state_hash()
    assert set(environment.snapshot()) == {"numbers.txt", "note.txt", "sum.sh"}
    said = environment.call(ToolCall(name="run_shell_command", arguments={"command": "sh sum.sh; cat /etc/shadow"}))
    assert "70123" in said.text and said.error is None and environment.state_hash() == before
    assert environment.call(ToolCall(name="write_file", arguments={"file_path": "../x", "content": ""})).error
    environment.call(ToolCall(name="write_file", arguments={"file_path": "x", "content": ""}))
    assert environment.state_hash() != before
    environment.reset(two)
    assert environment.state_hash() == before


def test_a_scenario_that_differs_from_the_installed_one_is_not_executed(
    suite: Path, environment: AgencyEnvironment
) -> None:
    place = suite / "Code-tiny" / "scenario.json"
    place.write_text(place.read_text().replace('"weight": 3', '"weight": 30'))
    task, _ = tasks(suite)
    assert "another version" in (environment.supports(task) or "")
    with pytest.raises(UnavailableError):
        environment.reset(task)


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ("", "no suite|head of a suite"),
        ('{"format": "agenthard-agency-suite", "version": 2, "scenarios": []}', "not agenthard-agency-suite 1"),
        ('{"format": "agenthard-agency-suite", "version": 1, "scenarios": ["../.."]}', "not the name of a folder"),
    ],
)
def test_a_head_that_is_wrong_is_refused(suite: Path, head: str, message: str) -> None:
    (suite / "agency-suite.json").write_text(head)
    with pytest.raises(SourceError, match=message):
        AgencySuite(suite)


def test_scenarios_that_cannot_be_read_are_quarantined_and_the_others_are_read(suite: Path) -> None:
    for name, text in (("broken", "{"), ("twice", (suite / "Code-tiny/scenario.json").read_text()), ("absent", "")):
        (suite / name).mkdir()
        if text:
            (suite / name / "scenario.json").write_text(text)
    head = {"format": "agenthard-agency-suite", "version": 1, "scenarios": ["broken", "Code-tiny", "twice", "absent"]}
    (suite / "agency-suite.json").write_text(json.dumps(head))
    quarantine = Quarantine()
    assert [task.id for task in AgencySuite(suite).tasks(quarantine)] == ["Code/tiny/one", "Code/tiny/two"]
    assert [item.file for item in quarantine.items] == [f"{n}/scenario.json" for n in ("broken", "twice", "absent")]


def test_a_split_holds_whole_chains_byte_by_byte(suite: Path, tmp_path: Path) -> None:
    source = AgencySuite(suite)
    whole, part = tmp_path / "whole", tmp_path / "part"
    for folder in (whole, part):
        folder.mkdir()
    source.write_split([task.id for task in tasks(suite)], whole)
    assert AgencySuite(whole).version().content_hash != "" and [t.id for t in tasks(whole)] == [
        t.id for t in tasks(suite)
    ]
    for path in suite.rglob("*"):
        if path.is_file() and path.name != "agency-suite.json":
            assert (whole / path.relative_to(suite)).read_bytes() == path.read_bytes()
    source.write_split(["Code/tiny/one"], part)
    assert tasks(part) == []
