"""OpenAI's responses interface. The server stores nothing: encrypted reasoning is sent back with its calls."""

import json
import re
from typing import Any

from agenthard.models.errors import BadRequestError
from agenthard.models.model_file import ModelFile
from agenthard.models.providers.destination import Destination
from agenthard.models.providers.failures import from_status, read
from agenthard.models.providers.messages import check_images, finish_of, usage_of
from agenthard.models.providers.openai_sdk import OpenAISDK, arguments_text, data_url, refusal_of
from agenthard.models.request import Call, ChatMessage, Reply, Request, Usage

_WITHOUT_REASONING = re.compile(r"gpt-3|gpt-4|chatgpt")
"""Models without reasoning, which refuse a request for encrypted reasoning."""
_FAILURES = {"rate_limit_exceeded": 429, "server_error": 500}


class ResponsesProvider:
    """A model with the responses interface, which has no seed: `Sampling.seed` is not sent."""

    def __init__(self, file: ModelFile, destination: Destination) -> None:
        """Create its client; nothing is sent."""
        self._file, self._to = file, destination
        self._sdk = OpenAISDK(destination)

    async def complete(self, request: Request, timeout: float) -> Reply:
        """Send a request once (agenthard.models.request.Provider)."""
        check_images(request)
        body = responses_body(self._file, request)
        try:
            answer = await self._sdk.post("responses", body, request.sampling.extra, timeout)
        except BadRequestError as error:
            refusal = refusal_of(error, request)
            if refusal is None:
                raise
            return refusal
        if isinstance(answer, dict) and isinstance(answer.get("error"), dict):
            status = _FAILURES.get(str(answer["error"].get("code")), 400)
            raise read(lambda: from_status(status, answer, {}, self._to), self._to)
        return read(lambda: responses_reply(answer, request), self._to)

    async def close(self) -> None:
        """Close the connections."""
        await self._sdk.close()


def responses_body(file: ModelFile, request: Request) -> dict[str, Any]:
    """Return a request in the format of the interface, without `Sampling.extra`."""
    sampling = request.sampling
    reasons = not _WITHOUT_REASONING.match(file.parsed_name.name)
    body: dict[str, Any] = {
        "model": file.parsed_name.name,
        "input": [item for message in request.messages for item in _items(file, message)],
        "store": False,
        "include": ["reasoning.encrypted_content"] if reasons else None,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "max_output_tokens": sampling.max_output_tokens,
        "reasoning": {"effort": sampling.reasoning_effort} if sampling.reasoning_effort else None,
    }
    if request.tools:
        # Strict is the default here, and rejects schemas with optional arguments.
        body["tools"] = [
            {"type": "function", "strict": False, **tool.model_dump(include={"name", "description", "parameters"})}
            for tool in request.tools
        ]
        body["tool_choice"] = request.tool_choice
    if request.output:
        output = {"name": request.output.name, "schema": request.output.json_schema, "strict": True}
        body["text"] = {"format": {"type": "json_schema", **output}}
    return {name: value for name, value in body.items() if value is not None}


def _items(file: ModelFile, message: ChatMessage) -> list[dict[str, Any]]:
    if message.role == "tool":
        return [{"type": "function_call_output", "call_id": message.call_id, "output": message.text}]
    if message.role == "assistant":
        return _own_items(message) or _plain_items(message)
    role = file.system_role if message.role == "system" else message.role
    if not message.images:
        return [{"role": role, "content": message.text}]
    images = [{"type": "input_image", "image_url": data_url(image), "detail": "auto"} for image in message.images]
    text = [{"type": "input_text", "text": message.text}] if message.text else []
    return [{"role": role, "content": [*text, *images]}]


def _own_items(message: ChatMessage) -> list[dict[str, Any]]:
    """Return the original items, if the message still makes the same calls; else none."""
    items: list[dict[str, Any]] = json.loads(message.provider_state or "{}").get("responses", [])
    calls = [(item["call_id"], item["arguments"]) for item in items if item["type"] == "function_call"]
    return items if calls == [(call.id, call.arguments) for call in message.calls] else []


def _plain_items(message: ChatMessage) -> list[dict[str, Any]]:
    text = [{"role": "assistant", "content": message.text}] if message.text else []
    calls = [
        {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments}
        for call in message.calls
    ]
    return [*text, *calls]


def responses_reply(answer: Any, request: Request) -> Reply:
    """Parse an answer of the interface.

    Raises:
        KeyError, IndexError, TypeError, AttributeError, ValueError: It is not such an answer.
    """
    items = answer["output"]
    parts = [part for item in items if item["type"] == "message" for part in item["content"]]
    text = "".join(part["text"] for part in parts if part["type"] == "output_text")
    refusal = "".join(part["refusal"] for part in parts if part["type"] == "refusal")
    calls = tuple(
        Call(id=item["call_id"], name=item["name"], arguments=arguments_text(item["arguments"]))
        for item in items
        if item["type"] == "function_call"
    )
    reasoning = [item for item in items if item["type"] == "reasoning"]
    summaries = [part["text"] for item in reasoning for part in item.get("summary") or ()]
    # A server that stores nothing cannot use a reasoning item without its encrypted content.
    sealed = reasoning and all(item.get("encrypted_content") for item in reasoning)
    reason = (answer.get("incomplete_details") or {}).get("reason")
    refused = bool(refusal) or reason == "content_filter"
    usage, stated = _usage(answer.get("usage") or {}, request)
    return Reply(
        message=ChatMessage(
            role="assistant",
            text=text or refusal,
            calls=calls,
            reasoning="\n\n".join(summaries),
            provider_state=json.dumps({"responses": items}) if sealed else None,
        ),
        finish=finish_of(bool(calls), refused=refused, cut=answer.get("status") == "incomplete"),
        usage=usage,
        usage_stated=stated,
        model_version=str(answer.get("model") or ""),
    )


def _usage(usage: dict[str, Any], request: Request) -> tuple[Usage, bool]:
    return usage_of(
        request,
        usage.get("input_tokens"),
        usage.get("output_tokens"),
        (usage.get("input_tokens_details") or {}).get("cached_tokens"),
        (usage.get("output_tokens_details") or {}).get("reasoning_tokens"),
    )
