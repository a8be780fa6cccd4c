"""The loop around a model, with replies from a script: what is sent, what is carried out, how it ends."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from agenthard.ace.environment import Budgets, Environment, Mode
from agenthard.ace.environment.prompts import CUT_OFF, GO_ON
from agenthard.ace.session import AceSession
from agenthard.models.errors import (
    BadRequestError,
    BudgetExhaustedError,
    ContextOverflowError,
    MalformedReplyError,
    MissingKeyError,
    ModelError,
    RateLimitError,
    ServerError,
    WrongKeyError,
)
from agenthard.models.request import Call, ChatMessage, Completion, Finish, Reply, Request, Sampling, Usage
from agenthard.play.llm import LlmSettings, first_request, play, trial_seed
from agenthard.taxonomy.trajectory import Trajectory
from tests.ace.environment import small

SETTINGS = LlmSettings(model="openai/some-model")
UPPER, LOWER = {**small.UPPER, "id": "C11"}, {**small.LOWER, "id": "C21"}


class Script:
    """Answers requests with the replies of a list, and notes the requests."""

    def __init__(self, *replies: Reply | ModelError, cost: float | None = 0.25) -> None:
        self.requests: list[Request] = []
        self.asked_for: set[tuple[str, str]] = set()
        self._replies = replies
        self._cost = cost

    async def complete(self, request: Request, *, purpose: str, owner: str) -> Completion:
        reply = self._replies[min(len(self.requests), len(self._replies) - 1)]
        self.requests.append(request)
        self.asked_for.add((purpose, owner))
        if isinstance(reply, ModelError):
            raise reply
        return Completion(reply=reply, attempts=2, cost=self._cost)


def say(text: str = "", *calls: tuple[str, Any], finish: Finish | None = None, **more: Any) -> Reply:
    """A reply; arguments that are text are sent as they are."""
    written = tuple(
        Call(id=f"id_{n}", name=name, arguments=given if isinstance(given, str) else json.dumps(given))
        for n, (name, given) in enumerate(calls)
    )
    message = ChatMessage(role="assistant", text=text, calls=written, **more)
    usage = Usage(prompt_tokens=100, completion_tokens=10, cached_tokens=60, reasoning_tokens=4)
    return Reply(message=message, finish=finish or ("tool_calls" if calls else "stop"), usage=usage)


DONE = say("", ("done", {}))
SOLVE = say("", ("set_slot", UPPER), ("set_slot", LOWER))


async def played(
    script: Script, settings: LlmSettings = SETTINGS, environment: Environment | None = None, trial: int = 0
) -> Trajectory:
    return await play(script, settings, AceSession(environment or Environment(small.puzzle())), trial, agent="m")


def answers(run: Trajectory) -> list[str]:
    return [message.content for message in run.messages if message.role == "tool"]


async def test_the_first_request_is_the_papers() -> None:
    script = Script(DONE)
    await played(script)
    (request,) = script.requests
    assert request == first_request(SETTINGS, AceSession(Environment(small.puzzle())))
    assert [message.role for message in request.messages] == ["system", "user"]
    assert (request.model, request.tool_choice, request.sample) == ("openai/some-model", "auto", 0)
    assert (request.sampling.max_output_tokens, request.sampling.seed) == (16_384, 670_487)
    tools = Environment(small.puzzle()).tools(shuffle=670_487)
    assert [tool.name for tool in request.tools] == [tool.name for tool in tools]
    assert request.tools[0].parameters["additionalProperties"] is False
    assert script.asked_for == {("agent", "m/course_r2_c2_h2_b2//0")}


def test_seeds_of_trials_are_those_of_the_released_code() -> None:
    # What random.seed(42) and randint(0, 1000000) give.
    assert [trial_seed(42, trial) for trial in range(3)] == [670_487, 116_739, 26_225]


async def test_trials_differ_and_repetitions_do_not() -> None:
    scripts = [Script(SOLVE, DONE) for _ in range(3)]
    runs = [await played(script, trial=trial) for script, trial in zip(scripts, (0, 0, 1), strict=True)]
    first, again, other = ([request.digest for request in script.requests] for script in scripts)
    assert first == again and not set(first) & set(other)
    assert runs[0].model_dump_json() == runs[1].model_dump_json() and runs[2].trial == 1


async def test_a_solved_instance_with_its_counts() -> None:
    run = await played(Script(SOLVE, say("Ready.", ("done", {}))))
    assert (run.status, run.ending, run.score, run.passed) == ("ok", "done", 1.0, True)
    assert run.usage == {
        **{"turns": 2, "messages": 7, "calls": 3, "malformed": 0, "failed_calls": 0, "queries": 0, "global_checks": 0},
        **{"truncations": 0, "prompt_tokens": 200, "completion_tokens": 20, "cached_tokens": 120},
        **{"reasoning_tokens": 8, "cost": 0.5, "requests": 4},
    }
    assert [m.role for m in run.messages] == ["system", "user", "assistant", "tool", "tool", "assistant", "tool"]
    assert run.messages[2].tool_calls[0].arguments == UPPER and run.messages[3].tool_call_id == "id_0"


async def test_without_a_price_there_is_no_cost() -> None:
    assert "cost" not in (await played(Script(DONE, cost=None))).usage


async def test_what_the_provider_wants_back_is_sent_back() -> None:
    script = Script(say("Hm.", ("set_slot", UPPER), reasoning="thoughts", provider_state='{"signature": "x"}'), DONE)
    run = await played(script)
    sent = script.requests[1].messages
    assert (sent[2].reasoning, sent[2].provider_state) == ("thoughts", '{"signature": "x"}')
    assert (sent[3].role, sent[3].call_id, sent[3].tool_name) == ("tool", "id_0", "set_slot")
    assert json.loads(sent[3].text)["data"]["message"] == "Hidden slot updated."
    assert "thoughts" not in run.model_dump_json()


@pytest.mark.parametrize(("mode", "score"), [(Mode.PAPER, 0.0), (Mode.REFERENCE, 1.0)])
async def test_done_ends_the_episode_wherever_it_stands_in_a_reply(mode: Mode, score: float) -> None:
    reply = say("", ("set_slot", UPPER), ("done", {}), ("set_slot", LOWER), ("get_current_grid_state", {}))
    script = Script(reply)
    run = await played(script, environment=Environment(small.puzzle(), mode=mode))
    # In paper mode nothing changes after `done`; the released code carries out the rest of the reply.
    assert (len(script.requests), run.ending, run.score) == (1, "done", score)
    assert len(answers(run)) == 4


async def test_done_that_fails_does_not_end_it() -> None:
    environment = Environment(small.puzzle(), failure_rate=1.0)
    run = await played(Script(DONE), SETTINGS.model_copy(update={"max_turns": 5}), environment)
    assert (run.ending, run.usage["turns"], run.usage["failed_calls"]) == ("max_steps", 5, 5)


async def test_identical_calls_are_carried_out_once_until_the_grid_changes() -> None:
    check = ("check_course_global_constraints", {})
    wrong = {**small.LOWER, "id": "C22"}
    reply = say("", ("set_slot", UPPER), ("set_slot", wrong), check, check, ("set_slot", LOWER), check)
    run = await played(Script(reply, DONE), environment=Environment(small.puzzle(), budgets=Budgets.UNLIMITED))
    valid = [json.loads(text)["data"].get("is_valid") for text in answers(run)]
    assert valid == [None, None, False, False, None, True, None]
    assert (run.usage["global_checks"], run.usage["calls"]) == (2, 6)


@pytest.mark.parametrize("mode", list(Mode))
async def test_arguments_that_are_no_json_are_answered_and_counted(mode: Mode) -> None:
    replies = [say("", ("set_slot", '{"row": 0, "co')), say("", ("set_slot", '{"row": 0}')), DONE]
    run = await played(Script(*replies), environment=Environment(small.puzzle(), mode=mode))
    assert (run.usage["malformed"], run.usage["calls"], run.ending) == (2, 1, "done")
    assert "Tool arguments parse failed" in answers(run)[0] and "missing 1 required" in answers(run)[1]
    assert run.messages[2].tool_calls[0].text == '{"row": 0, "co'


async def test_half_a_surrogate_pair_harms_no_record() -> None:
    run = await played(Script(say("", ("set_slot", '{"row": 0, "col": 1, "id": "\\ud800"}')), DONE))
    assert Trajectory.model_validate_json(run.model_dump_json()).messages == run.messages


async def test_an_unknown_tool_is_refused_and_the_episode_goes_on() -> None:
    run = await played(Script(say("", ("fly", {}), ("query_meal_candidate_from_attribute", {})), DONE))
    assert [json.loads(text)["messages"] for text in answers(run)[:2]] == [
        "Unknown tool",
        "This tool is from other domain, not this domain",
    ]
    assert run.ending == "done"


@pytest.mark.parametrize(("allowed", "replies"), [(3, 4), (2, 3), (0, 1)])
async def test_too_many_overruns_fail_a_run_whatever_its_grid(allowed: int, replies: int) -> None:
    cut = say("Let me see", ("set_slot", {**UPPER, "id": None}), finish="length")
    script = Script(SOLVE, cut)
    run = await played(script, SETTINGS.model_copy(update={"max_truncations": allowed}))
    assert (run.ending, run.status, run.score, run.passed) == ("truncations", "ok", 1.0, False)
    assert run.usage["truncations"] == replies == len(script.requests) - 1
    assert run.usage["calls"] == 2  # those of a reply that was cut off do not count


async def test_an_overrun_that_is_forgiven() -> None:
    script = Script(say("", ("done", {}), finish="length"), SOLVE, DONE)
    run = await played(script)
    assert (run.ending, run.passed, run.usage["truncations"]) == ("done", True, 1)
    # The reply was empty but for its call, so only the notice is sent.
    assert [message.text for message in script.requests[1].messages[2:]] == [CUT_OFF]


async def test_a_reply_without_a_call_is_answered_with_a_reminder() -> None:
    script = Script(say("The answer is C11."), SOLVE, DONE)
    run = await played(script)
    sent = script.requests[1].messages[2:]
    assert [(message.role, message.text) for message in sent] == [("assistant", "The answer is C11."), ("user", GO_ON)]
    assert run.passed and run.usage["turns"] == 3


async def test_a_model_that_only_refuses_is_given_up() -> None:
    script = Script(SOLVE, say("I cannot help with that.", finish="refusal"))
    run = await played(script, SETTINGS.model_copy(update={"max_idle": 2}))
    assert (len(script.requests), run.ending, run.status, run.passed) == (4, "open", "ok", True)


async def test_the_limit_of_turns() -> None:
    script = Script(SOLVE, say("", ("get_current_grid_state", {})))
    run = await played(script, SETTINGS.model_copy(update={"max_turns": 4}))
    assert (len(script.requests), run.ending, run.passed) == (4, "max_steps", True)


async def test_a_conversation_that_outgrows_the_model_is_scored() -> None:
    run = await played(Script(SOLVE, ContextOverflowError("too long")))
    assert (run.ending, run.status, run.status_reason) == ("context_overflow", "agent_error", "too long")
    assert (run.score, run.passed, run.usage["requests"]) == (1.0, True, 2)


@pytest.mark.parametrize(
    "error", [RateLimitError("busy"), ServerError("gone"), BadRequestError("no"), MalformedReplyError("odd")]
)
async def test_a_request_that_cannot_be_answered_gives_no_verdict(error: ModelError) -> None:
    run = await played(Script(SOLVE, error))
    assert (run.ending, run.status, run.passed, run.score) == ("error", "infrastructure_error", None, 1.0)
    assert run.status_reason == f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("error", [WrongKeyError("401"), BudgetExhaustedError("spent"), MissingKeyError("none")])
async def test_what_concerns_more_than_this_episode_is_passed_on(error: ModelError) -> None:
    with pytest.raises(type(error)):
        await played(Script(SOLVE, error))


def written(name: str, arguments: dict[str, Any]) -> str:
    return f"<tool_call>{json.dumps({'name': name, 'arguments': arguments})}</tool_call>"


async def test_calls_in_text_are_read_only_where_that_is_asked_for() -> None:
    replies: Sequence[Reply] = [
        say(written("set_slot", UPPER) + written("set_slot", LOWER), reasoning=written("done", {})),
        say(written("done", {})),
    ]
    script = Script(*replies)
    run = await played(script, SETTINGS.model_copy(update={"text_calls": True}))
    assert (run.ending, run.passed, run.usage["calls"]) == ("done", True, 3)
    assert [call.id for message in run.messages for call in message.tool_calls] == ["text_0", "text_1", "text_2"]
    sent = script.requests[1].messages[2:]
    assert [message.role for message in sent] == ["assistant", "user", "user"]
    assert sent[1].text.startswith("<tool_response>\n{")
    ignored = await played(Script(*replies), SETTINGS.model_copy(update={"max_idle": 1}))
    assert (ignored.ending, ignored.usage["calls"]) == ("open", 0)


async def test_the_model_files_sampling_is_kept_but_for_the_seed() -> None:
    script = Script(DONE)
    sampling = Sampling(temperature=0.6, max_output_tokens=99, seed=1)
    await played(script, SETTINGS.model_copy(update={"sampling": sampling}))
    assert script.requests[0].sampling == Sampling(temperature=0.6, max_output_tokens=99, seed=670_487)


async def test_reference_mode_shows_its_own_schemas() -> None:
    script = Script(DONE)
    await played(script, environment=Environment(small.puzzle(), mode=Mode.REFERENCE))
    assert all("kwargs" in tool.parameters["required"] for tool in script.requests[0].tools)
