from typing import Any

import pytest

from agenthard.audit.judge.context.listings import paired, synonyms
from agenthard.audit.judge.context.relevance import ranked
from agenthard.audit.judge.context.state_index import shared_index
from agenthard.taxonomy import AgentTask, ToolSpec
from tests.audit.execution.tau.conftest import airline_tables
from tests.audit.execution.tau.conftest import make_task as tau_task

LISTS = ToolSpec(name="list_all_airports", effect="read")


def asked(said: str, *, benchmark: str = "tau2", effect: Any = "read") -> AgentTask:
    task, tables = tau_task(benchmark, "airline", []), airline_tables()
    tables["users"] |= {f"eve_{n}": {**tables["users"]["ada_1"], "user_id": f"eve_{n}"} for n in range(90)}
    for number, (origin, destination) in enumerate((("LAX", "MIA"), ("DEN", "PHX"), ("ATL", "MCO"), ("SEA", "LAS"))):
        dates = {f"2024-05-{day}": {"status": "landed"} for day in range(18, 24)}
        moved = {"flight_number": f"HAT8{number}", "origin": origin, "destination": destination, "dates": dates}
        tables["flights"][f"HAT8{number}"] = {**tables["flights"]["HAT902"], **moved}
    tool = LISTS.model_copy(update={"effect": effect})
    environment = task.environment.model_copy(update={"state": tables, "tools": (tool,)})
    user = task.user.model_copy(update={"instruction": said})
    return task.model_copy(update={"environment": environment, "user": user})


@pytest.mark.parametrize("benchmark", ["tau2", "tau-bench"])
def test_what_is_listed_together_stands_for_one_thing(benchmark: str) -> None:
    found = synonyms(asked("Hello.", benchmark=benchmark))
    assert found["jfk"] == {"new york"}
    assert found["chicago"] == {"ord"}


def test_a_tool_that_may_change_something_is_not_asked() -> None:
    assert synonyms(asked("Hello.", effect="unknown")) == {}


def test_a_task_with_a_state_of_its_own_and_one_that_nothing_executes_list_nothing() -> None:
    task = asked("Hello.")
    assert synonyms(task.model_copy(update={"initial_state": {"a": 1}})) == {}
    assert synonyms(asked("Hello.", benchmark="unknown")) == {}


def test_a_city_leads_to_the_flights_of_its_airport() -> None:
    task = asked("I want to go from Los Angeles to Miami on May 20.")
    index = shared_index(task.environment)
    labels = [index.records[number].passage.label for _, number in ranked(task, index, [])]
    flights = {label for label in labels if "/HAT8" in label}
    assert flights == {"/environment/state/flights/HAT80#1", "/environment/state/flights/HAT80/dates/2024-05-20"}


@pytest.mark.parametrize("text", ["", "{", "[1, 2]", "3", '"a"', "[[]]", '[{"a": 1, "b": "xx"}]', "[" * 100_000])
def test_what_is_no_listing_pairs_nothing(text: str) -> None:
    assert list(paired(text)) == []
