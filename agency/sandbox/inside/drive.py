"""Drives a browser through a plan, inside a job. Runs outside our package and must not import it.

Usage: ``python -I drive.py``, in a folder with ``order.json`` (the browser's program, its arguments, the plan, and the
names of the images of each step) and ``site/`` (what is served). The record is written to ``record.json`` before and
after every step, so that it names the step that ran when the job was killed. Images are written to ``images/``.
"""

import asyncio
import contextlib
import http.server
import io
import json
import math
import os
import re
import sys
import threading
import urllib.parse
from collections.abc import Awaitable, Callable
from typing import Any

SITE, IMAGES, RECORD, ORDER = "site", "images", "record.json", "order.json"
VIEWPORT: Any = {"width": 1280, "height": 720}
START_SECONDS, CLOSE_SECONDS = 60.0, 5.0
MOST_LINES, MOST_TEXT, MOST_VALUE = 200, 500, 4000


class Broken(Exception):
    """A step that cannot be carried out: kind of failure, and reason."""


class Failed(Exception):
    """An assertion that does not hold: reason, and what was found."""


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves the regular files of one folder; no listing, and nothing that a link leads out to."""

    root = ""

    def translate_path(self, path: str) -> str:
        """Return the file of an address; a name that cannot exist for anything outside the folder."""
        name = urllib.parse.unquote(urllib.parse.urlsplit(path).path)
        file = os.path.realpath(os.path.join(self.root, name.lstrip("/")))
        if os.path.isdir(file):
            file = os.path.realpath(os.path.join(file, "index.html"))
        inside = os.path.commonpath([file, self.root]) == self.root
        return file if inside and os.path.isfile(file) else os.path.join(self.root, "\0")

    def send_head(self) -> Any:
        """Answer; a browser asks for an icon by itself, and its absence is not an error of the page."""
        file = self.translate_path(self.path)
        if "\0" in file:
            icon = self.path == "/favicon.ico"
            body = b"" if icon else b"not found"
            self.send_response(204 if icon else 404)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            return io.BytesIO(body)
        return super().send_head()

    def end_headers(self) -> None:
        """Let nothing be kept: a plan may open a page again."""
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Write nothing."""


class Record:
    """What is known so far, written to disk as it grows."""

    def __init__(self, steps: int) -> None:
        self.browser = ""
        self.steps: list[dict[str, Any]] = [{"number": n, "status": "not_run"} for n in range(steps + 1)]
        self.console: list[dict[str, str]] = []
        self.console_left_out = 0
        self.refused: set[str] = set()
        self.running: int | None = None

    def line(self, level: str, text: str) -> None:
        """Keep a line of the page's console."""
        if len(self.console) < MOST_LINES:
            self.console.append({"level": level, "text": text[:MOST_TEXT]})
        else:
            self.console_left_out += 1

    def refuse(self, address: str) -> None:
        """Keep an address that was refused."""
        if len(self.refused) < MOST_LINES:
            self.refused.add(address[:MOST_TEXT])

    def write(self) -> None:
        """Write all of it in one step."""
        text = json.dumps({**vars(self), "refused": sorted(self.refused)})
        with open(f"{RECORD}.part", "w") as file:
            file.write(text)
        os.replace(f"{RECORD}.part", RECORD)


class Driver:
    """One page, and the steps on it."""

    def __init__(
        self, page: Any, origin: str, order: dict[str, Any], record: Record, timeout_error: type[Exception]
    ) -> None:
        self._page, self._origin, self._order, self._record = page, origin, order, record
        self._plan, self._timeout_error = order["plan"], timeout_error
        self._seconds = float(self._plan["step_seconds"])
        self._milliseconds = 1000 * self._seconds * 0.8  # the browser says what is missing before the step is ended

    async def run(self) -> None:
        """Carry out the plan; the first step that cannot be carried out ends it."""
        steps = [{"do": "open", "path": self._plan["entry"]}, *self._plan["steps"]]
        for number, step in enumerate(steps):
            found = self._record.steps[number]
            self._record.running = number
            self._record.write()
            try:
                do: Callable[..., Awaitable[Any]] = getattr(self, "_" + step["do"])
                value = await asyncio.wait_for(do(step, number), self._seconds + _pauses(step))
                found |= {"status": "ok", "value": _shown(value)}
            except Failed as error:
                reason, value = error.args
                found |= {"status": "failed", "failure": "assertion", "reason": reason, "value": _shown(value)}
            except Broken as error:
                found |= {"status": "broken", "failure": error.args[0], "reason": error.args[1]}
            except (TimeoutError, self._timeout_error):
                reason = f"no answer of the page within {self._seconds:g} s"
                found |= {"status": "broken", "failure": "time_limit", "reason": reason}
            except Exception as error:  # Playwright's own, of which it has one class for all
                found |= {"status": "broken", **_read_error(_without(str(error), self._origin))}
            self._record.running = None
            self._record.write()
            if found["status"] == "broken":
                return

    async def _open(self, step: dict[str, Any], number: int) -> None:
        address = f"{self._origin}/{step['path'].lstrip('/')}"
        answer = await self._page.goto(address, wait_until="load", timeout=self._milliseconds)
        if answer is not None and answer.status >= 400:
            raise Broken("navigation", f"{step['path']} is not in the folder")

    async def _wait(self, step: dict[str, Any], number: int) -> None:
        if step["milliseconds"] is not None:
            await asyncio.sleep(step["milliseconds"] / 1000)
        elif step["script"] is not None:
            try:
                await self._page.wait_for_function(step["script"], timeout=self._milliseconds)
            except self._timeout_error:
                reason = f"the script did not become true within {self._seconds:g} s"
                raise Broken("time_limit", reason) from None
        else:
            await self._element(step["selector"], "hidden" if step["hidden"] else "visible")

    async def _click(self, step: dict[str, Any], number: int) -> None:
        element = await self._element(step["selector"])
        await element.evaluate("node => node.scrollIntoView({block: 'nearest', inline: 'nearest'})")
        box = await self._box(element, step["selector"])
        x, y = (0.5, 0.5) if step["x"] is None else (step["x"], step["y"])
        share = step["x"] is None or step["unit"] == "share"
        left = box["x"] + (x * box["width"] if share else x)
        top = box["y"] + (y * box["height"] if share else y)
        for _ in range(step["count"]):
            await self._page.mouse.click(left, top, button=step["button"])

    async def _keys(self, step: dict[str, Any], number: int) -> None:
        if step["selector"] is not None:
            await (await self._element(step["selector"])).focus()
        for key in step["keys"]:
            await self._page.keyboard.press(key)
            await asyncio.sleep(step["every_ms"] / 1000)

    async def _type(self, step: dict[str, Any], number: int) -> None:
        element = await self._element(step["selector"])
        await element.fill("", timeout=self._milliseconds)
        await element.press_sequentially(step["text"], timeout=self._milliseconds)

    async def _assert_script(self, step: dict[str, Any], number: int) -> Any:
        value = await self._page.evaluate(step["script"])
        if not _equal(value, step["equals"], step["tolerance"]):
            raise Failed(f"is {_short(value)}, expected {_short(step['equals'])}", value)
        return value

    async def _assert_box(self, step: dict[str, Any], number: int) -> Any:
        box = await self._box(await self._element(step["selector"]), step["selector"])
        if step["relative_to"] is not None:
            base = await self._box(await self._element(step["relative_to"]), step["relative_to"])
            box = {**box, "x": box["x"] - base["x"], "y": box["y"] - base["y"]}
        off = [
            f"{edge} is {box[edge]:g}, expected {step[edge]:g} ± {step['tolerance']:g}"
            for edge in ("x", "y", "width", "height")
            if step[edge] is not None and not abs(box[edge] - step[edge]) <= step["tolerance"]
        ]
        if off:
            raise Failed("; ".join(off), box)
        return box

    async def _assert_quiet(self, step: dict[str, Any], number: int) -> None:
        errors = [line["text"] for line in self._record.console if line["level"] in ("error", "pageerror")]
        if errors:
            raise Failed(f"{len(errors)} errors, the first: {errors[0]}", len(errors))

    async def _screenshot(self, step: dict[str, Any], number: int) -> None:
        place = self._page if step["selector"] is None else await self._element(step["selector"])
        await self._shoot(place, self._order["images"][number][0])

    async def _frames(self, step: dict[str, Any], number: int) -> None:
        for name in self._order["images"][number]:
            await self._shoot(self._page, name)
            await asyncio.sleep(step["every_ms"] / 1000)

    async def _shoot(self, place: Any, name: str) -> None:
        await place.screenshot(path=os.path.join(IMAGES, name), timeout=self._milliseconds)

    async def _element(self, selector: str, state: str = "attached") -> Any:
        found = self._page.locator(selector).first
        try:
            await found.wait_for(state=state, timeout=self._milliseconds)
        except self._timeout_error:
            there = await self._page.locator(selector).count()
            what = "still visible" if state == "hidden" else "not visible" if there else "not on the page"
            raise Broken("selector", f"{selector} is {what}") from None
        return found

    async def _box(self, element: Any, selector: str) -> dict[str, float]:
        box: dict[str, float] | None = await element.bounding_box(timeout=self._milliseconds)
        if box is None:
            raise Broken("selector", f"{selector} is not visible")
        return box


def _pauses(step: dict[str, Any]) -> float:
    """Return how long a step asks to wait, in seconds."""
    pauses = {"wait": step.get("milliseconds") or 0}
    every = step.get("every_ms", 0)
    pauses |= {"keys": every * len(step.get("keys", ())), "frames": (every + 1000) * step.get("count", 0)}
    return float(pauses.get(step["do"], 0)) / 1000


def _read_error(text: str) -> dict[str, str]:
    """Turn an error of Playwright into kind and reason: the first line without the name of its method."""
    line = re.sub(r"^[A-Z]\w+\.\w+: ", "", text.strip().split("\n")[0])[:MOST_TEXT]
    if "crashed" in text or "has been closed" in text:
        return {"failure": "crash", "reason": line}
    if "net::" in text:
        return {"failure": "navigation", "reason": line}
    bad_selector = "selector" in line.lower() and ("parsing" in line or "valid" in line or "Unexpected token" in line)
    return {"failure": "selector" if bad_selector else "page_error", "reason": line}


def _equal(found: Any, wanted: Any, tolerance: float) -> bool:
    if isinstance(wanted, bool) or isinstance(found, bool):
        return type(found) is type(wanted) and found == wanted
    if isinstance(wanted, int | float) and isinstance(found, int | float):
        return abs(found - wanted) <= tolerance
    if isinstance(wanted, list) and isinstance(found, list):
        pairs = zip(found, wanted, strict=False)
        return len(found) == len(wanted) and all(_equal(a, b, tolerance) for a, b in pairs)
    if isinstance(wanted, dict) and isinstance(found, dict):
        return found.keys() == wanted.keys() and all(_equal(found[k], wanted[k], tolerance) for k in wanted)
    return type(found) is type(wanted) and bool(found == wanted)


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _shown(value: Any) -> Any:
    plain = _plain(value)
    text = json.dumps(plain)
    return plain if len(text) <= MOST_VALUE else text[:MOST_VALUE]


def _short(value: Any) -> str:
    return json.dumps(_plain(value), ensure_ascii=False)[:200]


async def drive(order: dict[str, Any]) -> None:
    """Serve the folder, start the browser, and carry out the plan."""
    from playwright.async_api import TimeoutError as LateError
    from playwright.async_api import async_playwright

    Handler.root = os.path.realpath(SITE)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    origin = f"http://127.0.0.1:{server.server_address[1]}"
    record = Record(len(order["plan"]["steps"]))
    os.makedirs(IMAGES, exist_ok=True)
    record.write()
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=order["program"], args=order["arguments"], timeout=1000 * START_SECONDS
        )
        record.browser = f"Chromium {browser.version}"
        context = await browser.new_context(
            viewport=VIEWPORT,
            device_scale_factor=1,
            locale="en-US",
            timezone_id="UTC",
            accept_downloads=False,
            service_workers="block",
        )

        async def pass_or_refuse(route: Any) -> None:
            address = route.request.url
            if address.startswith(f"{origin}/"):
                await route.continue_()
            else:
                record.refuse(address)
                await route.abort()

        async def close(socket: Any) -> None:
            record.refuse(socket.url)
            await socket.close()

        async def answer(dialog: Any) -> None:
            record.line("dialog", dialog.message)
            with contextlib.suppress(Exception):  # the page may be gone by now
                await dialog.accept()

        await context.route("**/*", pass_or_refuse)
        await context.route_web_socket(re.compile(""), close)
        page = await context.new_page()
        page.on("console", lambda message: record.line(message.type, _without(message.text, origin)))
        page.on("pageerror", lambda error: record.line("pageerror", _without(str(error), origin)))
        page.on("dialog", answer)
        driver = Driver(page, origin, order, record, LateError)
        try:
            await asyncio.wait_for(driver.run(), float(order["plan"]["seconds"]))
        except TimeoutError:
            _late(record, order)
        record.write()
        with contextlib.suppress(Exception):  # a page that hangs; the job is killed with all its processes
            await asyncio.wait_for(browser.close(), CLOSE_SECONDS)
        sys.stdout.flush()
        os._exit(0)


def _late(record: Record, order: dict[str, Any]) -> None:
    if record.running is not None:
        reason = f"the plan took longer than {order['plan']['seconds']:g} s"
        record.steps[record.running] |= {"status": "broken", "failure": "time_limit", "reason": reason}
        record.running = None


def _without(text: str, origin: str) -> str:
    """Leave out the port, which differs from run to run."""
    return text.replace(origin, "")


def main() -> None:
    """Carry out the order in the present folder."""
    with open(ORDER) as file:
        order = json.load(file)
    asyncio.run(drive(order))


if __name__ == "__main__":
    main()
