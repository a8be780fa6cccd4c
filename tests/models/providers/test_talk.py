"""What the three interfaces have in common: what is said, called, shown and counted survives the way there and back."""

import json

import pytest

from agenthard.models.errors import BadRequestError
from agenthard.models.request import Call, ChatMessage, OutputSchema, Sampling, Usage
from tests.loopback import Answer, Called, Loopback
from tests.loopback.brains import scripted
from tests.models.providers.talking import APIS, PIXEL, SECONDS, WEATHER, answer, ask, model_file, provider, user

pytestmark = [pytest.mark.usefixtures("keys"), pytest.mark.parametrize("api", APIS)]


async def test_text_and_what_was_sent(api: str, loopback: Loopback) -> None:
    file = model_file(api, loopback)
    sampling = Sampling(temperature=0.0, top_p=0.5, max_output_tokens=77, seed=42)
    talk = (
        ChatMessage(role="system", text="Be brief."),
        user("One"),
        ChatMessage(role="assistant", text="Two"),
        user("3"),
    )
    async with provider(file) as model:
        reply = await model.complete(ask(file, *talk, sampling=sampling), SECONDS)
    assert (reply.message.text, reply.finish, reply.message.calls) == ("You said: 3", "stop", ())
    assert reply.model_version == f"{file.parsed_name.name}-loopback"
    (heard,) = loopback.service.heard
    assert [(said.role, said.text) for said in heard.said] == [(m.role, m.text) for m in talk]
    assert (heard.model, heard.max_tokens) == (file.parsed_name.name, 77)
    assert heard.seed == (None if api == "responses" else 42)
    drawn = heard.body["generationConfig"] if api == "gemini" else heard.body
    assert (drawn["temperature"], drawn["topP" if api == "gemini" else "top_p"]) == (0.0, 0.5)


@pytest.mark.parametrize("reasoning", ["", "Rain or sun?"])
async def test_parallel_calls_and_their_answers(api: str, reasoning: str, loopback: Loopback) -> None:
    loopback.service.brain = scripted(
        [
            Answer(
                text="Looking.",
                calls=(Called("weather", {"city": "Łódź"}), Called("weather", {"city": "Bern"})),
                reasoning=reasoning,
            ),
            Answer(calls=(Called("weather", {"city": "Rome"}),), reasoning=reasoning),
            Answer(text="All dry."),
        ]
    )
    file = model_file(api, loopback)
    talk = [user("Where does it rain?")]
    async with provider(file) as model:
        for _ in range(2):
            reply = await model.complete(ask(file, *talk, tools=(WEATHER,)), SECONDS)
            assert reply.finish == "tool_calls"
            assert reply.message.reasoning == reasoning
            talk += [reply.message, *(answer(c, json.dumps({"sky": c.arguments})) for c in reply.message.calls)]
        last = await model.complete(ask(file, *talk, tools=(WEATHER,)), SECONDS)
    assert (last.message.text, last.finish) == ("All dry.", "stop")
    calls = [call for message in talk for call in message.calls]
    assert [json.loads(call.arguments) for call in calls] == [{"city": "Łódź"}, {"city": "Bern"}, {"city": "Rome"}]
    assert len({call.id for call in calls}) == 3
    # The server has checked ids, order, signatures and reasoning items (tests/loopback); and it heard every word.
    heard = loopback.service.heard[-1]
    assert [said.role for said in heard.said] == ["user", "assistant", "tool", "tool", "assistant", "tool"]
    assert [json.loads(c.text) for said in heard.said for c in said.calls] == [json.loads(c.arguments) for c in calls]
    assert [json.loads(said.text) for said in heard.said if said.tool] == [{"sky": c.arguments} for c in calls]
    assert loopback.counts["refused"] == 0


async def test_calls_from_elsewhere_can_be_continued(api: str, loopback: Loopback) -> None:
    file = model_file(api, loopback, "gemini-2.5-pro")
    call = Call(id="abc", name="weather", arguments='{"city": "Bern"}')
    foreign = ChatMessage(role="assistant", calls=(call,), provider_state='{"elsewhere": [1]}')
    async with provider(file) as model:
        await model.complete(ask(file, user("Rain?"), foreign, answer(call, "dry"), tools=(WEATHER,)), SECONDS)
    heard = loopback.service.heard[0]
    assert [(c.name, json.loads(c.text)) for c in heard.said[1].calls] == [("weather", {"city": "Bern"})]
    assert "dry" in heard.said[2].text


async def test_tools_and_choice(api: str, loopback: Loopback) -> None:
    file = model_file(api, loopback)
    async with provider(file) as model:
        for choice in ("auto", "none", "required"):
            await model.complete(ask(file, tools=(WEATHER,), tool_choice=choice), SECONDS)
        await model.complete(ask(file, tool_choice="required"), SECONDS)
    *with_tools, without = loopback.service.heard
    assert [heard.tool_choice for heard in with_tools] == ["auto", "none", "required"]
    assert [(tool["name"], tool["description"]) for tool in with_tools[0].tools] == [("weather", WEATHER.description)]
    sent = with_tools[0].tools[0]
    assert (sent.get("parameters") or sent.get("parametersJsonSchema")) == WEATHER.parameters
    assert (without.tools, without.tool_choice) == ((), "auto")


async def test_record(api: str, loopback: Loopback) -> None:
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "required": ["n"],
        "additionalProperties": False,
    }
    loopback.service.brain = lambda asked: Answer(text=json.dumps({"n": len(asked.schema or ())}))
    file = model_file(api, loopback)
    async with provider(file) as model:
        reply = await model.complete(ask(file, output=OutputSchema(name="Number", json_schema=schema)), SECONDS)
    assert json.loads(reply.message.text) == {"n": 4}
    assert loopback.service.heard[0].schema == schema


async def test_picture(api: str, loopback: Loopback) -> None:
    file = model_file(api, loopback)
    async with provider(file) as model:
        await model.complete(ask(file, user("What is it?", images=(PIXEL,))), SECONDS)
        with pytest.raises(BadRequestError, match="only user messages"):
            await model.complete(ask(file, ChatMessage(role="assistant", images=(PIXEL,)), user("?")), SECONDS)
    (heard,) = loopback.service.heard
    assert (heard.said[0].text, heard.said[0].images) == ("What is it?", (f"image/png;{PIXEL.data}",))


async def test_tokens(api: str, loopback: Loopback) -> None:
    usage = {"prompt": 1000, "completion": 300, "cached": 640, "reasoning": 120}
    loopback.service.brain = lambda _: Answer(text="x", usage=usage)
    file = model_file(api, loopback)
    async with provider(file) as model:
        reply = await model.complete(ask(file), SECONDS)
    assert reply.usage == Usage(prompt_tokens=1000, completion_tokens=300, cached_tokens=640, reasoning_tokens=120)


async def test_refusal_is_a_reply(api: str, loopback: Loopback) -> None:
    loopback.service.brain = lambda _: Answer(text="I will not.", finish="refusal")
    file = model_file(api, loopback)
    async with provider(file) as model:
        reply = await model.complete(ask(file), SECONDS)
    assert reply.finish == "refusal"
    assert reply.message.text == ("" if api == "gemini" else "I will not.")


async def test_cut_off_call_keeps_its_words(api: str, loopback: Loopback) -> None:
    loopback.service.brain = lambda _: Answer(calls=(Called("weather", {"city": "Bern"}),))
    loopback.service.faults.script = ["truncated"]
    file = model_file(api, loopback)
    async with provider(file) as model:
        reply = await model.complete(ask(file, tools=(WEATHER,)), SECONDS)
    assert reply.finish == "length"
    # {"city": "Bern"} has 16 characters; Gemini sends no half calls.
    assert [call.arguments for call in reply.message.calls] == ([] if api == "gemini" else ['{"city":'])
    assert reply.usage.completion_tokens > 0


async def test_further_parameters(api: str, loopback: Loopback) -> None:
    file = model_file(api, loopback)
    extra = {"top_k": 7}
    async with provider(file) as model:
        await model.complete(ask(file, sampling=Sampling(extra=extra, reasoning_effort="low")), SECONDS)
    body = loopback.service.heard[0].body
    assert (body["generationConfig"]["topK"] if api == "gemini" else body["top_k"]) == 7
    effort = {
        "chat": lambda: body["reasoning_effort"],
        "responses": lambda: body["reasoning"]["effort"],
        "gemini": lambda: body["generationConfig"]["thinkingConfig"]["thinkingLevel"].lower(),
    }[api]()
    assert effort == "low"
