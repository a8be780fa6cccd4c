"""Servers and browsers for the tests of the review."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.flows.review.web.served import Process, Served, Server, ServeSettings, token, users_file
from tests.reports.browsing import ARGUMENTS, BROWSERS, Visit, watch

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder of the key of sessions and of the users file."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("AGENTHARD_HOME", str(folder))
    return folder


@pytest.fixture
def serve(home: Path) -> Iterator[Callable[..., Server]]:
    """Starts servers; they are stopped after the test."""
    started: list[Server] = []

    def start(*runs: Path, **settings: Any) -> Server:
        started.append(Server(ServeSettings(**{"runs": runs, "users": users_file(home), **settings})))
        return started[-1]

    yield start
    for server in started:
        server.stop()


@pytest.fixture
def server(serve: Callable[..., Server], demo_run: Path) -> Server:
    """A server with a copy of the demo audit."""
    return serve(demo_run)


@pytest.fixture
def process(home: Path, demo_run: Path) -> Iterator[Callable[..., Process]]:
    """Starts servers in processes of their own with a copy of the demo audit."""
    started: list[Process] = []

    def start(*options: str) -> Process:
        started.append(Process(demo_run, home, *options))
        return started[-1]

    yield start
    for each in started:
        each.stop()


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    """A headless Chromium."""
    from playwright.sync_api import sync_playwright

    executable = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if executable is None:
        pytest.skip(f"no browser: none of {', '.join(BROWSERS)} is installed")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=executable, args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture
def sign_in(browser: "Browser") -> Iterator[Callable[..., Visit]]:
    """Opens the queue as a user; afterwards nothing may have gone wrong or been fetched from elsewhere."""
    visits: list[tuple[Visit, Served]] = []
    expected: list[str] = []

    def enter(server: Served, name: str, **context: Any) -> Visit:
        page = browser.new_context(**context).new_page()
        page.set_default_timeout(15_000)
        visit = watch(page, f"{server.base}/enter?token={token(name)}")
        page.goto(visit.url)
        visits.append((visit, server))
        return visit

    enter.problems_expected = expected  # type: ignore[attr-defined]
    yield enter
    for visit, server in visits:
        assert [problem for problem in visit.problems if problem not in expected] == []
        assert [url for url in visit.requests if not url.startswith(server.base)] == []
        visit.page.context.close()
