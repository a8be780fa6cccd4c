"""The native loop: calls, budgets by a simulated clock, compaction, cut-off replies, and calls in texts."""

import json
from collections.abc import Callable

from agenthard.agency.scaffolds import Prompt
from agenthard.agency.scaffolds.json_plan import JsonPlan
from agenthard.agency.scaffolds.native import CUT_OFF, Native
from agenthard.agency.scaffolds.rollout import Compacted
from tests.agency.scaffolds.conftest import Bench, ListedModel, says

PROMPT = Prompt(task_id="t", attempt=0, text="Task: write a file.")
Benches = Callable[..., Bench]


def write(path: str, content: str = "x") -> tuple[str, str]:
    return "write_file", json.dumps({"file_path": path, "content": content})


async def test_calls_are_carried_out_in_order_and_every_one_has_its_result(bench: Benches) -> None:
    here = bench()
    model = ListedModel(
        [says("a", write("a/b.txt"), ("read_file", '{"absolute_path": "a/b.txt"}')), says("Done.")], here.clock
    )
    rollout = await Native(here.player(model)).run(PROMPT, here.toolset, here.history, here.budget())
    assert rollout.ended == "done" and here.files() == ["a", "a/b.txt"]
    first, second = (event.result for event in rollout.called)
    assert (first.changed.added, first.exit_code, first.trouble) == (("a", "a/b.txt"), None, None)
    assert second.output == "x" and not second.changed
    assert [message.role for message in rollout.messages()] == ["user", "assistant", "tool", "tool", "assistant"]
    effects = [message.effect for message in rollout.messages() if message.effect]
    assert effects[0].changed == ("a", "a/b.txt") and effects[1].changed == ()


async def test_wrong_calls_are_answered_and_never_raise(bench: Benches) -> None:
    here = bench()
    calls = [("nothing", "{}"), ("read_file", "{not json"), ("write_file", '{"file_path": "../x", "content": ""}')]
    calls += [("read_file", '{"absolute_path": "/etc/passwd"}'), ("glob", "[]"), ("web_fetch", '{"url": "http://x"}')]
    model = ListedModel([says("", *calls), says("Done.")], here.clock)
    rollout = await Native(here.player(model)).run(PROMPT, here.toolset, here.history, here.budget())
    troubles = [event.result.trouble for event in rollout.called]
    assert troubles == ["refused"] * 5 + ["unavailable"] and here.files() == []


async def test_two_hours_are_kept_to_the_second(bench: Benches) -> None:
    here = bench()
    model = ListedModel([says("", write("a.txt"))], here.clock, seconds=7.0)
    budget = here.budget(hours=2, turns=None)
    rollout = await Native(here.player(model)).run(PROMPT, here.toolset, here.history, budget)
    assert rollout.ended == "hours" and budget.seconds == 7200
    assert budget.turns == -(-7200 // 7)
    again = await Native(here.player(model)).run(PROMPT, here.toolset, here.history, budget)
    assert again.ended == "hours" and not again.called


async def test_turns_tokens_and_money_end_an_attempt(bench: Benches) -> None:
    for ended, most, turns in (("turns", 3, 3), ("tokens", 400, 4), ("money", 1.0, 2)):
        limits = {ended: most}
        here = bench(name=ended)
        model = ListedModel([says("", write("a.txt"))], here.clock)
        budget = here.budget(**limits)
        rollout = await Native(here.player(model)).run(PROMPT, here.toolset, here.history, budget)
        assert (rollout.ended, budget.turns, len(rollout.called)) == (ended, turns, turns)


async def test_a_long_conversation_is_compacted_and_the_task_and_facts_stay(bench: Benches) -> None:
    here = bench()
    replies = [says("", ("save_memory", '{"fact": "the port is 8080"}'))]
    replies += [says("", write(f"f{n}.txt", "word " * 50)) for n in range(30)]
    model = ListedModel([*replies, says("Done.")], here.clock)
    rollout = await Native(here.player(model, context=3000)).run(PROMPT, here.toolset, here.history, here.budget())
    events = [event for event in rollout.events if isinstance(event, Compacted)]
    assert rollout.ended == "done" and len(events) >= 2
    assert all(event.tokens_after < event.tokens_before for event in events)
    for request in model.asked:
        texts = [message.text for message in request.messages]
        assert texts.count(PROMPT.text) == 1
        ids = [message.role for message in request.messages]
        assert all(ids[at - 1] in ("assistant", "tool") for at, role in enumerate(ids) if role == "tool")
    assert "the port is 8080" in model.asked[-1].messages[1].text


async def test_a_conversation_that_the_model_refuses_is_compacted_until_nothing_is_left(bench: Benches) -> None:
    here = bench()
    model = ListedModel(
        [says("", write(f"f{n}.txt")) for n in range(12)] + [says("Done.")], here.clock, most_messages=9
    )
    rollout = await Native(here.player(model)).run(PROMPT, here.toolset, here.history, here.budget())
    assert rollout.ended == "done" and any(isinstance(event, Compacted) for event in rollout.events)
    never = ListedModel([says("Done.")], here.clock, most_messages=1)
    here.history.clear()
    rollout = await Native(here.player(never)).run(PROMPT, here.toolset, here.history, here.budget())
    assert (rollout.ended, rollout.status) == ("context_overflow", "agent_error")


async def test_cut_off_replies_are_told_and_end_the_attempt_in_the_end(bench: Benches) -> None:
    here = bench()
    model = ListedModel([says("long", finish="length")], here.clock)
    rollout = await Native(here.player(model)).run(PROMPT, here.toolset, here.history, here.budget())
    assert (rollout.ended, rollout.status, len(rollout.said)) == ("truncations", "agent_error", 2)
    assert here.history[-1].text == CUT_OFF


async def test_calls_in_a_text_are_read_where_the_model_file_says_so(bench: Benches) -> None:
    here = bench()
    text = '<tool_call>{"name": "write_file", "arguments": {"file_path": "a.txt", "content": "x"}}</tool_call>'
    model = ListedModel([says(text), says("Done.")], here.clock)
    player = here.player(model, text_calls=True)
    rollout = await Native(player).run(PROMPT, here.toolset, here.history, here.budget())
    assert here.files() == ["a.txt"] and len(rollout.called) == 1


async def test_a_plan_without_tools_writes_its_files(bench: Benches) -> None:
    here = bench()
    plan = {"files": [{"path": "a.txt", "content": "x"}, {"path": "b.bin", "encoding": "base64", "content": "AAE="}]}
    model = ListedModel([says(f"Here it is:\n```json\n{json.dumps(plan)}\n```")], here.clock)
    rollout = await JsonPlan(here.player(model)).run(PROMPT, here.toolset, here.history, here.budget())
    assert here.files() == ["a.txt", "b.bin"] and rollout.status == "ok" and model.asked[0].tools == ()
    assert here.toolset.desk.workspace.read("b.bin") == b"\0\1"
    for text in ("no plan", '{"files": 3}', '{"files": [{"path": "x"}]}', "{broken}"):
        bad = ListedModel([says(text)], here.clock)
        rollout = await JsonPlan(here.player(bad)).run(PROMPT, here.toolset, here.history, here.budget())
        assert (rollout.status, rollout.called) == ("agent_error", []) and rollout.reason
