"""Scripts, overlays, replays and programs; and a play that is told again from its journal."""

import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from agenthard.agency.scaffolds import Prompt
from agenthard.agency.scaffolds.command import CommandLine, CommandLineError
from agenthard.agency.scaffolds.native import Native
from agenthard.agency.scaffolds.script import Script, Scripted, ScriptedCall, ScriptError, read_script, solution_script
from agenthard.play.journal import JournalError, MemoryJournal
from tests.agency.scaffolds.conftest import Bench, ListedModel, says
from tests.agency.scaffolds.test_native import write

PROMPT = Prompt(task_id="a/t1", attempt=0, text="Do it.")
Benches = Callable[..., Bench]


async def test_an_overlay_is_written_and_then_its_commands_run(bench: Benches, tmp_path: Path) -> None:
    place = tmp_path / "solution" / "t1"
    (place / "bin").mkdir(parents=True)
    (place / "bin/run.sh").write_text("#!/bin/sh\necho ran\n")
    (place / "bin/run.sh").chmod(0o755)
    (place / "data").write_bytes(b"\xff\0")
    (place / "commands.json").write_text('["bin/run.sh > out.txt"]')
    here = bench()
    script = solution_script(tmp_path / "solution", ["a/t1", "a/t2"])
    rollout = await Scripted(script).run(PROMPT, here.toolset, here.history, here.budget())
    workspace = here.toolset.desk.workspace
    assert workspace.read("out.txt") == b"ran\n" and workspace.read("data") == b"\xff\0"
    assert rollout.ended == "done" and "commands.json" not in here.files()
    none = await Scripted(script).run(Prompt(task_id="a/t2", attempt=0, text=""), here.toolset, [], here.budget())
    assert none.ended == "no_script"


def test_a_script_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    for text in ("", "[]", '{"tasks": 3}', '{"tasks": {"t": [[{"tool": "x"}]]}}'):
        (tmp_path / "s.json").write_text(text)
        with pytest.raises(ScriptError):
            read_script(tmp_path / "s.json")
    (tmp_path / "agent.sh").write_text("")
    for line in ("", "'open", f"sh {tmp_path}/agent.sh"):
        with pytest.raises(CommandLineError):
            CommandLine(line)


async def test_the_journal_repeats_nothing_and_notices_another_play(bench: Benches) -> None:
    journal = MemoryJournal()
    calls = tuple(
        ScriptedCall(name="run_shell_command", arguments={"command": f"date +%N > f{n}; echo {n}"}) for n in range(3)
    )
    script = Script(tasks={"a/t1": (calls,)})
    first = bench(journal, "first")
    rollout = await Scripted(script).run(PROMPT, first.toolset, [], first.budget())
    entries = len(journal.entries())
    again = bench(journal, "first")
    assert await Scripted(script).run(PROMPT, again.toolset, [], again.budget()) == rollout
    assert len(journal.entries()) == entries and again.steps.repeated == 3
    assert again.toolset.desk.workspace.snapshot == first.toolset.desk.workspace.snapshot
    other = bench(journal, "first")
    with pytest.raises(JournalError):
        await Scripted(Script(tasks={"a/t1": (calls[::-1],)})).run(PROMPT, other.toolset, [], other.budget())


async def test_a_call_that_was_cut_off_is_said_to_be_and_its_effects_are_undone(bench: Benches) -> None:
    journal = MemoryJournal()
    model = [says("", write("a.txt")), says("", ("run_shell_command", '{"command": "echo x > b.txt"}')), says("Done.")]
    first = bench(journal, "first")
    await Native(first.player(ListedModel(model, first.clock))).run(PROMPT, first.toolset, [], first.budget())
    begun = [n for n, entry in enumerate(journal.entries()) if json.loads(entry)["done"] is False]
    cut = MemoryJournal(journal.entries()[: begun[1] + 1])
    second = bench(cut, "first")
    left = ListedModel([says("Done.")], second.clock)
    rollout = await Native(second.player(left)).run(PROMPT, second.toolset, [], second.budget())
    assert [event.result.trouble for event in rollout.called] == [None, "interrupted"]
    assert second.files() == ["a.txt"] and len(left.asked) == 1
    assert "interrupted" in left.asked[0].messages[-1].text


async def test_a_program_plays_an_attempt(bench: Benches) -> None:
    here = bench()
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        program = Path(folder) / "agent.py"
        program.write_text("import os\nopen('said.txt', 'w').write(os.environ['AGENTHARD_PROMPT'])\n")
        scaffold = CommandLine(f"/usr/bin/env python3 {program}")
        rollout = await scaffold.run(PROMPT, here.toolset, [], here.budget())
    assert (rollout.ended, rollout.status) == ("done", "ok"), rollout
    assert here.toolset.desk.workspace.read("said.txt") == b"Do it."
    failed = await CommandLine("/bin/false").run(PROMPT, here.toolset, [], here.budget())
    assert (failed.ended, failed.status, failed.reason) == ("crashed", "agent_error", "exit code: 1")
