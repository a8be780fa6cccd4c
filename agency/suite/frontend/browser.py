"""Looking at the page in a real browser, in a job: other data, then steps in the page, then what there is to see.

Chromium prints the page after a script of ours has acted in it. A browser that is driven from outside can replace
:func:`look_at` as it is: cases go in, a list of observations comes out.
"""

import html
import json
import random
import re
from collections.abc import Sequence
from typing import Any

from agenthard.agency.judges import Probe, ProbeError
from agenthard.agency.suite.kit import PROCESSES
from agenthard.containment import JobLimits

LIMITS = JobLimits(wall_seconds=90, cpu_seconds=30, memory_bytes=1 << 46, processes=PROCESSES, open_files=2048)
"""Chromium reserves far more address space than it uses."""
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --disable-background-networking"
    " --disable-component-update --disable-sync --disable-quic --disable-extensions --user-data-dir=/tmp/profile"
    " --allow-file-access-from-files --virtual-time-budget=20000 --dump-dom"
)
RUNNER = """
import json, os, shutil, sys
job = json.loads(sys.argv[1])
shutil.copytree("/tmp/workspace", "/tmp/page", symlinks=True)
for name, text in job["files"].items():
    with open("/tmp/page/" + name, "w") as file:
        file.write(text)
os.execvp("chromium", ["chromium", *job["flags"].split(), "--window-size=1300,900", "file:///tmp/page/" + job["start"]])
"""
PROBE = """
const pause = () => new Promise((done) => setTimeout(done, 30));
const shown = (element) => element !== null && element.getClientRects().length > 0;
const words = (element) => element === null ? null : element.textContent.replace(/\\s+/g, " ").trim();
const cells = (row) => [...row.cells].map(words);
const rows = (doc) => [...doc.querySelectorAll("#board table tbody tr")].filter(shown).map(cells);
const press = (doc, key) => doc.activeElement.dispatchEvent(
  new doc.defaultView.KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
const type = (element, text) => { element.value = text; element.dispatchEvent(new Event("input", { bubbles: true })); };
const choose = (element, text) => { element.value = text; element.dispatchEvent(new Event("change", { bubbles: true
})); };
const heads = (doc) => [...doc.querySelectorAll("#board table thead th")];
const open = (at, width, hash) => new Promise((done) => {
  const frame = document.createElement("iframe");
  frame.style.cssText = `width:${width}px;height:700px;border:0`;
  frame.src = `case${at}.html${hash}`;
  frame.addEventListener("load", async () => { await pause(); done(frame); });
  document.body.append(frame);
});
(async () => {
  const found = [];
  for (const [at, one] of CASES.entries()) {
    let seen;
    try {
      const frame = await open(at, one.width, one.hash);
      seen = await (new Function("frame", "doc", "tools", `return (async () => {${one.body}})();`))(
        frame, frame.contentDocument, { pause, shown, words, cells, rows, press, type, choose, heads });
      frame.remove();
    } catch (error) { seen = "error in the page: " + error.message; }
    found.push(seen);
  }
  const result = document.createElement("pre");
  result.id = KEY;
  result.textContent = JSON.stringify(found, (key, value) => value === undefined ? null : value);
  document.body.replaceChildren(result);
})();
"""
TOOLS = (
    "const { pause, shown, words, cells, rows, press, type, choose, heads } = tools; const win = frame.contentWindow;\n"
)


class Case:
    """One visit of the page."""

    def __init__(self, data: Sequence[object], body: str, *, width: int = 1000, hash: str = "") -> None:
        """Prepare a visit.

        Args:
            data: the departures.
            body: what is done in the page, JavaScript that returns what was seen.
            width: pixels of the window.
            hash: end of the address, with its ``#``.
        """
        self.data, self.body, self.width, self.hash = data, body, width, hash


def look_at(probe: Probe, cases: Sequence[Case]) -> list[Any]:
    """Visit the page with each case, in one browser.

    Raises:
        ProbeError: the page is missing, or the browser shows no result.
    """
    index = probe.text("index.html")
    files, steps = {}, []
    for at, case in enumerate(cases):
        data = f"window.DEPARTURES = {json.dumps(case.data)};\n"
        files[f"data{at}.js"] = data
        files[f"case{at}.html"] = index.replace('src="data.js"', f'src="data{at}.js"')
        steps.append({"body": TOOLS + case.body, "width": case.width, "hash": case.hash})
    key = f"seen{random.Random(index).randrange(10**9)}"
    script = f"const CASES = {json.dumps(steps)}, KEY = {json.dumps(key)};{PROBE}".replace("</", "<\\/")
    files["agenthard-probe.html"] = f"<!doctype html><meta charset=utf-8><body><script>{script}</script></body>"
    job = json.dumps({"files": files, "flags": FLAGS, "start": "agenthard-probe.html"})
    done = probe.run("python3", "-c", RUNNER, job, limits=LIMITS)
    seen = re.search(f'<pre id="{key}">(.*?)</pre>', done.stdout, re.DOTALL)
    if not seen:
        raise ProbeError(f"the browser shows no result, exit code {done.exit_code}")
    found = json.loads(html.unescape(seen[1]))
    return list(found)
