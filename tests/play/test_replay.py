"""Recorded runs of rooms played again: equal under equal conditions, answered anew under others."""

import gzip
from pathlib import Path

import pytest

from agenthard.escape.agents import find
from agenthard.escape.environment import Environment
from agenthard.escape.evaluation import EscapeConditions, EscapeTask
from agenthard.escape.session import EscapeSession
from agenthard.models.request import Call, ChatMessage, Completion, Reply, Request
from agenthard.play.ending import UNPLAYABLE
from agenthard.play.llm import LlmSettings
from agenthard.play.llm import play as converse
from agenthard.play.registry import UnknownAgentError
from agenthard.taxonomy.trajectory import Trajectory
from tests.escape.made import play, rooms

RECORDED = ("id", "model", "usage")


def kept(path: Path, *runs: Trajectory) -> str:
    text = "".join(run.model_dump_json() + "\n" for run in runs)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return f"replay:{path}"


@pytest.mark.parametrize("agent", ["story", "greedy", "random", "oracle+malformed:0.3", "oracle+give-up:0.3"])
@pytest.mark.parametrize("name", ["runs.jsonl", "runs.jsonl.gz"])
def test_a_recorded_run_is_the_same_again(tmp_path: Path, agent: str, name: str) -> None:
    runs = [play(agent, instance, trial) for instance in rooms()[:4] for trial in (0, 1)]
    again = kept(tmp_path / name, *runs)
    for run in runs:
        instance = next(each for each in rooms() if each.id == run.task_id)
        found = play(again, instance, run.trial)
        assert found.model_dump(exclude=set(RECORDED)) == run.model_dump(exclude=set(RECORDED))
        assert found.usage.pop("changed_answers") == 0
        assert found.usage | {"malformed": 0} == run.usage | {"malformed": 0}


def test_other_conditions_answer_anew(tmp_path: Path) -> None:
    instance = rooms()[0]
    run = play("greedy", instance)
    again = kept(tmp_path / "runs.jsonl", run)
    silent = play(again, instance, feedback="none")
    assert silent.usage["changed_answers"] > 0 and silent.passed == run.passed
    short = play(again, instance, turns=2)
    assert (short.ending, short.passed, short.usage["turns"]) == ("max_steps", False, 2)
    task = EscapeTask(instance.id, instance, EscapeConditions(), 42)
    assert task.play(again, "", 0.9, 0).usage["failed_calls"] > 0


async def test_replies_of_a_model_without_calls_and_cut_off_ones_are_repeated(tmp_path: Path) -> None:
    look = Call(id="c", name="investigate", arguments="{not json")
    replies = [
        Reply(message=ChatMessage(role="assistant", text="Hm."), finish="stop"),
        Reply(message=ChatMessage(role="assistant", text="So"), finish="length"),
        Reply(message=ChatMessage(role="assistant", text="", calls=(look,)), finish="tool_calls"),
        Reply(message=ChatMessage(role="assistant", text="So"), finish="length"),
    ]

    class Script:
        async def complete(self, request: Request, *, purpose: str, owner: str) -> Completion:
            return Completion(reply=replies.pop(0), attempts=1, cost=0.0)

    instance = rooms()[0]
    settings = LlmSettings(model="openai/some-model", max_truncations=1)
    session = EscapeSession(Environment(instance), instance.id, instance.room.theme)
    run = await converse(Script(), settings, session)
    assert run.ending == "truncations" and run.usage["malformed"] == 1
    found = play(kept(tmp_path / "runs.jsonl", run), instance)
    assert (found.messages, found.ending, found.passed) == (run.messages, run.ending, run.passed)
    assert found.usage["malformed"] == 1 and found.usage["truncations"] == 2 and found.usage["changed_answers"] == 0


def test_a_room_without_a_recorded_run_has_no_verdict(tmp_path: Path) -> None:
    again = kept(tmp_path / "runs.jsonl", play("story", rooms()[0]))
    lost = play(again, rooms()[1])
    assert (lost.status, lost.passed, lost.ending) == ("infrastructure_error", None, UNPLAYABLE)
    assert "no run is recorded" in lost.status_reason


def test_runs_of_several_models_are_told_apart_by_name(tmp_path: Path) -> None:
    runs = [play(agent, rooms()[0]) for agent in ("story", "oracle+give-up:0.3")]
    again = kept(tmp_path / "runs.jsonl", *runs)
    with pytest.raises(UnknownAgentError, match="oracle\\+give-up:0.3, story; write replay:.*#MODEL"):
        find(again)
    assert play(f"{again}#oracle+give-up:0.3", rooms()[0]).messages == runs[1].messages


@pytest.mark.parametrize("text", ["", "{\n", "no file"])
def test_a_file_without_runs_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "runs.jsonl"
    if text != "no file":
        path.write_text(text)
    with pytest.raises(UnknownAgentError, match=r"runs\.jsonl"):
        find(f"replay:{path}")


def test_two_runs_of_one_task_and_trial_are_refused(tmp_path: Path) -> None:
    run = play("story", rooms()[0])
    with pytest.raises(UnknownAgentError, match="several runs of one task and trial"):
        find(kept(tmp_path / "runs.jsonl", run, run))
