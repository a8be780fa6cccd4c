"""Embeddings, server side: words counted in a few columns by their hash, so that texts with equal words are alike."""

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

if TYPE_CHECKING:
    from tests.loopback.app import Service

DIMENSIONS = 24


def vector(text: str) -> list[float]:
    counts = [0.0] * DIMENSIONS
    for word in re.findall(r"\w+", text.lower()):
        counts[hashlib.sha256(word.encode()).digest()[0] % DIMENSIONS] += 1.0
    return counts


def routes(service: "Service") -> list[Route]:
    """Makes the routes of both protocols; every request is counted, and `faults` applies to it."""

    async def openai(request: Request) -> Response:
        body = json.loads(await request.body())
        refused = _refused(service, request.headers.get("authorization", "").removeprefix("Bearer "), body)
        if refused:
            return refused
        texts = body["input"]
        if not texts or not all(texts):
            return _error(400, "'input' cannot be an empty string")
        # Out of order, as the interface allows: the index counts.
        data = [{"object": "embedding", "index": i, "embedding": vector(text)} for i, text in enumerate(texts)][::-1]
        used = sum(len(text.split()) for text in texts)
        usage = {"prompt_tokens": used, "total_tokens": used}
        return JSONResponse({"object": "list", "model": body["model"], "data": data, "usage": usage})

    async def google(request: Request) -> Response:
        body = json.loads(await request.body())
        refused = _refused(service, request.headers.get("x-goog-api-key", ""), body)
        if refused:
            return refused
        texts = ["".join(part["text"] for part in each["content"]["parts"]) for each in body["requests"]]
        if len(texts) > 100:
            return _error(400, "at most 100 requests can be in one batch")
        return JSONResponse({"embeddings": [{"values": vector(text)} for text in texts]})

    return [
        Route("/v1/embeddings", openai, methods=["POST"]),
        Route("/v1beta/models/{model:path}:batchEmbedContents", google, methods=["POST"]),
    ]


def _refused(service: "Service", key: str, body: dict[str, Any]) -> Response | None:
    service.counts.received += 1
    if key != service.key:
        return _error(401, f"Incorrect API key provided: {key}.")
    digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
    fault = service.faults.next(digest, service.counts.seen[digest])
    service.counts.seen[digest] += 1
    if not fault:
        return None
    service.counts.faults[fault] += 1
    return _error(429 if fault.startswith("429") else 500, "try again")


def _error(status: int, words: str) -> Response:
    return JSONResponse({"error": {"message": words, "type": "invalid_request_error", "code": str(status)}}, status)
