"""Opening a written page in a real browser, and reading from it what a person would see."""

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

ARGUMENTS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-dev-shm-usage"
).split()
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@dataclass
class Visit:
    page: "Page"
    url: str
    problems: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


def watch(page: "Page", url: str) -> Visit:
    """Note everything that goes wrong on a page and everything it asks for."""
    visit = Visit(page, url)
    page.on("console", lambda message: visit.problems.append(message.text))
    page.on("pageerror", lambda error: visit.problems.append(str(error)))
    page.on("dialog", lambda dialog: (visit.problems.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: visit.requests.append(request.url.partition("#")[0]))
    return visit


def words(place: "Locator") -> str:
    """Read what a place of the page says, on one line."""
    return re.sub(r"\s+", " ", place.inner_text()).strip()


def row(page: "Page", table: str, head: str) -> list[str]:
    """Read the cells of the row with this header."""
    found = page.locator(f"#table-{table} tbody tr").filter(has=page.get_by_role("rowheader", name=head, exact=True))
    return [words(cell) for cell in found.locator("th, td").all()]


def contrast(page: "Page", *selectors: str) -> dict[str, float]:
    """Measure the contrast of the first text that each selector finds, after WCAG 2: 4.5 is the least for text."""
    measured: dict[str, float] = page.evaluate(_CONTRAST, list(selectors))
    return measured


_CONTRAST = """(selectors) => {
  const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
  const linear = (v) => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => .2126 * linear(r) + .7152 * linear(g) + .0722 * linear(b);
  const ground = (node) => {
    const colour = rgb(getComputedStyle(node).backgroundColor);
    return colour.length < 4 || colour[3] > 0 ? colour : ground(node.parentElement);
  };
  return Object.fromEntries(selectors.map((selector) => {
    const node = document.querySelector(selector);
    const [a, b] = [light(rgb(getComputedStyle(node).color)), light(ground(node))].sort((x, y) => y - x);
    return [selector, (a + .05) / (b + .05)];
  }));
}"""
