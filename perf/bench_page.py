"""How fast the page of an audit is in Chromium: python perf/bench_page.py RUN ...

For each run folder: the size of the page, milliseconds until a key is answered (`j` selects the first finding), and
until a task is shown after a click; medians of five loads, each in a new browser context.
"""

import shutil
import statistics
import sys
import time
from pathlib import Path
from typing import Any

LOADS = 5
SELECTED = "[tabindex='-1']:focus, li:focus, article:focus, a:focus"
TASK = "dialog[open] pre >> nth=0"


def main() -> None:
    """Measure the page of every run folder of the command line."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for run in map(Path, sys.argv[1:]):
            loads = [measured(browser, run / "report.html") for _ in range(LOADS)]
            ready, opened = (statistics.median(times) for times in zip(*loads, strict=True))
            size = (run / "report.html").stat().st_size
            print(
                f"{run}: page {size / 1e6:.2f} MB, answers a key after {ready:.0f} ms, opens a task in {opened:.0f} ms"
            )
        browser.close()


def measured(browser: Any, page: Path) -> tuple[float, float]:
    """Return the milliseconds until a key is answered, and those from a click to the task."""
    context = browser.new_context(viewport={"width": 1440, "height": 1000})
    tab = context.new_page()
    began = time.perf_counter()
    tab.goto(page.resolve().as_uri())
    tab.keyboard.press("j")
    tab.wait_for_selector(SELECTED)
    ready = time.perf_counter() - began
    began = time.perf_counter()
    tab.click("a[data-task]")
    tab.wait_for_selector(TASK)
    opened = time.perf_counter() - began
    context.close()
    return ready * 1000, opened * 1000


if __name__ == "__main__":
    main()
