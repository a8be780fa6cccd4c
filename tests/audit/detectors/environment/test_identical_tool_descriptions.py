from pathlib import Path

import pytest

from agenthard.audit.detectors.environment import IdenticalToolDescriptions
from agenthard.audit.shards import check_shard
from agenthard.audit.sources.bfcl import BFCL
from agenthard.taxonomy import AgentTask, EnvironmentSpec, GroundTruth, Status, ToolCall, ToolSpec
from tests.builders import make_task
from tests.corpora import tasks_of

DOCUMENTED = {"type": "object", "properties": {"city": {"type": "string"}}}


def tool(name: str, description: str = "Gets the temperature.", **changes: object) -> ToolSpec:
    return ToolSpec(name=name, description=description, parameters={**DOCUMENTED, **changes})


def task(tools: tuple[ToolSpec, ...], *calls: str, task_id: str = "lib/1") -> AgentTask:
    turn = tuple(ToolCall(name=name, arguments={"city": "Bern"}) for name in calls)
    gold = GroundTruth(semantics="required", turns=(turn,))
    return make_task(task_id, environment=EnvironmentSpec(tools=tools), ground_truth=gold)


def test_a_pair_that_only_names_tell_apart() -> None:
    tools = (tool("from_a"), tool("other", "Gets the wind."), tool("from_b", "GETS THE  TEMPERATURE\n"))
    tasks = [task(tools, "from_b"), task(tools, "from_b", task_id="lib/2")]
    result = check_shard(tasks, {}, [IdenticalToolDescriptions()])
    assert [row.status for row in result.coverage] == [Status.FLAGGED, Status.FLAGGED]
    assert {hit.hit.cause for hit in result.hits} == {"from_a = from_b"}
    assert [item.pointer for item in result.hits[0].hit.evidence] == [
        "/environment/tools/0/description",
        "/environment/tools/2/description",
        "/ground_truth/turns/0/0/name",
    ]


@pytest.mark.parametrize(
    ("tools", "calls"),
    [
        ((tool("a"), tool("b")), ("c",)),
        ((tool("a"), tool("b")), ("a", "b")),
        ((tool("a"), tool("b", "Gets the temperature in Celsius.")), ("a",)),
        ((tool("a"), tool("b", required=["city"])), ("a",)),
        ((tool("a", ""), tool("b", "")), ("a",)),
        ((tool("a"), tool("a")), ("a",)),
    ],
    ids=["neither is needed", "both are needed", "another text", "another schema", "no text", "the same tool twice"],
)
def test_no_flaw(tools: tuple[ToolSpec, ...], calls: tuple[str, ...]) -> None:
    assert list(IdenticalToolDescriptions().inspect(task(tools, *calls))) == []


def test_a_task_without_gold_calls_is_not_checked() -> None:
    [row] = check_shard([task((tool("a"), tool("b")))], {}, [IdenticalToolDescriptions()]).coverage
    assert (row.status, row.reason) == (Status.NOT_CHECKED, "the ground truth names no call")


@pytest.mark.long
@pytest.mark.corpora
def test_bfcl(corpora: Path) -> None:
    tasks = tasks_of(BFCL, corpora / "bfcl_v3_2025-07-17")
    result = check_shard(tasks, {}, [IdenticalToolDescriptions()])
    assert {hit.hit.cause for hit in result.hits} == {
        "get_outside_temperature_from_google = get_outside_temperature_from_weather_com"
    }
    assert sorted(task_id for hit in result.hits for task_id in hit.task_ids) == [
        f"multi_turn_{kind}_91" for kind in ("base", "long_context", "miss_func", "miss_param")
    ]
