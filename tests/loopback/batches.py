"""Files and batches of both protocols, server side. A batch is worked off when its state is asked for."""

import json
import re
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.loopback import chat, gemini, responses
from tests.loopback.odd import READABLE, body_of
from tests.loopback.talk import Refused, count

if TYPE_CHECKING:
    from tests.loopback.app import Service


@dataclass
class Batch:
    id: str
    tag: str
    lines: list[dict[str, Any]]
    model: str = ""
    polls: int = 0
    state: str = "running"
    output: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


@dataclass
class Batches:
    """What was uploaded and begun, and how batches end."""

    files: dict[str, bytes] = field(default_factory=dict)
    begun: dict[str, Batch] = field(default_factory=dict)
    polls: int = 0
    """How often a batch says that it runs before it ends."""
    most: int | None = None
    """Requests that are answered before the batch expires; None for all."""
    refuse: bool = False
    """Whether every batch is refused as a whole once its file was looked at."""


def work_off(service: "Service", batch: Batch) -> None:
    """Answers the lines, as the direct routes would."""
    batch.polls += 1
    if batch.state != "running" or batch.polls <= service.batches.polls:
        return
    if service.batches.refuse:
        batch.state = "failed"
        return
    most = service.batches.most
    for line in batch.lines[:most]:
        status, body = _one(service, line, batch.model)
        (batch.output if status < 400 else batch.errors).append(_line(line, status, body))
    batch.state = "completed" if most is None or most >= len(batch.lines) else "expired"


def _one(service: "Service", line: dict[str, Any], model: str) -> tuple[int, Any]:
    protocol: ModuleType = gemini if model else (chat if line["url"].endswith("completions") else responses)
    asked = protocol.read(model, line["request"]) if model else protocol.read(line["body"])
    service.heard.append(asked)
    fault = service.faults.next(asked.digest, service.counts.seen[asked.digest])
    service.counts.seen[asked.digest] += 1
    if fault:
        service.counts.faults[fault] += 1
    if fault in ("429", "500", "503"):
        return int(fault), protocol.error(Refused(int(fault), "server_error", "The server had an error"))
    answer = service.brain(asked)
    usage = count(asked, answer)
    if (odd := service.odd(asked)) is not None and odd not in READABLE:
        service.counts.lose(asked.model, usage)
    else:
        service.counts.bill(asked.model, asked.digest, usage)
    reply = protocol.write(asked, answer, usage)
    if odd is not None:
        return 200, body_of(odd, asked.protocol, reply)
    return 200, "garbage" if fault == "malformed" else reply


def _line(line: dict[str, Any], status: int, body: Any) -> str:
    if "key" in line:
        return json.dumps({"key": line["key"], **(body if status >= 400 else {"response": body})})
    response = {"status_code": status, "request_id": "r", "body": body}
    return json.dumps({"id": "b", "custom_id": line["custom_id"], "response": response, "error": None})


def _json_lines(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.splitlines() if line.strip()]


def routes(service: "Service") -> list[Route]:
    def known(request: Request) -> bool:
        sent = request.headers.get("authorization", "").removeprefix("Bearer ")
        return service.key in (sent, request.headers.get("x-goog-api-key"))

    def refusal(protocol: ModuleType) -> Response:
        return JSONResponse(protocol.error(Refused(401, "invalid_api_key", "Incorrect API key provided")), 401)

    async def openai_upload(request: Request) -> Response:
        if not known(request):
            return refusal(chat)
        form = await request.body()
        found = re.search(rb'filename="[^"]+"[^\r\n]*\r\n(?:[^\r\n]+\r\n)*\r\n(.*)\r\n--', form, re.DOTALL)
        assert found and b'name="purpose"\r\n\r\nbatch' in form
        name = f"file-{len(service.batches.files)}"
        service.batches.files[name] = found[1]
        return JSONResponse({"id": name, "object": "file", "bytes": len(found[1]), "created_at": 0, "filename": "f",
                             "purpose": "batch", "status": "processed"})  # fmt: skip

    async def openai_content(request: Request) -> Response:
        return Response(service.batches.files[request.path_params["name"]])

    def shown(batch: Batch) -> dict[str, Any]:
        files = service.batches.files
        body: dict[str, Any] = {
            "id": batch.id, "object": "batch", "endpoint": batch.lines[0]["url"], "input_file_id": "f",
            "completion_window": "24h", "created_at": 0, "metadata": {"agenthard": batch.tag},
            "status": "in_progress" if batch.state == "running" else batch.state,
            "request_counts": {"total": len(batch.lines), "completed": len(batch.output), "failed": len(batch.errors)},
        }  # fmt: skip
        if batch.state == "failed":
            body["errors"] = {"object": "list", "data": [{"code": "invalid", "message": "Line 1 is no request"}]}
        for kind, lines in (("output", batch.output), ("error", batch.errors)):
            if lines:
                files[f"{batch.id}-{kind}"] = "\n".join(lines).encode()
                body[f"{kind}_file_id"] = f"{batch.id}-{kind}"
        return body

    async def openai_batches(request: Request) -> Response:
        if not known(request):
            return refusal(chat)
        if request.method == "GET":
            data = [shown(batch) for batch in service.batches.begun.values()]
            return JSONResponse({"object": "list", "data": data, "has_more": False})
        asked = await request.json()
        lines = _json_lines(service.batches.files[asked["input_file_id"]])
        assert all(line["url"] == asked["endpoint"] for line in lines)
        batch = Batch(f"batch_{len(service.batches.begun)}", asked["metadata"]["agenthard"], lines)
        service.batches.begun[batch.id] = batch
        return JSONResponse(shown(batch))

    async def openai_batch(request: Request) -> Response:
        batch = service.batches.begun[request.path_params["id"]]
        if request.method == "POST":
            batch.state = "cancelled"
        else:
            work_off(service, batch)
        return JSONResponse(shown(batch))

    async def google_upload(request: Request) -> Response:
        if request.headers["x-goog-upload-command"] == "start":
            if not known(request):
                return refusal(gemini)
            name = f"files/{len(service.batches.files)}"
            return JSONResponse({}, headers={"x-goog-upload-url": f"{request.base_url}upload/{name}"})
        name = request.url.path.removeprefix("/upload/")
        service.batches.files[name] = service.batches.files.get(name, b"") + await request.body()
        return JSONResponse({"file": {"name": name}}, headers={"x-goog-upload-status": "final"})

    def google_shown(batch: Batch) -> dict[str, Any]:
        state = {"running": "RUNNING", "completed": "SUCCEEDED"}.get(batch.state, batch.state.upper())
        metadata: dict[str, Any] = {"state": f"BATCH_STATE_{state}", "displayName": batch.tag, "name": batch.id}
        lines = batch.output + batch.errors
        if lines:
            service.batches.files[f"files/out-{batch.tag}"] = "\n".join(lines).encode()
            metadata["output"] = {"responsesFile": f"files/out-{batch.tag}"}
        return {"name": batch.id, "metadata": metadata}

    async def google_create(request: Request) -> Response:
        if not known(request):
            return refusal(gemini)
        asked = (await request.json())["batch"]
        lines = _json_lines(service.batches.files[asked["inputConfig"]["fileName"]])
        name = f"batches/{len(service.batches.begun)}"
        batch = Batch(name, asked["displayName"], lines, request.path_params["model"])
        service.batches.begun[name] = batch
        return JSONResponse(google_shown(batch))

    async def google_batches(_: Request) -> Response:
        return JSONResponse({"operations": [google_shown(batch) for batch in service.batches.begun.values()]})

    async def google_batch(request: Request) -> Response:
        batch = service.batches.begun[f"batches/{request.path_params['id']}"]
        work_off(service, batch)
        return JSONResponse(google_shown(batch))

    async def google_cancel(request: Request) -> Response:
        service.batches.begun[f"batches/{request.path_params['id']}"].state = "cancelled"
        return JSONResponse({})

    async def google_content(request: Request) -> Response:
        return Response(service.batches.files[f"files/{request.path_params['name']}"])

    return [
        Route("/v1/files", openai_upload, methods=["POST"]),
        Route("/v1/files/{name}/content", openai_content),
        Route("/v1/batches", openai_batches, methods=["GET", "POST"]),
        Route("/v1/batches/{id}", openai_batch),
        Route("/v1/batches/{id}/cancel", openai_batch, methods=["POST"]),
        Route("/upload/v1beta/files", google_upload, methods=["POST"]),
        Route("/upload/files/{n}", google_upload, methods=["POST"]),
        Route("/v1beta/models/{model:path}:batchGenerateContent", google_create, methods=["POST"]),
        Route("/v1beta/batches", google_batches),
        Route("/v1beta/batches/{id}:cancel", google_cancel, methods=["POST"]),
        Route("/v1beta/batches/{id}", google_batch),
        Route("/v1beta/files/{name}:download", google_content),
        Route("/download/v1beta/files/{name}:download", google_content),
    ]
