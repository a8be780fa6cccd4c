"""The demo's escape rooms: the same everywhere, and one flaw of each kind found by its check."""

from pathlib import Path

import pytest

from agenthard.audit.conclude import conclude
from agenthard.audit.detectors.registry import detectors
from agenthard.audit.shards import check_shard
from agenthard.audit.sources.base import Quarantine
from agenthard.escape.faults import OPERATORS
from agenthard.escape.source import EscapeRooms
from agenthard.flows.demo import ANSWER_KEY, write_room_demo
from agenthard.flows.demo.room_suite import CHANGES, CHECK, ROOMS


def test_one_flaw_of_each_kind_is_found_and_nothing_else(tmp_path: Path) -> None:
    key, quarantine = write_room_demo(tmp_path), Quarantine()
    assert {entry.change for entry in key} == set(CHANGES.values()) and len(key) == len(OPERATORS)
    tasks = list(EscapeRooms(tmp_path).tasks(quarantine))
    assert (len(tasks), quarantine.items) == (ROOMS.count, [])
    proof = [each for each in detectors() if each.id == CHECK]
    found, _ = conclude("escape", [task.id for task in tasks], [check_shard(tasks, {}, proof)], proof)
    flawed = {task_id for entry in key for task_id in entry.task_ids}
    assert len(flawed) == len(key)
    assert {task_id for finding in found for task_id in finding.task_ids} == flawed


@pytest.mark.long
def test_the_bytes_are_always_the_same(tmp_path: Path) -> None:
    for name in ("one", "other"):
        write_room_demo(tmp_path / name)
    for name in ("rooms.jsonl", "secrets.jsonl", ANSWER_KEY):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "other" / name).read_bytes()
