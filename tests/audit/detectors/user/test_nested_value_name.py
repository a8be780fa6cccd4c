"""Superlatives over a word that names two values."""

from pathlib import Path
from typing import Any

import pytest

from agenthard.audit.detectors.base import Hit
from agenthard.audit.detectors.user import NestedValueName
from agenthard.audit.shards import check_shard
from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.registry import open_source
from agenthard.taxonomy import AgentTask, EnvironmentSpec, GroundTruth, Status, ToolCall, ToolSpec
from tests.builders import make_task

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"room": {"type": "string", "enum": ["double", "small_double", "single"]}, "day": {"type": "string"}},
}


def booking(says: str, room: str = "double") -> AgentTask:
    return make_task(
        "hotel/1",
        environment=EnvironmentSpec(tools=(ToolSpec(name="book", effect="write", parameters=SCHEMA),)),
        user={"kind": "scripted", "turns": [[{"role": "user", "content": says}]]},
        ground_truth=GroundTruth(
            semantics="required", turns=((ToolCall(name="book", arguments={"room": room, "day": "x"}),),)
        ),
    )


def hits(task: AgentTask) -> list[Hit]:
    shard = check_shard([task], {}, [NestedValueName()])
    assert [row.reason for row in shard.coverage if row.status is Status.ERROR] == []
    return [item.hit for item in shard.hits]


@pytest.mark.parametrize("says", ["Book the cheapest double.", "I want your least expensive DOUBLE room."])
def test_the_superlative_may_pick_another_value(says: str) -> None:
    [hit] = hits(booking(says))
    assert "'double' or 'small_double'" in hit.claim
    assert [item.pointer for item in hit.evidence] == [
        "/user/turns/0/0/content", "/ground_truth/turns/0/0/arguments/room",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("says", "room"),
    [
        ("Book a double.", "double"),  # no superlative: the word names one value
        ("Book the cheapest double, no small one.", "double"),  # tells the two apart
        ("Book the cheapest small double.", "small_double"),  # no value has more words
        ("Book the cheapest single.", "single"),
        ("Book the cheapest room on the day of my trip, and a double.", "double"),  # of another thing
    ],
)
def test_what_names_one_value_is_not_flagged(says: str, room: str) -> None:
    assert hits(booking(says, room)) == []


@pytest.mark.corpora
@pytest.mark.parametrize(
    ("source", "folder", "expected"),
    [
        ("tau2", "tau2-bench_v0.1.3", ["airline/15", "airline/16"]),
        ("tau-bench", "tau-bench_59a200c", ["airline/6", "airline/7"]),
        ("acebench", "acebench_2025-02-26", []),
    ],
)
def test_the_real_ones_are_found_and_no_others(corpora: Path, source: str, folder: str, expected: list[str]) -> None:
    shard = check_shard(list(open_source(source, corpora / folder).tasks(Quarantine())), {}, [NestedValueName()])
    assert [task_id for item in shard.hits for task_id in item.task_ids] == expected
