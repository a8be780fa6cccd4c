"""The training loop of the docs, with rooms, ACE-Bench and a scenario."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agenthard.ace.generator import Parameters as AceParameters
from agenthard.agency import packs as installed
from agenthard.agency.suite_files import write_suite as write_scenarios
from agenthard.audit.sources.registry import open_source
from agenthard.flows.ace_generation import SuiteFormat, write_suite
from agenthard.flows.cli import app
from agenthard.flows.evaluation.benchmark import open_benchmark
from agenthard.models.request import Call
from agenthard.taxonomy.task import ToolCall
from tests.agency import tiny

SMALL = AceParameters(
    rows=3, cols=3, hidden_slots=(1,), decoy_budgets=(0,), candidates=6, domains=("course",), per_cell=1
)


def call(name: str, **arguments: Any) -> Call:
    return Call(id=name, name=name, arguments=json.dumps(arguments))


def as_call(given: ToolCall) -> Call:
    return call(given.name, **given.arguments)


def test_a_scenario_gives_the_score_of_each_attempt(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(installed, "_targets", lambda: iter([tiny.__name__]))
    installed.packs.cache_clear()
    write_scenarios([installed.pack_of(tiny)], tmp_path / "suite")
    (task,) = open_benchmark("agency", str(tmp_path / "suite"), {"rounds": "1"}, 0).tasks()
    game = task.training()  # type: ignore[attr-defined]
    for _ in range(2):
        start = game.reset()
        assert "Task 1 of 2" in start.messages[1].content and "run_shell_command" in {t.name for t in start.tools}
        script = Path(tiny.__file__).parent / "solutions/reference/one/sum.sh"
        said = game.step(calls=[call("write_file", file_path="sum.sh", content=script.read_text())])
        assert said.messages[0].role == "tool" and (said.reward, said.done) == (0, False)
        half = game.step("Done.")
        assert (half.reward, half.done) == (0.75, False) and "Task 2 of 2" in half.messages[0].content
        wrong = game.step("Done.")
        assert (wrong.reward, wrong.done) == (0, False) and "tried this task before" in wrong.messages[0].content
        game.step(calls=[call("run_shell_command", command='echo "{\\"total\\": $(sh sum.sh)}" > report.json')])
        last = game.step("Done.")
        assert (last.reward, last.done, last.messages) == (1.0, True, ())
        with pytest.raises(RuntimeError):
            game.step("more")
    game.reset()
    game.close()
    installed.packs.cache_clear()


@pytest.mark.parametrize("benchmark", ["ace", "escape"])
def test_the_reference_solution_of_a_session_earns_the_reward(benchmark: str, tmp_path: Path) -> None:
    suite = tmp_path / "suite"
    if benchmark == "ace":
        write_suite(SMALL, suite, SuiteFormat.JSONL)
    else:
        done = CliRunner().invoke(app, ["escape", "generate", "--out", str(suite), "-n", "5", "--rooms", "1"])
        assert done.exit_code == 0, done.output
    reference = {task.id: task for task in open_source(benchmark, suite).read_tasks()[0]}
    for task in open_benchmark(benchmark, str(suite), {}, 0).tasks():
        game = task.training()  # type: ignore[attr-defined]
        for _ in range(2):
            assert [message.role for message in game.reset().messages] == ["system", "user"]
            said = game.step("I think.")
            assert (said.messages[0].role, said.reward, said.done) == ("user", 0.0, False)
            steps = [game.step(calls=[as_call(given)]) for _, given in reference[task.id].gold_calls()]
            steps += [] if steps[-1].done else [game.step(calls=[call("done")])]
            assert [step.reward for step in steps] == [0.0] * (len(steps) - 1) + [1.0] and steps[-1].done
            with pytest.raises(RuntimeError):
                game.step()
