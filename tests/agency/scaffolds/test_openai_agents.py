"""The loop of the OpenAI Agents SDK: the same scenario, tools and journal as the native loop."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agenthard.agency.scaffolds import Prompt
from agenthard.agency.scaffolds.openai_agents import OpenAIAgents
from agenthard.flows.evaluation.settings import EvaluationSettings
from agenthard.models.errors import ContextOverflowError
from agenthard.models.model_file import load_model
from agenthard.models.request import Reply
from tests.agency.scaffolds.conftest import Bench, ListedModel, says
from tests.agency.test_kills import told_again
from tests.flows.evaluation.conftest import evaluated, model_path
from tests.loopback import Loopback
from tests.loopback.agency_brain import works

PROMPT = Prompt(task_id="t", attempt=0, text="Task: write a file.")
Benches = Callable[..., Bench]


def write(path: str) -> tuple[str, str]:
    return "write_file", json.dumps({"file_path": path, "content": "x"})


async def test_calls_are_carried_out_in_order_and_the_conversation_goes_on(bench: Benches) -> None:
    here = bench()
    replies = [says("a", write("a"), ("nothing", "{}"), ("read_file", '{"absolute_path": "a"}')), says("Done.")]
    model = ListedModel([*replies, says("Again.")], here.clock)
    scaffold, budget = OpenAIAgents(here.player(model)), here.budget()
    rollout = await scaffold.run(PROMPT, here.toolset, here.history, budget)
    assert (rollout.ended, here.files(), budget.turns) == ("done", ["a"], 2)
    assert {event.call.name: event.result.trouble for event in rollout.called} == {
        "write_file": None,
        "nothing": "refused",
        "read_file": None,
    }
    answers = {message.tool_name: message.text for message in model.asked[1].messages if message.role == "tool"}
    assert "no such tool" in answers["nothing"] and answers["read_file"] == "x"
    await scaffold.run(PROMPT, here.toolset, here.history, budget)
    roles = [message.role for message in model.asked[2].messages]
    assert roles == ["system", "user", "assistant", "tool", "tool", "tool", "assistant", "user"]


@pytest.mark.parametrize(
    ("limits", "replies", "ended"),
    [
        ({"turns": 2}, [says("", write("a"))], "turns"),
        ({"hours": 0.01}, [says("", write("a"))], "hours"),
        ({}, [says("cut", finish="length")], "truncations"),
    ],
)
async def test_limits_end_an_attempt(
    bench: Benches, limits: dict[str, float], replies: list[Reply], ended: str
) -> None:
    here = bench()
    budget = here.budget(**limits)
    rollout = await OpenAIAgents(here.player(ListedModel(replies, here.clock, seconds=7.0))).run(
        PROMPT, here.toolset, here.history, budget
    )
    assert rollout.ended == ended and budget.seconds <= 36


async def test_what_the_model_raises_comes_out_as_it_is(bench: Benches) -> None:
    here = bench()

    class Broken(ListedModel):
        async def complete(self, *given: object, **named: object) -> object:  # type: ignore[override]
            raise self.error

    for error, ended in ((ContextOverflowError("too long"), "context_overflow"), (ConnectionError("no"), None)):
        model = Broken([], here.clock)
        model.error = error  # type: ignore[attr-defined]
        playing = OpenAIAgents(here.player(model)).run(PROMPT, here.toolset, [], here.budget())
        if ended:
            assert (await playing).ended == ended
        else:
            with pytest.raises(ConnectionError):
                await playing


def turns(row: dict[str, Any]) -> int:
    return sum(event["kind"] == "said" for event in row["rollout"]["events"])


@pytest.mark.long
def test_a_scenario_is_played_as_by_the_native_loop(suite: Path, loopback: Loopback, keys: str, tmp_path: Path) -> None:
    loopback.service.brain = works
    outcome = evaluated(
        EvaluationSettings(
            benchmark="agency",
            path=str(suite),
            models=(load_model(str(model_path(tmp_path, loopback.url))),),
            axes={"scaffold": ("native", "openai_agents")},
            out=str(tmp_path / "out"),
        )
    )
    assert outcome.complete
    with gzip.open(tmp_path / "out/rollouts.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    played: dict[str, list[object]] = {}
    for row in rows:
        outline = (row["task_id"], row["attempt"], row["after"], row["grade"], told_again(row["rollout"]["events"]))
        played.setdefault(row["condition"], []).append(outline)
    assert len(rows) == 8 and played["scaffold=native"] == played["scaffold=openai_agents"]
    (cost,) = outcome.costs  # the second scaffold asks the same, and its replies come from the cache
    assert (cost.purpose, cost.sent) == ("agent", sum(turns(row) for row in rows) // 2)
