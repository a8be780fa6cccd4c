"""The steps of a plan on one page."""

import asyncio
import os
import re
from collections.abc import Awaitable, Callable
from typing import Any

from .known import MOST_TEXT, Record, without
from .values import MOST_VALUE, equal, short, shown

IMAGES = "images"


class Broken(Exception):
    """A step that cannot be carried out: kind of failure, and reason."""


class Failed(Exception):
    """An assertion that does not hold: reason, and what was found."""


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
                found |= {"status": "ok", "value": shown(value, step.get("most", MOST_VALUE))}
            except Failed as error:
                reason, value = error.args
                found |= {"status": "failed", "failure": "assertion", "reason": reason, "value": shown(value)}
            except Broken as error:
                found |= {"status": "broken", "failure": error.args[0], "reason": error.args[1]}
            except (TimeoutError, self._timeout_error):
                reason = f"no answer of the page within {self._seconds:g} s"
                found |= {"status": "broken", "failure": "time_limit", "reason": reason}
            except Exception as error:  # Playwright's own, of which it has one class for all
                found |= {"status": "broken", **_read_error(without(str(error), self._origin))}
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

    async def _read(self, step: dict[str, Any], number: int) -> Any:
        return await self._page.evaluate(step["script"])

    async def _assert_script(self, step: dict[str, Any], number: int) -> Any:
        value = await self._page.evaluate(step["script"])
        if not equal(value, step["equals"], step["tolerance"]):
            raise Failed(f"is {short(value)}, expected {short(step['equals'])}", value)
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
