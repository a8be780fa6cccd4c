"""Lines of the files that providers accept as a batch, and of the answer files that they return."""

import base64
import json
from typing import Any, Literal

from agenthard.models.errors import MalformedReplyError, ServerError
from agenthard.models.model_file import ModelFile
from agenthard.models.providers.destination import Destination
from agenthard.models.providers.failures import from_status, read
from agenthard.models.providers.google import contents_of, google_reply, settings_of
from agenthard.models.providers.messages import check_images
from agenthard.models.providers.openai_chat import chat_body, chat_reply
from agenthard.models.providers.openai_responses import responses_body, responses_reply
from agenthard.models.request import Reply, Request

Format = Literal["openai", "gemini"]

ENDPOINTS = {"chat": "/v1/chat/completions", "responses": "/v1/responses"}
"""Paths of OpenAI's interfaces in its batch files."""
_TOP_LEVEL = ("system_instruction", "tools", "tool_config", "safety_settings", "cached_content")
"""Settings that Gemini accepts at the top level, not in the generation config."""


def format_of(file: ModelFile) -> Format:
    """Return the format of the batch files of a model."""
    return "gemini" if file.parsed_name.provider == "google" else "openai"


def request_line(file: ModelFile, request: Request, custom_id: str) -> str:
    """Write a request as one line of a batch file, without the line break.

    Args:
        file: The model.
        request: The request.
        custom_id: Id of the request, which its answer repeats.

    Raises:
        BadRequestError: The model does not support the request.
    """
    check_images(request)
    line: dict[str, Any]
    if format_of(file) == "gemini":
        line = {"key": custom_id, "request": _gemini_body(request)}
    else:
        body = chat_body(file, request) if file.api == "chat" else responses_body(file, request)
        line = {"custom_id": custom_id, "method": "POST", "url": ENDPOINTS[file.api]}
        line["body"] = body | request.sampling.extra
    return json.dumps(line, ensure_ascii=False, separators=(",", ":"), default=_base64)


def custom_id_of(line: Any) -> str | None:
    """Return the id in a line of an answer file; None when the line has none."""
    found = line.get("custom_id", line.get("key")) if isinstance(line, dict) else None
    return found if isinstance(found, str) else None


def read_line(file: ModelFile, request: Request, line: Any) -> Reply:
    """Read one line of an answer file.

    Args:
        file: The model.
        request: The request.
        line: The line, as JSON.

    Raises:
        ModelError: The provider answered with an error, or with something else than a reply.
    """
    to = Destination.without_key(file)
    return read(lambda: _reply(file, request, line, to), to)


def _reply(file: ModelFile, request: Request, line: Any, to: Destination) -> Reply:
    if format_of(file) == "gemini":
        if line.get("error"):
            raise from_status(_gemini_status(line["error"]), {"error": line["error"]}, {}, to)
        return google_reply(line["response"], request)
    response = line.get("response")
    if not isinstance(response, dict):
        error = line.get("error")
        reason = error.get("message") or error.get("code") if isinstance(error, dict) else error
        raise ServerError(f"{to.name} gave no answer in the batch: {to.quote(reason)}")
    status, body = response.get("status_code"), response.get("body")
    if isinstance(status, int) and status >= 400:
        raise from_status(status, body, {}, to)
    if not isinstance(body, dict):
        raise MalformedReplyError(f"{to.name} answered with something else than a reply ({type(body).__name__})")
    return chat_reply(file, body, request) if file.api == "chat" else responses_reply(body, request)


def _gemini_body(request: Request) -> dict[str, Any]:
    settings = {name: value for name, value in settings_of(request).items() if value is not None}
    top_level = {name: settings.pop(name) for name in _TOP_LEVEL if name in settings}
    thinking = settings.get("thinking_config")
    if thinking:
        settings["thinking_config"] = {name: value for name, value in thinking.items() if value is not None}
    return {"contents": list(contents_of(request.messages)), **top_level, "generation_config": settings}


def _gemini_status(error: Any) -> int:
    """Return the HTTP status of a failed line; Gemini gives it as such, or as a gRPC code."""
    code = error.get("code") if isinstance(error, dict) else None
    if not isinstance(code, int):
        return 500
    return code if code >= 400 else {3: 400, 7: 403, 5: 404, 8: 429, 16: 401}.get(code, 500)


def _base64(value: Any) -> str:
    if isinstance(value, bytes):
        return base64.urlsafe_b64encode(value).decode("ascii")
    raise TypeError(f"{type(value).__name__} is not JSON")
