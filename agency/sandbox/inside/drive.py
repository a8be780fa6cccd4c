"""Drives a browser through a plan, inside a job. The folder of this module runs as a package of its own, without ours.

It is started as :data:`agenthard.agency.sandbox.browser.START`, in a folder with ``order.json`` (the browser's program,
its arguments, the plan, and the names of the images of each step) and ``site/`` (what is served). The record is written
to ``record.json`` before and after every step, so that it names the step that ran when the job was killed. Images are
written to ``images/``.
"""

import asyncio
import contextlib
import json
import os
import re
import sys
from typing import Any

from .known import Record, without
from .serving import serve
from .steps import IMAGES, Driver

SITE, ORDER = "site", "order.json"
VIEWPORT: Any = {"width": 1280, "height": 720}
START_SECONDS, CLOSE_SECONDS = 60.0, 5.0


async def drive(order: dict[str, Any]) -> None:
    """Serve the folder, start the browser, and carry out the plan."""
    from playwright.async_api import TimeoutError as LateError
    from playwright.async_api import async_playwright

    origin = serve(SITE)
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
        page.on("console", lambda message: record.line(message.type, without(message.text, origin)))
        page.on("pageerror", lambda error: record.line("pageerror", without(str(error), origin)))
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


def main() -> None:
    """Carry out the order in the present folder."""
    with open(ORDER) as file:
        order = json.load(file)
    asyncio.run(drive(order))


if __name__ == "__main__":
    main()
