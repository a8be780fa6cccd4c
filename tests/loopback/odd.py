"""Replies that no provider should send: broken text, absurd depth, a usage that cannot be."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator
from typing import Any, Literal, get_args

from starlette.responses import Response, StreamingResponse

Odd = Literal[
    "surrogate", "brackets", "huge_usage", "negative_usage", "text_usage", "list_usage", "no_usage", "bomb", "endless",
    "number", "list_text",
]  # fmt: skip
ODD: tuple[Odd, ...] = get_args(Odd)
READABLE: tuple[Odd, ...] = ("no_usage",)
"""Those that still are a reply."""
_USAGE = {"chat": "usage", "responses": "usage", "gemini": "usageMetadata"}
_PROMPT = {"chat": "prompt_tokens", "responses": "input_tokens", "gemini": "promptTokenCount"}


def body_of(kind: Odd, protocol: str, reply: dict[str, Any]) -> Any:
    """The reply made odd, for the kinds that are still JSON."""
    usage, prompt = _USAGE[protocol], _PROMPT[protocol]
    match kind:
        case "surrogate" | "list_text":
            return _with_text(protocol, reply, "half a pair: \ud83d" if kind == "surrogate" else [["nested"]])
        case "huge_usage" | "negative_usage":
            return {**reply, usage: {**reply[usage], prompt: 10**30 if kind == "huge_usage" else -(10**9)}}
        case "text_usage":
            return {**reply, usage: {**reply[usage], prompt: "many"}}
        case "list_usage":
            return {**reply, usage: [1, 2]}
        case "no_usage":
            return {name: value for name, value in reply.items() if name != usage}
    return 17


def response_of(kind: Odd, protocol: str, reply: dict[str, Any]) -> Response:
    """The odd reply as an HTTP answer."""
    if kind == "brackets":
        return Response("[" * 200_000, media_type="application/json")
    if kind == "bomb":
        headers = {"content-encoding": "gzip"}
        return Response(gzip.compress(b" " * (1 << 27)), media_type="application/json", headers=headers)
    if kind == "endless":
        return StreamingResponse(_blanks(), media_type="application/json")
    return Response(json.dumps(body_of(kind, protocol, reply)), media_type="application/json")


async def _blanks() -> AsyncIterator[bytes]:
    """Far more than a client may read, in the end, so that a server whose client is gone ends too."""
    for _ in range(256):
        yield b" " * (1 << 20)
        await asyncio.sleep(0)


def _with_text(protocol: str, reply: dict[str, Any], text: Any) -> dict[str, Any]:
    changed: dict[str, Any] = json.loads(json.dumps(reply))
    if protocol == "chat":
        changed["choices"][0]["message"]["content"] = text
    elif protocol == "responses":
        message = next(item for item in changed["output"] if item["type"] == "message")
        message["content"][0]["text"] = text
    else:
        changed["candidates"][0]["content"]["parts"][0]["text"] = text
    return changed
