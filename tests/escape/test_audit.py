"""Suites as a source, the proof as a check, the environment behind the interface of audits."""

from dataclasses import replace
from pathlib import Path

import pytest

from agenthard.audit.detectors.registry import detector
from agenthard.audit.execution.environment import Attempt
from agenthard.audit.sources.base import Quarantine, SourceError
from agenthard.audit.sources.registry import open_source
from agenthard.escape.audit_task import task_of
from agenthard.escape.checks import EscapeProof
from agenthard.escape.execution import EscapeEnvironment
from agenthard.escape.proof import verify
from agenthard.escape.room import Instance
from agenthard.escape.source import EscapeRooms
from agenthard.escape.storage import SUITES
from tests.escape.made import changed, rooms, with_hidden


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    SUITES.write(tmp_path / "suite", rooms()[:6], {}, count=6)
    return tmp_path / "suite"


def flawed() -> dict[str, Instance]:
    """One room for each kind of flaw."""
    room = with_hidden()
    exit, mechanisms = room.exit, room.secret.mechanisms
    tool = next(p for p in room.room.parts if p.kind == "tool" and room.secret.mechanisms[p.id].outputs)
    bare = tuple(replace(p, detail="It is silent.") if p.id == tool.id else p for p in room.room.parts)
    told = f"{room.room.story}\nChalked below the red fox: «{next(iter(mechanisms[tool.id].outputs.values()))}»."
    two = room.room.story + "\n" + room.room.story.replace("«", "«x")
    lost = tuple(link for link in room.secret.links if link.input != "trigger")
    return {
        "answer": replace(room, secret=replace(room.secret, answer="ESC-0000000000000000"), certificate=None),
        "execution": changed(room, tool.id, outputs=dict.fromkeys(mechanisms[tool.id].outputs, "77")),
        "hint": replace(room, room=replace(room.room, parts=bare), certificate=None),
        "leak": replace(room, room=replace(room.room, story=told), certificate=None),
        "two values for one sign": replace(room, room=replace(room.room, story=two), certificate=None),
        "structure": replace(room, secret=replace(room.secret, links=lost), certificate=None),
        "no template": changed(room, exit, template="exit_nowhere"),
    }


@pytest.mark.parametrize("kind", ["answer", "execution", "hint", "leak", "structure"])
def test_each_flaw_is_found_by_the_proof(kind: str) -> None:
    found = {problem.kind for problem in verify(flawed()[kind]).problems}
    assert kind in found


def test_a_sign_with_two_values_and_an_unknown_template_are_found() -> None:
    assert {p.kind for p in verify(flawed()["two values for one sign"]).problems} >= {"hint"} or not any(
        clue.true and not clue.place for clue in with_hidden().secret.clues
    )
    assert "no template has the name" in verify(flawed()["no template"]).problems[0].message


def test_a_certificate_of_another_room_is_told() -> None:
    room = rooms()[0]
    other = replace(room, certificate=rooms()[1].certificate)
    assert [problem.kind for problem in verify(other).problems] == ["certificate"]


@pytest.mark.parametrize("kind", ["answer", "execution", "hint", "leak", "structure"])
def test_the_check_flags_it_with_quotes_that_are_there(kind: str) -> None:
    task = task_of("escape", "room", flawed()[kind], {})
    hits = list(EscapeProof().inspect(task))
    assert hits and all(hit.evidence for hit in hits)
    assert isinstance(detector("escape-proof"), EscapeProof)


def test_sound_rooms_are_not_flagged_and_their_gold_runs() -> None:
    environment = EscapeEnvironment()
    for instance in rooms()[:8]:
        task = task_of("escape", instance.id, instance, {})
        assert list(EscapeProof().inspect(task)) == []
        assert environment.supports(task) is None
        assert environment.evaluate(task, Attempt(turns=task.ground_truth.turns)).passed
        assert not environment.evaluate(task, Attempt()).passed
        environment.reset(task)
        before = environment.snapshot()
        assert all(environment.call(call).error is None for call in task.ground_truth.turns[0])
        assert environment.snapshot() != before


def test_a_room_that_does_not_hold_together_is_not_executed() -> None:
    task = task_of("escape", "room", flawed()["no template"], {})
    assert "no template has the name" in (EscapeEnvironment().supports(task) or "")


def test_the_source_reads_suites_and_writes_parts_of_them(suite: Path, tmp_path: Path) -> None:
    source = open_source("escape", suite.parent)
    quarantine = Quarantine()
    tasks = list(source.tasks(quarantine))
    assert [task.id for task in tasks] == [room.id for room in rooms()[:6]] and not quarantine.items
    assert source.task(tasks[3].id) == tasks[3]
    written = source.write_split([tasks[1].id, tasks[4].id], tmp_path / "split")
    assert {path.name for path in written} == {"suite.json", "rooms.jsonl", "secrets.jsonl"}
    kept = [room for _, room in EscapeRooms(tmp_path / "split").instances(Quarantine())]
    assert kept == [rooms()[1], rooms()[4]]


def test_broken_lines_are_quarantined_with_their_place(suite: Path) -> None:
    lines = (suite / "secrets.jsonl").read_bytes().splitlines(keepends=True)
    lines[2] = b'{"id": "x"}\n'
    (suite / "secrets.jsonl").write_bytes(b"".join(lines))
    quarantine = Quarantine()
    assert len(list(EscapeRooms(suite).tasks(quarantine))) == 5
    (item,) = quarantine.items
    assert (item.file, item.line, item.task_id) == ("secrets.jsonl", 3, rooms()[2].id)


def test_what_is_no_suite_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no suite of rooms here"):
        EscapeRooms(tmp_path)
