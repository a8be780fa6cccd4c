"""Tools that believe what the agent says the world is like."""

from pathlib import Path
from typing import Any

import pytest

from agenthard.audit.detectors.environment import AgentSetsWorld
from agenthard.audit.execution.gold import why_not_replayed
from agenthard.audit.shards import check_shard
from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.bfcl import BFCL
from agenthard.taxonomy import AgentTask, Status
from agenthard.taxonomy.task import ToolSpec
from tests.library import DESK, Desk, call, desk_task, library_desk

pytestmark = pytest.mark.usefixtures(library_desk.__name__)


def opens(self: Desk, current_time: str) -> str:
    self.state["open"] = current_time.endswith("AM")
    return "open" if self.state["open"] else "closed"


def counts(self: Desk, visitors: int) -> str:
    self.state["visitors"] = visitors
    return "noted"


def checked(tool: str, words: str, **arguments: Any) -> tuple[Status, list[str]]:
    spec = ToolSpec(
        name=tool,
        parameters={
            "type": "object",
            "properties": {name: {"type": "string", "description": words} for name in arguments},
        },
    )
    task = desk_task(call(tool, **arguments))
    desk = DESK.model_copy(update={"tools": (*DESK.tools, spec)})
    shard = check_shard([task.model_copy(update={"environment": desk})], {}, [AgentSetsWorld()])
    return shard.coverage[0].status, [item.hit.claim for item in shard.hits]


@pytest.fixture(autouse=True)
def more_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Desk, "_open_desk", opens, raising=False)
    monkeypatch.setattr(Desk, "_note_visitors", counts, raising=False)


def test_the_time_of_day_is_told_to_the_desk() -> None:
    status, [claim] = checked("open_desk", "Time in HH:MM.", current_time="10:30 AM")
    assert status is Status.FLAGGED
    assert "'10:30 PM' instead of '10:30 AM' leaves another state" in claim


def test_a_number_documented_as_current_counts_too() -> None:
    assert checked("note_visitors", "The current number of visitors.", visitors=3)[0] is Status.FLAGGED


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        ("How many there are.", {"visitors": 3}),
        ("The current mood.", {"visitors": "good"}),
    ],
)
def test_what_is_no_current_fact_or_has_no_other_value_is_left_alone(words: str, arguments: dict[str, Any]) -> None:
    assert checked("note_visitors", words, **arguments) == (Status.CLEAN, [])


def test_a_value_that_changes_no_state_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Desk, "_open_desk", lambda self, current_time: "thanks", raising=False)
    assert checked("open_desk", "Time.", current_time="10:30 AM") == (Status.CLEAN, [])


@pytest.mark.corpora
def test_bfcl_has_one_such_tool(corpora: Path) -> None:
    source = BFCL(corpora / "bfcl_v3_2025-07-17", ("multi_turn_base",))
    tasks: list[AgentTask] = [task for task in source.tasks(Quarantine()) if _calls(task, "update_market_status")]
    if reason := why_not_replayed(tasks[0]):
        pytest.skip(f"BFCL's own code is not installed (agenthard env create bfcl): {reason}")
    shard = check_shard(tasks, {}, [AgentSetsWorld()])
    assert len(tasks) == 11 and {row.status for row in shard.coverage} == {Status.FLAGGED}
    assert {item.hit.cause for item in shard.hits} == {"update_market_status.current_time_str"}


def _calls(task: AgentTask, name: str) -> bool:
    return any(each.name == name for _, each in task.gold_calls())
