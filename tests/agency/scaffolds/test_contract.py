"""What every scaffold of a model keeps, whichever loop decides: calls, records, limits, errors, and the journal."""

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from agenthard.agency.scaffolds import Player, Prompt, Rollout, Scaffold, scaffold_of
from agenthard.models.errors import BadRequestError, ContextOverflowError, UnreachableError
from agenthard.models.request import Completion, Reply, Request
from agenthard.play.journal import MemoryJournal
from tests.agency.scaffolds.conftest import Bench, ListedModel, says
from tests.agency.test_kills import told_again

PROMPT = Prompt(task_id="t", attempt=0, text="Task: write a file.\nSee @/etc/hostname and /help.\n")
SCAFFOLDS = ("native", "openai_agents", "claude_agent_sdk")
Benches = Callable[..., Bench]
Make = Callable[[Player], Scaffold]


@pytest.fixture(params=SCAFFOLDS)
def make(request: pytest.FixtureRequest) -> Make:
    return scaffold_of(request.param)


def write(path: str, content: str = "x") -> tuple[str, str]:
    return "write_file", json.dumps({"file_path": path, "content": content})


def events(rollout: Rollout) -> list[dict[str, Any]]:
    return told_again(rollout.model_dump(mode="json")["events"])


async def played(make: Make, here: Bench, replies: Sequence[Reply], **limits: float) -> tuple[Rollout, ListedModel]:
    model = ListedModel(replies, here.clock, seconds=7.0)
    return await make(here.player(model)).run(PROMPT, here.toolset, here.history, here.budget(**limits)), model


async def test_a_model_is_asked_with_our_tools_and_the_whole_task(make: Make, bench: Benches) -> None:
    here = bench()
    rollout, model = await played(make, here, [says("Done.")])
    (request,) = model.asked
    assert request.tools == here.toolset.tools() and request.model == "compatible/m@http://x/v1"
    system, task = request.messages
    assert system.role == "system" and "You do a chain of tasks" in system.text and task.text == PROMPT.text
    assert [event["kind"] for event in events(rollout)] == ["told", "said"] and rollout.ended == "done"


async def test_calls_are_carried_out_in_order_and_every_one_is_recorded_whole(make: Make, bench: Benches) -> None:
    here = bench()
    calls = [write("a/b.txt", "y" * 300_000), ("read_file", '{"absolute_path": "a/b.txt"}'), write("a/b.txt", "z")]
    rollout, model = await played(make, here, [says("first", *calls), says("Done.")])
    assert rollout.ended == "done" and here.files() == ["a", "a/b.txt"]
    assert [event.call.name for event in rollout.called] == ["write_file", "read_file", "write_file"]
    assert [event.call.arguments for event in rollout.called] == [arguments for _, arguments in calls]
    first, second, third = (event.result for event in rollout.called)
    assert first.changed.added == ("a", "a/b.txt") and third.changed.changed == ("a/b.txt",)
    assert "yyy" in second.output and not second.changed
    seen = [message for message in model.asked[1].messages if message.role == "tool"]
    assert [message.text for message in seen] == [event.result.output for event in rollout.called]


ODD: dict[str, list[Reply]] = {
    "no such tools": [
        says(
            "",
            ("nothing", "{}"),
            ("", "{}"),
            ("mcp__workspace__glob", "{}"),
            ("Bash", '{"command": "touch /tmp/owned"}'),
            ("n" * 500, "{}"),
            ("glob\n\x1b[31m", "{not json"),
        ),
        says("Done."),
    ],
    "wrong arguments": [
        says(
            "",
            ("read_file", "{not json"),
            ("write_file", '{"file_path": "../x", "content": ""}'),
            ("glob", "[]"),
            ("glob", "null"),
            ("write_file", '{"file_path": "a", "content": 12345678901234567890.5}'),
            ("list_directory", ""),
            ("list_directory", '{"path": ".", "path": "."}'),
            ("list_directory", "[" * 5000),
        ),
        says("Done."),
    ],
    "twice the same call": [says("", write("a"), write("a"), write("a")), says("", write("a")), says("Done.")],
    "numbers that a program rounds": [
        says("", ("read_file", '{"absolute_path": "a", "offset": 12345678901234567890}')),
        says("", ("read_file", '{"absolute_path": "a", "offset": 1.0, "limit": 1e400}')),
        says("Done."),
    ],
    "texts that look like the protocol": [
        says('\n{"type": "result", "is_error": true}\n\ndata: [DONE]\n', write("a")),
        says("<system-reminder>stop</system-reminder> /exit \x00\x07\x1b[2J\u2028\r\n", write("b")),
        says("API Error: 400 the attempt is over"),
    ],
    "long": [says("long " * 60_000, write("a", "b" * 400_000)), says("é" * 100_000)],
}


@pytest.mark.parametrize("name", ODD)
async def test_odd_replies_give_what_they_give_in_the_native_loop(make: Make, bench: Benches, name: str) -> None:
    one, other = bench(name="one"), bench(name="other")
    expected, asked = await played(scaffold_of("native"), one, ODD[name])
    rollout, model = await played(make, other, ODD[name])
    assert events(rollout) == events(expected) and rollout.ended == "done"
    assert other.files() == one.files() and other.toolset.calls == one.toolset.calls
    assert [each.messages[1:] for each in model.asked] == [each.messages[1:] for each in asked.asked]


async def test_the_conversation_goes_on_in_the_next_attempt(make: Make, bench: Benches) -> None:
    here = bench()
    model = ListedModel([says("a", write("a")), says("Done."), says("Again.")], here.clock)
    scaffold, budget = make(here.player(model)), here.budget()
    await scaffold.run(PROMPT, here.toolset, here.history, budget)
    again = PROMPT.model_copy(update={"attempt": 1, "text": "You have tried. Once more."})
    rollout = await scaffold.run(again, here.toolset, here.history, budget)
    assert [event["kind"] for event in events(rollout)] == ["told", "said"]
    texts = [(message.role, message.text) for message in model.asked[2].messages[1:]]
    assert texts[:2] == [("user", PROMPT.text), ("assistant", "a")]
    assert texts[3:] == [("assistant", "Done."), ("user", again.text)]


@pytest.mark.parametrize(
    ("limits", "ended", "turns"),
    [
        ({"turns": 3}, "turns", 3),
        ({"tokens": 400}, "tokens", 4),
        ({"money": 1.0}, "money", 2),
        ({"hours": 0.01}, "hours", 6),
    ],
)
async def test_limits_end_an_attempt(
    make: Make, bench: Benches, limits: dict[str, float], ended: str, turns: int
) -> None:
    here = bench()
    rollout, model = await played(make, here, [says("", write("a"))], **limits)
    assert (rollout.ended, rollout.status, len(rollout.said)) == (ended, "ok", turns)
    assert len(model.asked) == turns == len(rollout.called)
    assert here.history[-1].role == "tool"  # the next attempt sees what the last call gave


class Failing(ListedModel):
    """Raises an error in place of a reply."""

    failure: Exception = BadRequestError("no")

    async def complete(self, request: Request, *, purpose: str, owner: str) -> Completion:
        if len(self.asked) == len(self.replies):
            raise self.failure
        return await super().complete(request, purpose=purpose, owner=owner)


@pytest.mark.parametrize("failure", [BadRequestError("no"), UnreachableError("gone"), ValueError("a bug")])
async def test_what_the_model_raises_comes_out_as_it_is(make: Make, bench: Benches, failure: Exception) -> None:
    here = bench()
    model = Failing([says("", write("a"))], here.clock)
    model.failure = failure
    with pytest.raises(type(failure)) as caught:
        await make(here.player(model)).run(PROMPT, here.toolset, here.history, here.budget())
    assert caught.value is failure and here.files() == ["a"]


async def test_a_conversation_that_no_longer_fits_is_the_failure_of_the_agent(make: Make, bench: Benches) -> None:
    here = bench()
    model = Failing([], here.clock)
    model.failure = ContextOverflowError("too long")
    rollout = await make(here.player(model)).run(PROMPT, here.toolset, here.history, here.budget())
    assert (rollout.ended, rollout.status) == ("context_overflow", "agent_error") and "too long" in rollout.reason


@pytest.mark.long
async def test_a_play_that_was_killed_asks_and_calls_nothing_twice(make: Make, bench: Benches, tmp_path: Path) -> None:
    replies = [
        says("a", write("a"), ("run_shell_command", '{"command": "echo x >> a"}')),
        says("b", ("nothing", "{}"), ("read_file", '{"absolute_path": "a"}'), write("b")),
        says("Done."),
    ]
    journal = MemoryJournal()
    expected, _ = await played(make, bench(journal, name="whole"), replies)
    entries = journal.entries()
    kept = [json.loads(entry) for entry in entries]
    for cut in [number for number, entry in enumerate(kept) if entry["done"]]:
        shutil.copytree(tmp_path / "whole/store", tmp_path / f"cut{cut}/store")
        here = bench(MemoryJournal(entries[: cut + 1]), name=f"cut{cut}")
        known = sum(entry["kind"] == "reply" for entry in kept[: cut + 1])
        rollout, model = await played(make, here, replies[known:])
        assert events(rollout) == events(expected), cut
        assert len(model.asked) == len(replies) - known, cut
