"""OpenAI's chat completions, supported by OpenAI and by most other servers (vLLM, llama.cpp, OpenRouter ...)."""

import json
from typing import Any

from agenthard.models.errors import BadRequestError
from agenthard.models.model_file import ModelFile
from agenthard.models.providers.destination import Destination
from agenthard.models.providers.failures import from_status, read
from agenthard.models.providers.messages import check_images, finish_of, turn_of, usage_of
from agenthard.models.providers.openai_sdk import OpenAISDK, arguments_text, data_url, refusal_of
from agenthard.models.request import Call, ChatMessage, Reply, Request, Usage

_REASONING = ("reasoning_content", "reasoning")
"""Fields in which servers show reasoning."""


class ChatProvider:
    """A model with the chat interface."""

    def __init__(self, file: ModelFile, destination: Destination) -> None:
        """Create its client; nothing is sent."""
        self._file, self._to = file, destination
        self._sdk = OpenAISDK(destination)

    async def complete(self, request: Request, timeout: float) -> Reply:
        """Send a request once (agenthard.models.request.Provider)."""
        check_images(request)
        body = chat_body(self._file, request)
        try:
            answer = await self._sdk.post("chat", body, request.sampling.extra, timeout)
        except BadRequestError as error:
            refusal = refusal_of(error, request)
            if refusal is None:
                raise
            return refusal
        if isinstance(answer, dict) and answer.get("error") and not answer.get("choices"):
            # OpenRouter reports errors of the servers behind it with status 200.
            raise read(lambda: from_status(_status(answer["error"]), answer, {}, self._to), self._to)
        return read(lambda: chat_reply(self._file, answer, request), self._to)

    async def close(self) -> None:
        """Close the connections."""
        await self._sdk.close()


def chat_body(file: ModelFile, request: Request) -> dict[str, Any]:
    """Return a request in the format of the interface, without `Sampling.extra`."""
    sampling = request.sampling
    default = "max_completion_tokens" if file.parsed_name.provider == "openai" else "max_tokens"
    body: dict[str, Any] = {
        "model": file.parsed_name.name,
        "messages": [_message(file, message) for message in request.messages],
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "seed": sampling.seed,
        "reasoning_effort": sampling.reasoning_effort,
        file.max_tokens_parameter or default: sampling.max_output_tokens,
    }
    if request.tools:
        body["tools"] = [
            {"type": "function", "function": tool.model_dump(include={"name", "description", "parameters"})}
            for tool in request.tools
        ]
        body["tool_choice"] = request.tool_choice
    if request.output:
        output = {"name": request.output.name, "schema": request.output.json_schema, "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": output}
    return {name: value for name, value in body.items() if value is not None}


def _message(file: ModelFile, message: ChatMessage) -> dict[str, Any]:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.call_id, "content": message.text}
    role = file.system_role if message.role == "system" else message.role
    sent: dict[str, Any] = {"role": role, "content": message.text}
    if message.images:
        images = [{"type": "image_url", "image_url": {"url": data_url(i)}} for i in message.images]
        text = [{"type": "text", "text": message.text}] if message.text else []
        sent["content"] = [*text, *images]
    if message.calls:
        sent["content"] = message.text or None
        sent["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.calls
        ]
    if message.provider_state:
        sent |= json.loads(message.provider_state).get("chat", {})
    return sent


def chat_reply(file: ModelFile, answer: Any, request: Request) -> Reply:
    """Parse an answer of the interface.

    Raises:
        KeyError, IndexError, TypeError, AttributeError, ValueError: It is not such an answer.
    """
    choice = answer["choices"][0]
    received = choice["message"]
    turn = turn_of(request)
    calls = tuple(
        Call(
            id=call.get("id") or f"call_{turn}_{n}",
            name=call["function"].get("name") or "",
            arguments=arguments_text(call["function"].get("arguments")),
        )
        for n, call in enumerate(received.get("tool_calls") or ())
    )
    field = next((name for name in _REASONING if isinstance(received.get(name), str) and received[name]), None)
    state = {"reasoning_details": received["reasoning_details"]} if received.get("reasoning_details") else {}
    if field and file.return_reasoning:
        state[field] = received[field]
    ending = choice.get("finish_reason")
    message = ChatMessage(
        role="assistant",
        text=_text(received.get("content")) or received.get("refusal") or "",
        calls=calls,
        reasoning=received[field] if field else "",
        provider_state=json.dumps({"chat": state}) if state else None,
    )
    refused = bool(received.get("refusal")) or ending == "content_filter"
    usage, stated = _usage(answer.get("usage") or {}, request)
    return Reply(
        message=message,
        finish=finish_of(bool(calls), refused=refused, cut=ending == "length"),
        usage=usage,
        usage_stated=stated,
        model_version=str(answer.get("model") or ""),
    )


def _status(error: Any) -> int:
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) and code >= 400 else 500


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content)
    return content or ""


def _usage(usage: dict[str, Any], request: Request) -> tuple[Usage, bool]:
    return usage_of(
        request,
        usage.get("prompt_tokens"),
        usage.get("completion_tokens"),
        (usage.get("prompt_tokens_details") or {}).get("cached_tokens"),
        (usage.get("completion_tokens_details") or {}).get("reasoning_tokens"),
    )
