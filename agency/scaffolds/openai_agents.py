"""The loop of the OpenAI Agents SDK: its runner decides what is asked next; requests and calls are ours.

The SDK asks through our client, so replies are cached, paid and journaled as those of other scaffolds, with any model.
Needs the extra ``agents``; nothing of the SDK sends anything by itself.
"""

import json
import os
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any, NoReturn

from agenthard.agency.scaffolds.budget import Budget
from agenthard.agency.scaffolds.native import SYSTEM
from agenthard.agency.scaffolds.rollout import Ended, Event, Rollout, Said, Told
from agenthard.agency.scaffolds.scaffold import Player, Prompt, carry_out
from agenthard.agency.tools import TOOLS, Toolset
from agenthard.models.errors import ContextOverflowError
from agenthard.models.request import Call, ChatMessage, Request
from agenthard.models.request import Tool as ToolText

os.environ.setdefault("OPENAI_AGENTS_DISABLE_TRACING", "1")  # read at the import: traces would go to OpenAI

try:
    from agents import Agent, FunctionTool, ModelResponse, RunConfig, Runner
    from agents import Model as SdkModel
    from agents import Usage as SdkUsage
    from agents.run_config import ToolErrorFormatterArgs, ToolExecutionConfig
    from agents.tool_context import ToolContext
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText
except ImportError as error:
    from agenthard.audit.plugins import PluginError

    raise PluginError(
        f'the scaffold openai_agents needs the OpenAI Agents SDK: pip install "agenthard[agents]" ({error})'
    ) from error

Item = Any
"""An item of a conversation, as the SDK has it: a dictionary in the format of OpenAI's Responses."""


class OpenAIAgents:
    """Plays with the runner of the OpenAI Agents SDK and our tools."""

    def __init__(self, player: Player) -> None:
        """Play with a model."""
        self._player = player
        self._items: list[Item] = []
        self._said: dict[tuple[str, ...], ChatMessage] = {}
        self._made: dict[str, Call] = {}

    async def run(self, prompt: Prompt, workspace: Toolset, history: list[ChatMessage], budget: Budget) -> Rollout:
        """Play one attempt; the conversation goes on through the scenario."""
        self._items.append({"role": "user", "content": prompt.text})
        attempt = _Attempt(self._player, workspace, budget, history, self._said, self._made, prompt)
        try:
            result = await Runner.run(
                attempt.agent(),
                list(self._items),
                max_turns=None,  # the budget ends an attempt
                run_config=RunConfig(
                    tracing_disabled=True,
                    tool_execution=ToolExecutionConfig(max_function_tool_concurrency=1),
                    tool_not_found_behavior="return_error_to_model",
                    tool_error_formatter=attempt.refusal,
                ),
            )
        except _EndError as end:
            self._items = end.items
            return attempt.rollout(end.ended, end.reason)
        except Exception as error:
            raise attempt.failure or error  # noqa: B904 - the SDK may have wrapped what our client raised
        self._items = result.to_input_list()
        return attempt.rollout("done")


class _EndError(Exception):
    """An attempt ends before the agent says so; never seen outside of this module."""

    def __init__(self, ended: Ended, items: list[Item], reason: str = "") -> None:
        super().__init__(reason or ended)
        self.ended, self.items, self.reason = ended, items, reason


class _Attempt(SdkModel):
    """One attempt: the model that the SDK asks, and the tools that it calls."""

    def __init__(
        self,
        player: Player,
        workspace: Toolset,
        budget: Budget,
        history: list[ChatMessage],
        said: dict[tuple[str, ...], ChatMessage],
        made: dict[str, Call],
        prompt: Prompt,
    ) -> None:
        self._player, self._workspace, self._budget = player, workspace, budget
        self._history, self._said, self._made = history, said, made
        self._events: list[Event] = [Told(text=prompt.text, by="task")]
        self._refusals: dict[str, str] = {}
        self.failure: BaseException | None = None
        """What our client or a tool raised."""

    def agent(self) -> "Agent[None]":
        tools = [self._tool(each) for each in self._workspace.tools()]
        return Agent(name="agent", instructions=SYSTEM, model=self, tools=list(tools))

    def rollout(self, ended: Ended, reason: str = "") -> Rollout:
        status = "agent_error" if ended in ("context_overflow", "truncations") else "ok"
        return Rollout(events=tuple(self._events), ended=ended, status=status, reason=reason)

    def refusal(self, error: "ToolErrorFormatterArgs[Any]") -> str | None:
        """Say what our tools say of a call that none of them can carry out."""
        return self._refusals.get(error.call_id)

    async def get_response(
        self, system_instructions: str | None, input: str | list[Item], *given: Any, **named: Any
    ) -> ModelResponse:
        """Ask our client what the SDK asks."""
        items = [{"role": "user", "content": input}] if isinstance(input, str) else list(input)
        system = ChatMessage(role="system", text=system_instructions or "")
        self._history[:] = [system, *chat_messages(items, self._said, self._made)]
        message, usage = await self._ask(items)
        for call in message.calls:
            if call.name not in TOOLS:
                event = await carry_out(self._workspace, self._made[call.id], self._budget)
                self._events.append(event)
                self._refusals[call.id] = event.result.output
        return ModelResponse(output=_output(message, len(self._said)), usage=usage, response_id=None)

    def stream_response(self, *given: Any, **named: Any) -> "AsyncIterator[Any]":
        """Raise: the runner that plays does not stream."""
        raise NotImplementedError("attempts are not streamed")

    async def _ask(self, items: list[Item]) -> tuple[ChatMessage, SdkUsage]:
        if limit := self._budget.reached():
            self._end(limit, items)
        settings = self._player.settings
        request = Request(
            model=settings.model,
            messages=tuple(self._history),
            tools=self._workspace.tools(),
            sampling=settings.sampling,
            sample=self._player.sample,
        )
        try:
            completion = await self._player.ask(request, self._budget)
        except ContextOverflowError as error:
            self._end("context_overflow", items, str(error))
        except Exception as error:
            self.failure = error
            raise
        if completion is None:
            self._end("hours", items)
        self._budget.take_turn()
        reply, message = completion.reply, completion.reply.message
        said = Said(text=message.text, reasoning=message.reasoning, calls=message.calls, seconds=completion.seconds)
        self._events.append(said)
        if reply.finish == "length":
            self._end("truncations", items, "a reply was cut off at the length limit")
        numbered = message.model_copy(update={"calls": tuple(map(self._numbered, message.calls))})
        self._said[_key(numbered.text, numbered.calls)] = message
        counted = SdkUsage(
            requests=1, input_tokens=reply.usage.prompt_tokens, output_tokens=reply.usage.completion_tokens
        )
        return numbered, counted

    def _numbered(self, call: Call) -> Call:
        """Return a call as the SDK gets it: it drops or refuses an id that it has seen, and fails on odd arguments."""
        id = f"call_{len(self._made) + 1}"
        self._made[id] = call
        return Call(id=id, name=call.name, arguments=call.arguments if _is_object(call.arguments) else "{}")

    def _end(self, ended: Ended, items: list[Item], reason: str = "") -> NoReturn:
        raise _EndError(ended, items, reason)

    def _tool(self, tool: ToolText) -> FunctionTool:
        async def invoke(context: "ToolContext[Any]", arguments: str) -> str:
            try:
                event = await carry_out(self._workspace, self._made[context.tool_call_id], self._budget)
            except Exception as error:
                self.failure = error
                raise
            self._events.append(event)
            return event.result.output

        return FunctionTool(
            name=tool.name,
            description=tool.description,
            params_json_schema=tool.parameters,
            on_invoke_tool=invoke,
            strict_json_schema=False,
            _use_default_failure_error_function=False,
        )


def chat_messages(
    items: Sequence[Item], said: dict[tuple[str, ...], ChatMessage], made: dict[str, Call]
) -> list[ChatMessage]:
    """Turn a conversation of the SDK into messages; replies that are known come back whole, with their state.

    >>> call = {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"}
    >>> found = chat_messages([{"role": "user", "content": "a"}, call, {"type": "function_call_output",
    ...     "call_id": "1", "output": "b"}], {}, {})
    >>> [(each.role, each.text, len(each.calls)) for each in found]
    [('user', 'a', 0), ('assistant', '', 1), ('tool', 'b', 0)]
    """
    found: list[ChatMessage] = []
    text, calls = "", list[Call]()

    def reply() -> Iterable[ChatMessage]:
        nonlocal text, calls
        if text or calls:
            key = _key(text, calls)
            yield said.get(key) or ChatMessage(role="assistant", text=text, calls=tuple(calls))
        text, calls = "", []

    for item in items:
        kind = item.get("type", "message")
        if kind == "function_call":
            calls.append(Call(id=item["call_id"], name=item["name"], arguments=item["arguments"]))
        elif kind == "message" and item["role"] == "assistant":
            found += reply()
            text = "".join(part.get("text", "") for part in item["content"])
        elif kind == "message":
            found += [*reply(), ChatMessage(role="user", text=str(item["content"]))]
        elif kind == "function_call_output":
            call = made.get(item["call_id"])
            id, name = (call.id, call.name) if call else (item["call_id"], None)
            answer = ChatMessage(role="tool", text=str(item["output"]), call_id=id, tool_name=name)
            found += [*reply(), answer]
    return [*found, *reply()]


def _key(text: str, calls: Iterable[Call]) -> tuple[str, ...]:
    return (text, *(call.id for call in calls))


def _is_object(arguments: str) -> bool:
    try:
        return isinstance(json.loads(arguments or "{}"), dict)
    except (ValueError, RecursionError):
        return False


def _output(message: ChatMessage, number: int) -> list[Any]:
    """Write a reply as the SDK has it: a text, and calls."""
    text = ResponseOutputText(type="output_text", text=message.text, annotations=[])
    about = {"id": f"reply_{number}", "type": "message", "role": "assistant", "status": "completed"}
    parts: list[Any] = [ResponseOutputMessage(content=[text], **about)] if message.text or not message.calls else []
    parts += [
        ResponseFunctionToolCall(
            type="function_call", call_id=call.id, name=call.name, arguments=call.arguments, status="completed"
        )
        for call in message.calls
    ]
    return parts
