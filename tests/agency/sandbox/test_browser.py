"""Plans in a real Chromium, on pages that work, fail, hang, and look for a way out."""

import http.server
import os
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from agenthard.agency.sandbox import BrowserError, BrowserRecord, Plan, browse
from agenthard.agency.sandbox.plan import (
    AssertBox,
    AssertQuiet,
    AssertScript,
    Click,
    Frames,
    Keys,
    Open,
    Read,
    Screenshot,
    Step,
    Type,
    Wait,
)
from agenthard.agency.sandbox.record import png_size
from agenthard.containment import job
from agenthard.containment.isolation import OFF_VARIABLE

pytestmark = [pytest.mark.browser, pytest.mark.long]

GAME = """<!doctype html><meta charset=utf-8><title>Steps</title>
<style>body{margin:0} #board{position:absolute;left:40px;top:60px;width:300px;height:200px;background:#246}
#dot{position:absolute;left:10px;top:20px;width:30px;height:30px;background:#fc0}</style>
<div id=board><div id=dot></div></div><input id=name><p id=late hidden>ready</p>
<script>
window.app = {moves: [], clicks: [], ratio: 0.30000000000000004, fetched: null};
addEventListener("keydown", (e) => app.moves.push(e.key));
document.getElementById("board").addEventListener("click", (e) => app.clicks.push([e.offsetX, e.offsetY]));
setTimeout(() => { document.getElementById("late").hidden = false; }, 300);
(function turn() { requestAnimationFrame(turn); })();
fetch("data/levels.json").then((r) => r.json()).then((v) => { app.fetched = v; });
const played = +(localStorage.played || 0); localStorage.played = played + 1; app.played = played;
</script>"""
Browsed = Callable[..., BrowserRecord]


@pytest.fixture
def browsed(tmp_path: Path) -> Browsed:
    def of(*steps: Step, page: str = GAME, **settings: object) -> BrowserRecord:
        site = tmp_path / "site"
        (site / "data").mkdir(parents=True, exist_ok=True)
        (site / "index.html").write_text(page)
        (site / "data" / "levels.json").write_text("[1, 2]")
        weak = bool(os.environ.get(OFF_VARIABLE))
        plan = Plan.model_validate({"steps": [step.model_dump() for step in steps], **settings})
        return browse(site, plan, tmp_path / "images", hidden=[tmp_path], weak_isolation=weak)

    return of


@pytest.fixture(autouse=True)
def left_running(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing that a job started is left: all its processes have a variable that is only theirs."""
    mark = f"mark-{uuid.uuid4().hex}"
    monkeypatch.setitem(job.ENVIRONMENT, "AGENTHARD_TEST_MARK", mark)
    yield
    left = []
    for folder in Path("/proc").iterdir():
        with suppress(OSError):
            if folder.name.isdigit() and mark.encode() in (folder / "environ").read_bytes():
                left.append((folder / "cmdline").read_bytes())
    assert left == []


def test_a_plan_is_carried_out_and_leaves_nothing(browsed: Browsed, tmp_path: Path) -> None:
    found = browsed(
        Wait(selector="#late"),
        Keys(keys=("ArrowUp", "a")),
        AssertScript(script="app.moves", equals=["ArrowUp", "a"]),
        Click(selector="#board", x=0.5, y=0.25, unit="share"),
        Click(selector="#board", x=5, y=7),
        AssertScript(script="app.clicks", equals=[[150, 50], [5, 7]], tolerance=1),
        AssertScript(script="Promise.resolve(app.ratio)", equals=0.3, tolerance=1e-9),
        AssertBox(selector="#board", x=40, y=60, width=300, height=200),
        AssertBox(selector="#dot", x=10, y=20, relative_to="#board", tolerance=0.5),
        Type(selector="#name", text="Ada"),
        AssertScript(script="document.getElementById('name').value", equals="Ada"),
        Wait(script="app.fetched !== null"),
        AssertScript(script="app.fetched", equals=[1, 2]),
        Screenshot(label="window"),
        Screenshot(selector="#board"),
        Frames(count=3, every_ms=50),
        Open(),
        AssertScript(script="app.played", equals=1),
        AssertScript(script="[innerWidth, innerHeight, devicePixelRatio]", equals=[1280, 720, 1]),
        AssertQuiet(),
    )
    assert found.failures() == () and found.completed and found.demonstrated
    sizes = [(image.name, image.width, image.height) for image in found.images]
    assert sizes[:2] == [("step-014.png", 1280, 720), ("step-015.png", 300, 200)] and len(sizes) == 5
    for image in found.images:
        assert png_size((tmp_path / "images" / image.name).read_bytes()) == (image.width, image.height)
    assert found.browser.startswith("Chromium ") and found.console == () and found.refused == ()
    assert any(line.startswith("memory: ") for line in found.not_contained)


def test_values_are_read_whole_as_far_as_is_asked_for(browsed: Browsed) -> None:
    found = browsed(
        Read(script="Promise.resolve([app.moves, 'x'.repeat(9000)])", most=10_000), Read(script="'y'.repeat(9000)")
    )
    assert found.failures() == ()
    assert found.steps[1].value == [[], "x" * 9000] and found.steps[2].value == '"' + "y" * 3999


def test_assertions_that_fail_are_named_and_the_plan_goes_on(browsed: Browsed) -> None:
    found = browsed(
        AssertScript(script="app.moves.length", equals=3),
        AssertScript(script="1", equals=True),
        AssertBox(selector="#board", x=50, width=301),
        AssertQuiet(),
        Screenshot(),
    )
    reasons = {step.number: (step.failure, step.reason) for step in found.failures()}
    assert reasons == {
        1: ("assertion", "is 0, expected 3"),
        2: ("assertion", "is 1, expected true"),
        3: ("assertion", "x is 40, expected 50 ± 1"),
    }
    assert found.completed and len(found.images) == 1


@pytest.mark.parametrize(
    ("step", "failure", "reason"),
    [
        (Click(selector="#missing"), "selector", "#missing is not on the page"),
        (Wait(selector="#hidden"), "selector", "#hidden is not visible"),
        (AssertScript(script="nothing.there"), "page_error", "ReferenceError: nothing is not defined"),
        (Wait(script="false"), "time_limit", "the script did not become true within 1 s"),
        (Open(path="other.html"), "navigation", "other.html is not in the folder"),
        (Open(path="../secret.txt"), "navigation", "../secret.txt is not in the folder"),
        (Open(path="link.txt"), "navigation", "link.txt is not in the folder"),
        (Click(selector="##"), "selector", "##"),
        (AssertScript(script="(() => { while (true) {} })()"), "time_limit", "no answer of the page within 1 s"),
    ],
)
def test_a_step_that_cannot_be_carried_out_ends_the_plan(
    browsed: Browsed, tmp_path: Path, step: Step, failure: str, reason: str
) -> None:
    (tmp_path / "secret.txt").write_text("gold")
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "link.txt").symlink_to(tmp_path / "secret.txt")
    found = browsed(step, Screenshot(), page="<p>one</p><b id=hidden style='display:none'>x</b>", step_seconds=1)
    opened, broken, rest = found.steps
    assert (opened.status, broken.status, rest.status) == ("ok", "broken", "not_run")
    assert broken.failure == failure and reason in broken.reason
    assert not found.demonstrated and not found.completed


def test_a_page_that_hangs_at_once_ends_at_the_limit_of_the_plan(browsed: Browsed) -> None:
    found = browsed(Screenshot(), page="<script>while (true) {}</script>", seconds=3, step_seconds=60)
    assert found.steps[0].failure == "time_limit" and "longer than 3 s" in found.steps[0].reason
    assert not found.demonstrated


def test_errors_of_the_page_are_listed(browsed: Browsed) -> None:
    page = "<script>console.error('bad'); alert('hello'); setTimeout(() => { throw new Error('late') }, 50)</script>"
    found = browsed(Wait(milliseconds=300), AssertQuiet(), page=page)
    assert [(line.level, line.text) for line in found.console] == [
        ("error", "bad"),
        ("dialog", "hello"),
        ("pageerror", "late"),
    ]
    assert found.failures()[0].reason == "2 errors, the first: bad" and len(found.errors) == 2


@pytest.fixture
def neighbour() -> Iterator[tuple[str, list[str]]]:
    """Another server on this machine, and what it was asked."""
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_address[1]}", asked
    server.shutdown()
    server.server_close()


def test_a_page_reaches_nothing_but_its_own_server(browsed: Browsed, neighbour: tuple[str, list[str]]) -> None:
    host, asked = neighbour
    page = f"""<script>window.reached = [];
    for (const url of ["http://{host}/a", "https://example.com/", "file:///etc/passwd"])
      fetch(url, {{mode: "no-cors"}}).then(() => reached.push(url)).catch(() => 0);
    const socket = new WebSocket("ws://{host}/b"); socket.onmessage = () => reached.push("socket");
    new Image().src = "http://{host}/c";</script>"""
    found = browsed(Wait(milliseconds=800), AssertScript(script="reached", equals=[]), page=page)
    assert found.failures() == () and asked == []
    assert f"http://{host}/a" in found.refused and "https://example.com/" in found.refused


@pytest.mark.parametrize("off", ["network", "network,processes,landlock,seccomp"])
def test_what_is_not_contained_is_in_the_record(
    browsed: Browsed, monkeypatch: pytest.MonkeyPatch, neighbour: tuple[str, list[str]], off: str
) -> None:
    monkeypatch.setenv(OFF_VARIABLE, off)
    host, asked = neighbour
    page = f"<script>new Image().src = 'http://{host}/c'; fetch('http://{host}/d')</script><p>here</p>"
    found = browsed(Wait(milliseconds=300), Screenshot(), page=page)
    assert found.completed and found.demonstrated and asked == []
    assert any(line.startswith("network: ") for line in found.not_contained)
    assert any("without a network namespace" in line for line in found.not_contained)


def test_without_a_browser_the_message_says_what_to_install(
    browsed: Browsed, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BrowserError, match="no browser: none of chromium"):
        browsed(Screenshot())
