"""The web application: routes, and what belongs to them all. Every request passes `guard`."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib import resources
from typing import Annotated, Any
from urllib.parse import parse_qs, quote

from fastapi import Depends, FastAPI, Header, HTTPException, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response, StreamingResponse

from agenthard.flows.errors import CommandError, InfrastructureError
from agenthard.flows.review.events import ReviewError
from agenthard.flows.review.exchange import events_text, label_lines, truth_lines
from agenthard.flows.review.web.access import SESSION_DAYS, Access, User
from agenthard.flows.review.web.assigning import assign_page
from agenthard.flows.review.web.cause_pages import cause_page, causes_page, disputes_page
from agenthard.flows.review.web.guard import AccessLog, App, Guard
from agenthard.flows.review.web.history_page import history_page
from agenthard.flows.review.web.instance_page import instance_page
from agenthard.flows.review.web.listing import Listing
from agenthard.flows.review.web.live import Live
from agenthard.flows.review.web.open_run import OpenRun
from agenthard.flows.review.web.progress_page import FORMATS, progress_page
from agenthard.flows.review.web.queue_page import queue_page
from agenthard.flows.review.web.recording import NotAllowedError, read_sent, record
from agenthard.flows.review.web.rendering import Visit, render_plain
from agenthard.flows.review.web.repair_page import repair_page, trial
from agenthard.flows.review.web.series import Series, series_of
from agenthard.reports.kit.files import json_text
from agenthard.taxonomy.errors import AgentHardError

STATIC = {
    "review": ("review.css", "outbox.js", "review.js"),
    "reports": ("base.css", "findings.css", "instance.css", "media.css", "dom.js", "copying.js", "instance.js"),
}
"""Files that pages load, by where they are; those of the reports are shared with the audit page."""
PAGES: Mapping[str, Callable[[Visit], str]] = {
    "queue": queue_page,
    "task": instance_page,
    "causes": causes_page,
    "cause": cause_page,
    "disputes": disputes_page,
    "repair": repair_page,
    "assign": assign_page,
    "progress": progress_page,
    "history": history_page,
}
"""Pages of a run by the last part of their path."""
_TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"}


@dataclass(frozen=True)
class Review:
    """What the server serves."""

    runs: Mapping[str, OpenRun]
    """Audits by name."""
    listings: Mapping[str, Listing]
    """Their instances as lists show them."""
    series: Mapping[str, Series]
    """The audits of the same benchmark, by the name of each."""
    live: Mapping[str, Live]
    """Their open pages."""
    access: Access
    """Who may review."""


def create_app(runs: Mapping[str, OpenRun], access: Access, log: AccessLog) -> App:
    """Make the application.

    Args:
        runs: audits by name.
        access: who may review.
        log: where sign-ins, changes and refusals are noted.
    """
    series = series_of(runs.values())
    listings = {name: Listing(run, series[name]) for name, run in runs.items()}
    review = Review(runs, listings, series, {name: Live(run) for name, run in runs.items()}, access)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        polling = [asyncio.create_task(live.poll()) for live in review.live.values()]
        yield
        for task in polling:
            task.cancel()

    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, lifespan=lifespan)
    app.state.review = review
    app.add_exception_handler(AgentHardError, _explain)
    app.add_exception_handler(HTTPException, _plain_error)
    _add_entrance(app)
    _add_pages(app)
    _add_data(app)
    return Guard(app, access, log)


def _review(request: Request) -> Review:
    found: Review = request.app.state.review
    return found


def _visit(request: Request, run: str = "") -> Visit:
    """Collect what every page needs: who, which run, and the address."""
    review = _review(request)
    user: User | None = request.state.user
    if user is None:
        raise HTTPException(401, "Sign in with your token.")
    if run not in review.runs:
        raise HTTPException(404, f"No audit here has the name {run!r}.")
    reviewed = review.runs[run]
    if request.method == "GET":
        reviewed.refresh()
    return Visit(
        run=reviewed,
        listing=review.listings[run],
        series=review.series[run],
        user=user,
        csrf=review.access.csrf(user),
        runs=tuple(review.runs),
        people=tuple(name for name, each in review.access.users.items() if each.reviews),
        query=dict(request.query_params),
        seen_events=reviewed.state.seq,
    )


Here = Annotated[Visit, Depends(_visit)]


def _add_entrance(app: FastAPI) -> None:
    @app.get("/enter")
    def entrance(request: Request, token: str = "") -> Response:
        if not token:
            return HTMLResponse(render_plain("enter.html.j2", wrong=False))
        return _enter(_review(request).access, token)

    @app.post("/enter")
    async def enter(request: Request) -> Response:
        sent = parse_qs((await request.body()).decode("utf-8", "replace"))
        return _enter(_review(request).access, sent.get("token", [""])[0])

    @app.get("/")
    def start(request: Request) -> Response:
        names = list(_review(request).runs)
        if len(names) == 1:
            return RedirectResponse(f"/runs/{quote(names[0], safe='')}/queue", 303)
        return HTMLResponse(render_plain("runs.html.j2", names=names))

    @app.get("/favicon.ico")
    def icon() -> Response:
        return Response(status_code=204)

    @app.get("/static/{name}")
    def static(name: str) -> Response:
        for package, names in STATIC.items():
            if name in names:
                folder = "agenthard.flows.review.web" if package == "review" else "agenthard.reports"
                below = "static" if package == "review" else "templates"
                data = resources.files(folder).joinpath(below, name).read_bytes()
                media = _TYPES[name.rpartition(".")[2]]
                return Response(data, media_type=media, headers={"cache-control": "no-cache"})
        raise HTTPException(404, "This file does not exist.")


def _enter(access: Access, token: str) -> Response:
    user = access.enter(token)
    if user is None:
        return HTMLResponse(render_plain("enter.html.j2", wrong=True), 403)
    answer = RedirectResponse("/", 303)
    answer.set_cookie(
        access.cookie,
        access.session(user),
        max_age=SESSION_DAYS * 86_400,
        path="/",
        secure=access.secure,
        httponly=True,
        samesite="strict",
    )
    return answer


def _add_pages(app: FastAPI) -> None:
    for path, page in PAGES.items():
        app.get(f"/runs/{{run}}/{path}")(_as_endpoint(page))


def _as_endpoint(page: Any) -> Any:
    def show(here: Here) -> HTMLResponse:
        return HTMLResponse(page(here))

    return show


def _add_data(app: FastAPI) -> None:
    @app.post("/runs/{run}/events")
    async def receive(request: Request, here: Here, run: str) -> JSONResponse:
        """Store events. The answer is sent when they are on disk."""
        sent = read_sent(await _json(request))
        stored = await run_in_threadpool(record, here.run, here.user, sent)
        _review(request).live[run].announce()
        return JSONResponse({"stored": [{"id": str(event.id), "seq": event.seq} for event in stored]})

    @app.get("/runs/{run}/messages")
    def messages(here: Here, task: str, trajectory: str, start: int = 0, whole: bool = False) -> Response:
        """Send messages of a run from a place on; one of them in full length when `whole` is asked for."""
        here.run.require(("task", task))
        limits = {"most": 1, "longest": sys.maxsize} if whole else {}
        found = here.run.messages(task, trajectory, max(start, 0), not here.sees(task), **limits)
        return Response(json_text(found), media_type="application/json")

    @app.get("/runs/{run}/export")
    def export(here: Here, format: str = "events") -> Response:
        if here.user.role == "reviewer":
            raise NotAllowedError("only admins and readers export: the files hold what others say")
        if format not in {name for name, _ in FORMATS}:
            raise ReviewError(f"no format {format!r}; there are {', '.join(name for name, _ in FORMATS)}")
        text, suffix = _exported(here.run, format), "csv" if format == "csv" else "jsonl"
        name = quote(f"{here.run.name}-{format}.{suffix}", safe="")
        headers = {"content-disposition": f"attachment; filename*=UTF-8''{name}"}
        return Response(text.encode(), media_type="application/octet-stream", headers=headers)

    @app.post("/runs/{run}/repair")
    async def try_repair(request: Request, here: Here) -> HTMLResponse:
        if not here.user.reviews:
            raise NotAllowedError(f"{here.user.name} has the role {here.user.role}, which tries no repairs")
        body = await _json(request)
        given = body if isinstance(body, dict) else {}
        words = [str(given[name]) for name in ("task", "finding", "patch") if isinstance(given.get(name), str)]
        if len(words) != 3:
            raise ReviewError("a try of a repair needs the texts task, finding and patch")
        return HTMLResponse(await run_in_threadpool(trial, here, *words))

    @app.get("/runs/{run}/live")
    async def live(
        request: Request,
        here: Here,
        run: str,
        task: str = "",
        after: Annotated[int, Query(ge=0)] = 0,
        last_event_id: Annotated[int, Header(ge=0)] = 0,
    ) -> StreamingResponse:
        item = task if task in here.run.decisions else ""
        messages = _review(request).live[run].messages(here.user.name, item, max(after, last_event_id))
        return StreamingResponse(messages, media_type="text/event-stream", headers={"x-accel-buffering": "no"})


def _exported(run: OpenRun, form: str) -> str:
    if form in ("events", "csv"):
        return events_text(run.events_after(0), "csv" if form == "csv" else "events")
    make = label_lines if form == "labels" else truth_lines
    with run.lock:
        lines = make(run.state, run.audit.decisions)
    return "".join(json_text(line) + "\n" for line in lines)


async def _json(request: Request) -> Any:
    try:
        return await request.json()
    except (ValueError, RecursionError):
        raise ReviewError("the request is not valid JSON") from None


async def _explain(request: Request, error: Exception) -> Response:
    """Answer with the sentence of one of our errors."""
    if isinstance(error, NotAllowedError):
        status = 403
    elif isinstance(error, InfrastructureError):  # the page keeps what it sent and tries again; 400 makes it give up
        status = 503
    else:
        status = 400 if isinstance(error, (ReviewError, CommandError)) else 500
    return _error(request, status, str(error))


async def _plain_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _error(request, error.status_code, str(error.detail))


def _error(request: Request, status: int, reason: str) -> Response:
    if request.method == "POST":
        return JSONResponse({"error": reason}, status)
    return HTMLResponse(render_plain("error.html.j2", status=status, reason=reason), status)
