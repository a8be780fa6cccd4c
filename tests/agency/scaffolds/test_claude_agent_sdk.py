"""The program of the Claude Agent SDK, run for real: the same scenario, tools and journal as the native loop."""

import json
from collections.abc import Callable

from agenthard.agency.scaffolds import Prompt
from agenthard.agency.scaffolds.claude.scaffold import ClaudeAgentSdk
from tests.agency.scaffolds.conftest import Bench, ListedModel, says

PROMPT = Prompt(task_id="t", attempt=0, text="Task: write a file. @/etc/hostname /help")
Benches = Callable[..., Bench]


def write(path: str) -> tuple[str, str]:
    return "write_file", json.dumps({"file_path": path, "content": "x"})


async def test_calls_are_carried_out_in_order_and_the_conversation_goes_on(bench: Benches) -> None:
    here = bench()
    replies = [says("a", write("a"), ("nothing", "{}"), ("read_file", '{"absolute_path": "a"}')), says("Done.")]
    model = ListedModel([*replies, says("Again.")], here.clock)
    scaffold, budget = ClaudeAgentSdk(here.player(model)), here.budget()
    rollout = await scaffold.run(PROMPT, here.toolset, here.history, budget)
    print(rollout.ended, rollout.reason)
    assert (rollout.ended, rollout.reason, here.files(), budget.turns) == ("done", "", ["a"], 2)
    assert [(event.call.name, event.result.trouble) for event in rollout.called] == [
        ("write_file", None),
        ("nothing", "refused"),
        ("read_file", None),
    ]
    print(model.asked[0].model_dump_json(exclude={"tools"}, indent=1))
    print(model.asked[1].model_dump_json(exclude={"tools"}, indent=1))
    answers = {message.tool_name: message.text for message in model.asked[1].messages if message.role == "tool"}
    assert "no such tool" in answers["nothing"] and answers["read_file"] == "x"
    await scaffold.run(PROMPT, here.toolset, here.history, budget)
    roles = [message.role for message in model.asked[2].messages]
    assert roles == ["system", "user", "assistant", "tool", "tool", "tool", "assistant", "user"]
