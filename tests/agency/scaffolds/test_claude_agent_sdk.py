"""The real program of the Claude Agent SDK: what it adds to a conversation, what it can reach, and how it ends."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agenthard.agency.packs import pack_of
from agenthard.agency.scaffolds import Prompt, Rollout
from agenthard.agency.scaffolds.claude import gateway, program
from agenthard.agency.scaffolds.claude.attempt import ClaudeProgramError
from agenthard.agency.scaffolds.claude.scaffold import ClaudeAgentSdk
from agenthard.agency.scaffolds.rollout import Told
from agenthard.agency.suite_files import write_suite
from agenthard.flows.evaluation.settings import EvaluationSettings
from agenthard.models.errors import BadRequestError
from agenthard.models.model_file import load_model
from agenthard.models.request import Completion, Request
from agenthard.play.journal import JournalError, MemoryJournal
from tests.agency import paged
from tests.agency.scaffolds.conftest import Bench, ListedModel, says
from tests.agency.test_kills import outline, rollouts, told_again
from tests.flows.evaluation.conftest import evaluated, model_path
from tests.loopback import Loopback
from tests.loopback.agency_brain import works
from tests.loopback.fixtures import LoopbackProcess

ROOT = Path(__file__).parents[3]
PROMPT = Prompt(task_id="t", attempt=0, text="Task: write a file.")
Benches = Callable[..., Bench]
Start = Callable[..., LoopbackProcess]


def write(path: str) -> tuple[str, str]:
    return "write_file", json.dumps({"file_path": path, "content": "x"})


async def played(here: Bench, model: ListedModel, text_calls: bool = False) -> Rollout:
    player = here.player(model, text_calls=text_calls)
    return await ClaudeAgentSdk(player).run(PROMPT, here.toolset, here.history, here.budget())


def told(rollout: Rollout) -> list[str]:
    return [event.text for event in rollout.events if isinstance(event, Told) and event.by == "harness"]


def programs(parent: int | None = None) -> Iterator[Path]:
    """Yield the places in /proc of programs of the SDK, of one parent or of all."""
    for place in Path("/proc").iterdir():
        try:
            if not place.name.isdigit() or b"/_bundled/claude\x00" not in (place / "cmdline").read_bytes():
                continue
            if parent is None or int((place / "stat").read_text().rpartition(")")[2].split()[1]) == parent:
                yield place
        except OSError:
            continue


async def test_a_reply_that_was_cut_off_is_continued_and_its_calls_are_not_made(bench: Benches) -> None:
    here = bench()
    model = ListedModel([says("cut", write("a"), finish="length"), says("", finish="length")], here.clock)
    rollout = await played(here, model)
    assert (rollout.ended, rollout.status) == ("truncations", "agent_error") and not rollout.called
    assert len(told(rollout)) == 1 and "limit" in told(rollout)[0]
    assert [each.role for each in model.asked[1].messages] == ["system", "user", "assistant", "user"]
    again = bench(name="again")
    rollout = await played(again, ListedModel([says("cut", finish="length"), says("Done.")], again.clock))
    assert rollout.ended == "done" and [said.text for said in rollout.said] == ["cut", "Done."]


@pytest.mark.parametrize(("text", "finish"), [("", "stop"), ("", "refusal"), ("I will not.", "refusal")])
async def test_what_the_program_says_to_the_model_is_recorded(bench: Benches, text: str, finish: str) -> None:
    here = bench()
    model = ListedModel([says(text, finish=finish), says("Done.")], here.clock)
    rollout = await played(here, model)
    assert rollout.ended == "done" and [said.text for said in rollout.said] == [text, "Done."]
    assert told(rollout) and model.asked[1].messages[-1].text == told(rollout)[-1]


async def test_calls_in_texts_are_answered_in_texts(bench: Benches) -> None:
    here = bench()
    call = '<tool_call>{"name": "write_file", "arguments": {"file_path": "a", "content": "x"}}</tool_call>'
    model = ListedModel([says(call), says("Done.")], here.clock)
    rollout = await played(here, model, text_calls=True)
    assert rollout.ended == "done" and here.files() == ["a"]
    assert [(each.role, each.text) for each in model.asked[1].messages[2:]] == [
        ("assistant", call),
        ("user", "<tool_response>\nwrote 1 bytes to a\n</tool_response>"),
    ]


async def test_requests_do_not_depend_on_the_run_the_folder_or_the_machine(
    bench: Benches, monkeypatch: pytest.MonkeyPatch
) -> None:
    digests = []
    for name, host in (("one", "a"), ("two", "b")):
        monkeypatch.setenv("HOSTNAME", host)
        here = bench(name=name)
        model = ListedModel([says("a", write("a")), says(""), says("cut", finish="length"), says("Done.")], here.clock)
        assert (await played(here, model)).ended == "done"
        digests.append([request.digest for request in model.asked])
    assert len(digests[0]) == 4 and digests[0] == digests[1]


class Watching(ListedModel):
    """Looks at the program while it waits for a reply."""

    look: Callable[[Path], Any] = lambda place: None
    seen: list[Any]

    async def complete(self, request: Request, *, purpose: str, owner: str) -> Completion:
        self.seen = [*getattr(self, "seen", []), *(type(self).look(place) for place in programs(os.getpid()))]
        return await super().complete(request, purpose=purpose, owner=owner)


def remotes(place: Path) -> set[str]:
    """Addresses that a process is connected to, other than its own."""
    sockets = {os.readlink(link) for link in (place / "fd").iterdir() if link.is_symlink()}
    found = set()
    for table in ("tcp", "tcp6", "udp", "udp6"):
        for line in (place / "net" / table).read_text().splitlines()[1:]:
            fields = line.split()
            if f"socket:[{fields[9]}]" in sockets:
                found.add(fields[2].partition(":")[0])
    return found


def surroundings(place: Path) -> tuple[dict[str, str], set[str]]:
    variables = (place / "environ").read_bytes().decode().rstrip("\0").split("\0")
    return dict(each.split("=", 1) for each in variables), remotes(place)


async def test_the_program_has_no_secret_of_ours_and_reaches_nothing_but_the_gateway(
    bench: Benches, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "sk-other")
    monkeypatch.setenv("CLAUDE_CODE_USE_BEDROCK", "1")
    monkeypatch.setattr(Watching, "look", staticmethod(surroundings))
    opened: list[gateway.Gateway] = []
    monkeypatch.setattr(gateway.Gateway, "__aenter__", remembered(gateway.Gateway.__aenter__, opened))
    here = bench()
    model = Watching([says("", write("a")), says("Done.")], here.clock)
    assert (await played(here, model)).ended == "done"
    assert len(model.seen) == 2
    for variables, addresses in model.seen:
        assert not {"OPENAI_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK"} & variables.keys()
        assert variables["HOME"].startswith(str(Path(os.environ.get("TMPDIR", "/tmp")))) and "sk-" not in str(variables)
        assert addresses == {"0100007F"}  # 127.0.0.1, as Linux writes it
    assert [each.refused for each in opened] == [[]]
    assert not Path(model.seen[0][0]["HOME"]).exists() and not list(programs(os.getpid()))
    with pytest.raises(OSError):
        await asyncio.open_connection("127.0.0.1", int(opened[0].url.rpartition(":")[2]))


def remembered(real: Callable[[Any], Any], opened: list[gateway.Gateway]) -> Callable[[Any], Any]:
    async def enter(self: gateway.Gateway) -> gateway.Gateway:
        opened.append(self)
        await real(self)
        return self

    return enter


async def test_a_program_that_dies_leaves_no_verdict_and_says_why(
    bench: Benches, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Watching, "look", staticmethod(lambda place: os.kill(int(place.name), signal.SIGKILL)))
    here = bench()
    with pytest.raises(ClaudeProgramError, match="the program of the Claude Agent SDK"):
        await played(here, Watching([says("", write("a"))], here.clock))
    assert not list(programs(os.getpid())) and here.files() == []


async def test_a_request_that_is_not_understood_ends_the_play_with_what_it_was(
    bench: Benches, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tuple(name for name in program.SWITCHED_OFF if name != "CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS")
    monkeypatch.setattr(program, "SWITCHED_OFF", kept)
    here = bench()
    model = ListedModel([says("Done.")], here.clock)
    with pytest.raises(ClaudeProgramError, match="fields that are not supported: context_management"):
        await played(here, model)
    assert model.asked == []


async def test_a_program_that_offers_tools_of_its_own_is_stopped(
    bench: Benches, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = program._options

    def opened(*given: Any) -> Any:
        options = real(*given)
        options.tools = ["Bash"]
        return options

    monkeypatch.setattr(program, "_options", opened)
    here = bench()
    model = ListedModel([says("Done.")], here.clock)
    with pytest.raises(ClaudeProgramError, match=r"other tools are offered: \['Bash'\]"):
        await played(here, model)
    assert model.asked == []


class Slow(ListedModel):
    """Takes its time, and then may fail."""

    failure: Exception | None = None

    async def complete(self, request: Request, *, purpose: str, owner: str) -> Completion:
        completion = await super().complete(request, purpose=purpose, owner=owner)
        await asyncio.sleep(0.5)
        if self.failure is not None:
            raise self.failure
        return completion


@pytest.mark.parametrize("failure", [None, BadRequestError("too late")])
async def test_a_reply_that_takes_long_is_waited_for(
    bench: Benches, monkeypatch: pytest.MonkeyPatch, failure: Exception | None
) -> None:
    monkeypatch.setattr(gateway, "PING_SECONDS", 0.05)
    here = bench()
    model = Slow([says("", write("a")), says("Done.")], here.clock)
    model.failure = failure
    if failure is None:
        assert (await played(here, model)).ended == "done" and len(model.asked) == 2
    else:
        with pytest.raises(BadRequestError, match="too late"):
            await played(here, model)
        assert len(model.asked) == 1


async def test_an_attempt_that_is_given_up_leaves_nothing_behind(bench: Benches) -> None:
    here = bench()
    waiting = asyncio.Event()

    class Hanging(ListedModel):
        async def complete(self, request: Request, *, purpose: str, owner: str) -> Completion:
            waiting.set()
            await asyncio.sleep(3600)
            raise AssertionError

    playing = asyncio.create_task(played(here, Hanging([], here.clock)))
    await waiting.wait()
    playing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await playing
    for _ in range(100):
        if not list(programs(os.getpid())):
            break
        await asyncio.sleep(0.1)
    assert not list(programs(os.getpid()))
    assert {task for task in asyncio.all_tasks() if not task.done()} == {asyncio.current_task()}


async def test_a_journal_of_another_play_is_noticed(bench: Benches) -> None:
    here = bench()
    model = ListedModel([says("", write("a")), says("Done.")], here.clock)
    await played(here, model)
    entries = here.steps._journal.entries()
    other = PROMPT.model_copy(update={"text": "Another task."})
    there = bench(MemoryJournal(entries), name="there")
    with pytest.raises(JournalError):
        await ClaudeAgentSdk(there.player(model)).run(other, there.toolset, [], there.budget())


def test_without_the_extra_the_error_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['claude_agent_sdk'] = None\n"
        "from agenthard.agency.scaffolds import scaffold_of\n"
        "try: scaffold_of('claude-agent-sdk')\n"
        "except Exception as error: print(type(error).__name__, error)\n"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.startswith("PluginError") and 'pip install "agenthard[claude]"' in said


def turns(row: dict[str, Any]) -> int:
    return sum(event["kind"] == "said" for event in row["rollout"]["events"])


def settings_of(suite: Path, out: Path, model: Path) -> EvaluationSettings:
    return EvaluationSettings(
        benchmark="agency",
        path=str(suite),
        models=(load_model(str(model)),),
        axes={"scaffold": ("native", "claude-agent-sdk")},
        out=str(out),
    )


@pytest.mark.long
def test_a_scenario_is_played_as_by_the_native_loop(suite: Path, loopback: Loopback, keys: str, tmp_path: Path) -> None:
    loopback.service.brain = works
    settings = settings_of(suite, tmp_path / "out", model_path(tmp_path, loopback.url))
    outcome = evaluated(settings)
    assert outcome.complete
    rows = rollouts(tmp_path / "out")
    played: dict[str, list[object]] = {}
    for row in rows:
        outline = (row["task_id"], row["attempt"], row["after"], row["grade"], told_again(row["rollout"]["events"]))
        played.setdefault(row["condition"], []).append(outline)
    assert len(rows) == 8 and played["scaffold=native"] == played["scaffold=claude-agent-sdk"]
    (cost,) = outcome.costs
    assert (cost.purpose, cost.sent) == ("agent", sum(map(turns, rows)))  # the SDK's first line makes them different
    sent = loopback.counts["received"]
    again = settings.model_copy(
        update={"out": str(tmp_path / "again"), "cache": str(tmp_path / "out/work/replies.sqlite")}
    )
    assert evaluated(again).complete and loopback.counts["received"] == sent


KILLS = [("command", 0), ("request", 1), ("snapshot", 2), ("entry", 3)]
"""Moments of the rest of the play, one after the other: each play ends at one of them, and the next one continues."""


@pytest.mark.long
def test_a_killed_play_continues_and_nothing_is_repeated_or_paid_twice(
    keys: str, loopback_process: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = loopback_process(brain="tests.loopback.agency_brain:works", latency=0.02)
    model, suite = model_path(tmp_path, server.url), tmp_path / "suite"
    monkeypatch.setenv("DRIVE_OPTIONS", json.dumps({"scaffold": "claude_agent_sdk", "rounds": "1"}))
    write_suite([pack_of(paged)], suite)

    def play(out: str, *kill: object) -> int:
        command = [sys.executable, "-m", "tests.agency.drive", str(suite), str(tmp_path / out), str(model)]
        return subprocess.run([*command, *map(str, kill)], cwd=ROOT, stdout=subprocess.DEVNULL, check=False).returncode

    assert play("whole") == 0
    expected = outline(tmp_path / "whole")
    server.reset()
    kills = sum(play("killed", *kill) == -signal.SIGKILL for kill in KILLS)
    assert play("killed") == 0 and kills == len(KILLS)
    assert outline(tmp_path / "killed") == expected
    counts = server.counts
    paid, once = (sum(each["requests"] for each in counts[name].values()) for name in ("billed", "distinct"))
    assert paid - once <= kills  # a reply that was in flight at a kill is lost
    assert not [place for place in programs() if b"agenthard-claude-" in (place / "environ").read_bytes()]
