"""Gemini's generateContent.

Gemini gives its calls no ids, so they are numbered by turn and position; the signature of a call is sent back with it.
"""

import base64
import json
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

from agenthard.models.errors import BadRequestError
from agenthard.models.providers.destination import Destination
from agenthard.models.providers.failures import attempt, read
from agenthard.models.providers.messages import check_images, finish_of, turn_of, usage_of
from agenthard.models.request import Call, ChatMessage, Reply, Request, Usage

if TYPE_CHECKING:
    import httpx2
    from google.genai import Client
    from google.genai.types import GenerateContentConfig

_REFUSALS = {
    "SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR",
    "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION",
}  # fmt: skip
_BROKEN_CALLS = {"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"}
_MODES = {"auto": "AUTO", "none": "NONE", "required": "ANY"}


def google_sdk(destination: Destination, max_bytes: int | None = None) -> "tuple[Client, httpx2.AsyncClient]":
    """Create an SDK client without retries, and its HTTP client; nothing is sent.

    Args:
        destination: The model and its key.
        max_bytes: Maximum bytes of an answer; None for the limit of a reply.
    """
    from google import genai
    from google.genai.types import HttpOptions

    from agenthard.models.providers.http import LimitedClient

    # Our own client: if aiohttp is installed, the SDK would use it, and retry every failed connection.
    http = LimitedClient(max_bytes) if max_bytes else LimitedClient()
    options = HttpOptions(base_url=destination.name.base_url, api_version="v1beta", httpx_async_client=http)
    return genai.Client(api_key=destination.key, vertexai=False, http_options=options), http


async def close_google_sdk(sdk: "Client", http: "httpx2.AsyncClient") -> None:
    """Close both clients."""
    await sdk.aio.aclose()
    await http.aclose()
    sdk.close()


class GoogleProvider:
    """A Gemini model."""

    def __init__(self, destination: Destination) -> None:
        """Create its client; nothing is sent."""
        self._to = destination
        self._sdk, self._http = google_sdk(destination)

    async def complete(self, request: Request, timeout: float) -> Reply:
        """Send a request once (agenthard.models.request.Provider)."""
        check_images(request)
        contents = list(contents_of(request.messages))
        config = self._config(request, timeout)

        async def send() -> str:
            answer = await self._sdk.aio.models.generate_content(
                model=self._to.name.name, contents=contents, config=config
            )
            return (answer.sdk_http_response and answer.sdk_http_response.body) or ""

        text = await attempt(send, timeout, self._to)
        return read(lambda: google_reply(json.loads(text), request), self._to)

    async def close(self) -> None:
        """Close the connections."""
        await close_google_sdk(self._sdk, self._http)

    def _config(self, request: Request, timeout: float) -> "GenerateContentConfig":
        from google.genai.types import GenerateContentConfig

        ours = {
            "automatic_function_calling": {"disable": True},
            "should_return_http_response": True,
            "http_options": {"timeout": max(1, round(timeout * 1000)), "retry_options": {"attempts": 1}},
        }
        try:
            return GenerateContentConfig.model_validate({**ours, **settings_of(request)})
        except ValueError as error:
            reason = self._to.quote(error)
        raise BadRequestError(f"the SDK refuses the parameters for {self._to.name} (sampling.extra?): {reason}")


def settings_of(request: Request) -> dict[str, Any]:
    """Return everything in a request except its messages, under the names of GenerateContentConfig."""
    sampling = request.sampling
    system = [{"text": message.text} for message in request.messages if message.role == "system"]
    config: dict[str, Any] = {
        "system_instruction": {"parts": system} if system else None,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "max_output_tokens": sampling.max_output_tokens,
        "seed": sampling.seed,
    }
    if sampling.thinking_tokens is not None or sampling.reasoning_effort is not None:
        level = sampling.reasoning_effort.upper() if sampling.reasoning_effort else None
        config["thinking_config"] = {
            "include_thoughts": sampling.thinking_tokens != 0,
            "thinking_budget": sampling.thinking_tokens,
            "thinking_level": level,
        }
    if request.tools:
        declarations = [
            {"name": tool.name, "description": tool.description, "parameters_json_schema": tool.parameters}
            for tool in request.tools
        ]
        config["tools"] = [{"function_declarations": declarations}]
        config["tool_config"] = {"function_calling_config": {"mode": _MODES[request.tool_choice]}}
    if request.output:
        config["response_mime_type"] = "application/json"
        config["response_json_schema"] = request.output.json_schema
    return {**config, **sampling.extra}


def contents_of(messages: tuple[ChatMessage, ...]) -> Iterator[dict[str, Any]]:
    """Yield the conversation without its system messages; the answers to the calls of one turn are one content."""
    names: dict[str, dict[str, Any]] = {}
    talk = (message for message in messages if message.role != "system")
    for role, group in groupby(talk, key=lambda message: message.role):
        if role == "tool":
            yield {"role": "user", "parts": [_answer(message, names) for message in group]}
            continue
        for message in group:
            parts = _own_parts(message) or _plain_parts(message)
            calls = [part["function_call"] for part in parts if "function_call" in part]
            if not parts:
                continue  # An empty turn of the model: Gemini rejects empty parts.
            names |= {call.id: sent for call, sent in zip(message.calls, calls, strict=True)}
            yield {"role": "model" if role == "assistant" else "user", "parts": parts}


def _answer(message: ChatMessage, calls: dict[str, dict[str, Any]]) -> dict[str, Any]:
    call = calls.get(message.call_id or "")
    if call is None:
        raise BadRequestError(f"a tool message answers the call {message.call_id!r}, which no earlier message makes")
    value = _object(message.text)
    response = {"name": call["name"], "response": {"output": message.text} if value is None else value}
    return {"function_response": response | ({"id": call["id"]} if call.get("id") else {})}


def _own_parts(message: ChatMessage) -> list[dict[str, Any]]:
    """Return the original parts, signatures included, if the message still makes the same calls; else none."""
    parts: list[dict[str, Any]] = []
    for part in json.loads(message.provider_state or "{}").get("gemini", []):
        mine: dict[str, Any] = {"text": part["text"]} if "text" in part else {}
        if "functionCall" in part:
            mine["function_call"] = part["functionCall"]
        if part.get("thought"):
            mine["thought"] = True
        if "thoughtSignature" in part:
            mine["thought_signature"] = base64.urlsafe_b64decode(
                part["thoughtSignature"].replace("+", "-").replace("/", "_")
            )
        parts.append(mine)
    calls = [
        (part["function_call"]["name"], _arguments(part["function_call"])) for part in parts if "function_call" in part
    ]
    return parts if calls == [(call.name, call.arguments) for call in message.calls] else []


def _plain_parts(message: ChatMessage) -> list[dict[str, Any]]:
    images = [
        {"inline_data": {"mime_type": image.media_type, "data": base64.b64decode(image.data)}}
        for image in message.images
    ]
    calls = []
    for call in message.calls:
        value = _object(call.arguments)
        # Gemini accepts only objects: anything else is sent back as text.
        calls.append(
            {"function_call": {"name": call.name, "args": {"text": call.arguments} if value is None else value}}
        )
    text = [{"text": message.text}] if message.text else []
    return [*text, *images, *calls]


def google_reply(answer: Any, request: Request) -> Reply:
    """Parse Gemini's answer to a request.

    Raises:
        KeyError, IndexError, TypeError, AttributeError, ValueError: It is not such an answer.
    """
    version, turn = str(answer.get("modelVersion") or ""), turn_of(request)
    blocked = (answer.get("promptFeedback") or {}).get("blockReason")
    if blocked and not answer.get("candidates"):
        message = ChatMessage(role="assistant", text=f"The prompt was blocked: {blocked}")
        usage, stated = _usage(answer.get("usageMetadata") or {}, request, has_content=False)
        return Reply(message=message, finish="refusal", usage=usage, usage_stated=stated, model_version=version)
    candidate = answer["candidates"][0]
    reason = candidate["finishReason"]
    parts = (candidate.get("content") or {}).get("parts") or []
    calls = tuple(
        Call(id=call.get("id") or f"call_{turn}_{n}", name=call["name"], arguments=_arguments(call))
        for n, call in enumerate(part["functionCall"] for part in parts if "functionCall" in part)
    )
    text = "".join(part.get("text", "") for part in parts if not part.get("thought"))
    if reason in _BROKEN_CALLS and not calls:
        # A malformed call is not a call: the agent sees it as text.
        text = text or str(candidate.get("finishMessage") or reason)
    elif reason not in _REFUSALS and reason not in _BROKEN_CALLS | {"STOP", "MAX_TOKENS"}:
        raise ValueError(f"it ended with {reason}")
    kept = [part for part in parts if not part.get("thought") or "thoughtSignature" in part]
    signed = any("thoughtSignature" in part for part in kept) or any(
        part.get("functionCall", {}).get("id") for part in kept
    )
    usage, stated = _usage(answer.get("usageMetadata") or {}, request, has_content=bool(parts))
    return Reply(
        message=ChatMessage(
            role="assistant",
            text=text,
            calls=calls,
            reasoning="".join(part.get("text", "") for part in parts if part.get("thought")),
            provider_state=json.dumps({"gemini": kept}) if signed else None,
        ),
        finish=finish_of(bool(calls), refused=reason in _REFUSALS, cut=reason == "MAX_TOKENS"),
        usage=usage,
        usage_stated=stated,
        model_version=version,
    )


def _arguments(call: dict[str, Any]) -> str:
    return json.dumps(call.get("args") or {}, ensure_ascii=False)


def _object(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _usage(usage: dict[str, Any], request: Request, *, has_content: bool) -> tuple[Usage, bool]:
    """Return the usage and whether it is stated; Gemini omits numbers that are 0."""
    prompt, reply, thoughts = (
        usage.get(name) for name in ("promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount")
    )
    for count in (prompt, reply, thoughts, usage.get("toolUsePromptTokenCount")):
        usage_of(request, count, 0)  # Each of them must be a number of tokens, not only their sums.
    completion = None if reply is None and has_content else (reply or 0) + (thoughts or 0)
    return usage_of(
        request,
        prompt and prompt + (usage.get("toolUsePromptTokenCount") or 0),
        completion,
        usage.get("cachedContentTokenCount"),
        thoughts,
    )
