"""Looking at the page in a real browser: other data, then steps in the page, then what there is to see."""

import json
import secrets
from collections.abc import Sequence
from typing import Any

from agenthard.agency.judges import Probe, ProbeError
from agenthard.agency.sandbox import Plan
from agenthard.agency.sandbox.plan import MOST_READ, Read

START = "agenthard-probe.html"
MOST_SECONDS = 45.0
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
window[KEY] = (async () => {
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
  return JSON.stringify(found, (key, value) => value === undefined ? null : value);
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
        ProbeError: the page is missing, or gives no result.
        BrowserError: no browser is installed, or it did not start.
    """
    index = probe.text("index.html")
    files, steps = {}, []
    for at, case in enumerate(cases):
        data = f"window.DEPARTURES = {json.dumps(case.data)};\n"
        files[f"data{at}.js"] = data
        files[f"case{at}.html"] = index.replace('src="data.js"', f'src="data{at}.js"')
        steps.append({"body": TOOLS + case.body, "width": case.width, "hash": case.hash})
    key = f"seen{secrets.token_hex(8)}"  # a page that looks at what is around it cannot know the name
    script = f"const CASES = {json.dumps(steps)}, KEY = {json.dumps(key)};{PROBE}".replace("</", "<\\/")
    files[START] = f"<!doctype html><meta charset=utf-8><body><script>{script}</script></body>"
    plan = Plan(
        entry=START,
        steps=(Read(script=key, most=MOST_READ),),
        seconds=2 * MOST_SECONDS,
        step_seconds=MOST_SECONDS,
    )
    record = probe.browse(plan, files)
    if broken := record.failures():
        raise ProbeError(f"the page gives no result in the browser: {broken[0].reason}")
    try:
        found = json.loads(str(record.steps[-1].value))
    except ValueError:
        raise ProbeError(f"what the page shows is longer than {MOST_READ:,} characters") from None
    return list(found)
