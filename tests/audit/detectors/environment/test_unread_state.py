"""Fields of the initial state that no code reads."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from agenthard.audit.detectors.environment import UnreadState
from agenthard.audit.shards import check_shard
from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.bfcl import BFCL
from agenthard.taxonomy import AgentTask, Status, ToolSpec
from tests.library import DESK, Desk, desk_task, lend, library_desk

pytestmark = pytest.mark.usefixtures(library_desk.__name__)

STATE = {"open": True, "openingHour": 9, "queue": [], "mood": "good", "shelves": {"a": 1}}


def reset(self: Desk, task: AgentTask) -> None:
    given = task.initial_state
    self.state = {"open": given.get("open", False), "opening_hour": given.get("openingHour", 8)}
    self._kept = deepcopy(given.get("queue", []))  # type: ignore[attr-defined]


def checked(state: Any, *tools: ToolSpec) -> tuple[Status, list[str | None]]:
    desk = DESK.model_copy(update={"tools": (*DESK.tools, *tools)})
    task = desk_task(lend(), initial_state=state, environment=desk)
    shard = check_shard([task], {}, [UnreadState()])
    return shard.coverage[0].status, [item.hit.cause for item in shard.hits]


def test_fields_without_effect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Desk, "reset", reset)
    assert checked(STATE) == (Status.FLAGGED, ["queue", "mood", "shelves"])


def test_a_look_up_or_its_documentation_shows_what_the_state_hides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Desk, "reset", reset)
    monkeypatch.setattr(Desk, "_show_queue", lambda self, order: str(self._kept), raising=False)
    choice = {"type": "object", "properties": {"order": {"enum": ["up", "down"]}}, "required": ["order"]}
    assert checked(STATE, ToolSpec(name="show_queue", parameters=choice))[1] == ["mood", "shelves"]
    told = ToolSpec(name="greet", returns={"type": "object", "properties": {"mood": {"type": "string"}}})
    assert checked(STATE, told)[1] == ["queue", "shelves"]


def test_an_environment_with_a_state_from_elsewhere() -> None:
    assert checked({"mood": "good"}) == (Status.CLEAN, [])
    assert checked(None)[0] is Status.NOT_CHECKED


def test_an_environment_that_cannot_be_run() -> None:
    task = desk_task(lend(), initial_state=STATE, subtask="binding")
    assert UnreadState().not_applicable(task) == "only lending is known here"


@pytest.mark.corpora
def test_bfcl_has_a_class_without_a_state(corpora: Path) -> None:
    source = BFCL(corpora / "bfcl_v3_2025-07-17", ("multi_turn_base",))
    tasks = [task for task in source.tasks(Quarantine()) if "MathAPI" in (task.initial_state or {})]
    if reason := UnreadState().not_applicable(tasks[0]):
        pytest.skip(f"BFCL's own code is not installed (agenthard env create bfcl): {reason}")
    causes = {hit.cause for task in tasks for hit in UnreadState().inspect(task)}
    assert causes == {f"MathAPI.{name}" for name in ("base", "complex_value", "numbers", "precision", "value")}
