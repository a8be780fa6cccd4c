"""The server's routes. Everything it does next hangs on its `Service`, which a test may change while it runs."""

import asyncio
import importlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from tests.loopback import chat, embeddings, gemini, responses
from tests.loopback.batches import Batches, routes
from tests.loopback.brains import echo
from tests.loopback.counts import Counts
from tests.loopback.faults import Fault, Faults
from tests.loopback.odd import READABLE, Odd, response_of
from tests.loopback.talk import Asked, Brain, Refused, count

KEY = "test-key"
"""The key that the server takes."""


@dataclass
class Service:
    """How the server behaves."""

    brain: Brain = echo
    faults: Faults = field(default_factory=Faults)
    latency: float = 0.0
    """Seconds before each reply."""
    key: str = KEY
    context: int | None = None
    """Tokens a request may have; more are refused as a context overflow. None for no end."""
    models: frozenset[str] | None = None
    """Models that exist; None for all whose name does not start with "unknown"."""
    counts: Counts = field(default_factory=Counts)
    heard: list[Asked] = field(default_factory=list)
    """The last requests, at most `remember` of them."""
    remember: int = 200
    batches: Batches = field(default_factory=Batches)
    odd: Callable[[Asked], Odd | None] = lambda asked: None
    """Which replies are odd, and how."""

    def has(self, model: str) -> bool:
        return model in self.models if self.models is not None else not model.startswith("unknown")


_REFUSALS: dict[str, Refused] = {
    "429": Refused(429, "rate_limit_exceeded", "Rate limit reached"),
    "429_silent": Refused(429, "rate_limit_exceeded", "Rate limit reached"),
    "500": Refused(500, "server_error", "The server had an error"),
    "503": Refused(503, "overloaded", "The engine is overloaded"),
}


def application(service: Service) -> Starlette:
    """Makes the app."""

    async def openai_chat(request: Request) -> Response:
        return await _serve(service, request, chat, _bearer(request), None)

    async def openai_responses(request: Request) -> Response:
        return await _serve(service, request, responses, _bearer(request), None)

    async def google(request: Request) -> Response:
        key = request.headers.get("x-goog-api-key", "")
        return await _serve(service, request, gemini, key, request.path_params["model"])

    async def models(request: Request) -> Response:
        if _bearer(request) != service.key:
            return _error(chat, _wrong_key(_bearer(request)))
        names = sorted(service.models or {"loopback"})
        return JSONResponse({"object": "list", "data": [{"id": n, "object": "model", "created": 0} for n in names]})

    async def counts(_: Request) -> Response:
        return JSONResponse(service.counts.as_dict())

    async def reset(_: Request) -> Response:
        service.counts = Counts()
        service.heard.clear()
        return JSONResponse({})

    async def settings(request: Request) -> Response:
        change(service, await request.json())
        return JSONResponse({})

    return Starlette(
        routes=[
            Route("/v1/chat/completions", openai_chat, methods=["POST"]),
            Route("/v1/responses", openai_responses, methods=["POST"]),
            Route("/v1/models", models),
            Route("/v1beta/models/{model:path}:generateContent", google, methods=["POST"]),
            *routes(service),
            *embeddings.routes(service),
            Route("/_/counts", counts),
            Route("/_/reset", reset, methods=["POST"]),
            Route("/_/settings", settings, methods=["POST"]),
        ]
    )


def change(service: Service, settings: Mapping[str, Any]) -> None:
    """Sets brain (as module:function), faults (the fields of `Faults`), latency, key, context or models."""
    for name, value in settings.items():
        if name == "brain":
            module, _, function = value.partition(":")
            service.brain = getattr(importlib.import_module(module), function)
        elif name == "faults":
            service.faults = Faults(**value)
        elif name == "models":
            service.models = None if value is None else frozenset(value)
        elif name in ("latency", "key", "context"):
            setattr(service, name, value)
        else:
            raise ValueError(f"no setting is called {name}")


async def _serve(service: Service, request: Request, protocol: ModuleType, key: str, model: str | None) -> Response:
    counts = service.counts
    counts.received += 1
    counts.in_flight += 1
    counts.most_in_flight = max(counts.most_in_flight, counts.in_flight)
    arrived = time.perf_counter()
    try:
        return await _answer(service, counts, request, protocol, key, model)
    except Refused as refused:
        counts.refused += 1
        return _error(protocol, refused)
    except (KeyError, TypeError, ValueError) as error:
        # Like a real one that is asked in a way it does not know.
        counts.refused += 1
        return _error(protocol, Refused(400, "invalid_request_error", f"cannot read the request: {error!r}"))
    except ClientDisconnect:
        counts.abandoned += 1
        return Response(status_code=499)
    finally:
        counts.in_flight -= 1
        counts.seconds += time.perf_counter() - arrived


async def _answer(
    service: Service, counts: Counts, request: Request, protocol: ModuleType, key: str, model: str | None
) -> Response:
    if key != service.key:
        raise _wrong_key(key)
    body = json.loads(await request.body())
    asked: Asked = protocol.read(body) if model is None else protocol.read(model, body)
    service.heard.append(asked)
    del service.heard[: -service.remember]
    digest = asked.digest
    fault = service.faults.next(digest, counts.seen[digest])
    counts.seen[digest] += 1
    if fault:
        counts.faults[fault] += 1
    if fault in _REFUSALS:
        headers = {"retry-after": service.faults.retry_after} if fault == "429" else {}
        return _error(protocol, _REFUSALS[fault], headers)
    _refuse(service, asked, fault, key)
    answer = service.brain(asked)
    usage = count(asked, answer)
    if service.context is not None and usage["prompt"] > service.context:
        raise _too_long(asked, service.context, usage["prompt"])
    if await _gone_after(request, service.faults.hang_seconds if fault == "hang" else service.latency):
        counts.abandoned += 1
        return Response(status_code=499)
    reply = protocol.write(asked, answer, usage)
    if (odd := service.odd(asked)) is not None:
        return _odd(counts, odd, asked, reply, usage)
    if fault in ("malformed", "dropped"):
        counts.lose(asked.model, usage)
        text = json.dumps(reply)
        return Broken(text) if fault == "dropped" else Response(text[: len(text) // 2], media_type="application/json")
    counts.bill(asked.model, digest, usage)
    return JSONResponse(protocol.cut(reply) if fault == "truncated" else reply)


def _refuse(service: Service, asked: Asked, fault: Fault | None, key: str) -> None:
    if fault == "refused_key":
        raise _wrong_key(key)
    if fault == "unknown_model" or not service.has(asked.model):
        raise Refused(
            404, "model_not_found", f"The model `{asked.model}` does not exist or you do not have access to it."
        )
    if fault == "too_long":
        raise _too_long(asked, 1000, 1001)


def _too_long(asked: Asked, most: int, tokens: int) -> Refused:
    if asked.protocol == "gemini":
        words = f"The input token count ({tokens}) exceeds the maximum number of tokens allowed ({most})."
        return Refused(400, "INVALID_ARGUMENT", words)
    words = f"This model's maximum context length is {most} tokens. However, your messages resulted in {tokens} tokens."
    return Refused(400, "context_length_exceeded", words)


def _wrong_key(key: str) -> Refused:
    """As the real ones do, it repeats what it was sent."""
    return Refused(401, "invalid_api_key", f"Incorrect API key provided: {key}.")


def _bearer(request: Request) -> str:
    return request.headers.get("authorization", "").removeprefix("Bearer ")


def _error(protocol: ModuleType, refused: Refused, headers: dict[str, str] | None = None) -> Response:
    return JSONResponse(protocol.error(refused), refused.status, headers)


async def _gone_after(request: Request, seconds: float) -> bool:
    """Waits, and tells whether the client went away meanwhile."""
    if seconds:
        # The body was read before, so the next message says that the client is gone.
        waiting = asyncio.ensure_future(request.receive())
        await asyncio.wait({waiting}, timeout=seconds)
        if waiting.done():
            return True
        waiting.cancel()
    return False


def _odd(counts: Counts, odd: Odd, asked: Asked, reply: dict[str, Any], usage: dict[str, int]) -> Response:
    if odd in READABLE:
        counts.bill(asked.model, asked.digest, usage)
    else:
        counts.lose(asked.model, usage)
    return response_of(odd, asked.protocol, reply)


class Broken(Response):
    """A reply whose connection is closed in mid-body."""

    def __init__(self, text: str) -> None:
        super().__init__(text, media_type="application/json")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        half = bytes(self.body)[: len(self.body) // 2]
        await send({"type": "http.response.body", "body": half, "more_body": True})
        # An app that ends without its last message makes uvicorn close the socket.
