"""What a browser did and saw: the record of one plan."""

import hashlib
from typing import Any, Literal

from agenthard.taxonomy.record import Record

Failure = Literal["assertion", "selector", "page_error", "navigation", "time_limit", "crash"]
"""An assertion that does not hold, an element that is missing, an error of the page's script, a page that cannot be
opened, a time limit, a browser that ended."""
Status = Literal["ok", "failed", "broken", "not_run"]
"""Carried out; an assertion that does not hold; could not be carried out, which ends the plan; after such a step."""


class StepResult(Record):
    """What became of one step."""

    number: int
    """Its place in the plan, from 1; 0 is the opening of the first page."""
    status: Status
    """Whether it was carried out."""
    failure: Failure | None = None
    """Why not."""
    reason: str = ""
    """The same in words."""
    value: Any = None
    """What an assertion found."""


class ConsoleLine(Record):
    """A line that a page wrote, or a message that it showed."""

    level: str
    """``error``, ``warning``, ``log`` …; ``pageerror`` for an uncaught error; ``dialog`` for an alert."""
    text: str
    """Its text, cut when it is long."""


class SavedImage(Record):
    """An image of the page."""

    name: str
    """Name of its file."""
    step: int
    """Step that made it."""
    label: str
    """Label of that step."""
    width: int
    """Pixels."""
    height: int
    """Pixels."""
    sha256: str
    """Of the file."""


class BrowserRecord(Record):
    """What one plan did on one folder."""

    browser: str
    """Browser and version."""
    steps: tuple[StepResult, ...]
    """One result per step, the opening of the first page before them."""
    images: tuple[SavedImage, ...]
    """Images, in order."""
    console: tuple[ConsoleLine, ...]
    """What the page wrote, the first lines of it."""
    console_left_out: int
    """Lines beyond these."""
    refused: tuple[str, ...]
    """Addresses outside the served folder that the page asked for, and did not get."""
    isolation: str
    """The layers that the browser ran in."""
    not_contained: tuple[str, ...]
    """What nothing on this machine contains, for the manifest of a run."""

    @property
    def demonstrated(self) -> bool:
        """Whether there is anything to look at; without an image a judge that sees gives no score."""
        return bool(self.images)

    @property
    def completed(self) -> bool:
        """Whether every step could be carried out, assertions that do not hold included."""
        return all(step.status in ("ok", "failed") for step in self.steps)

    @property
    def errors(self) -> tuple[str, ...]:
        """Errors that the page wrote or raised."""
        return tuple(line.text for line in self.console if line.level in ("error", "pageerror"))

    def failures(self) -> tuple[StepResult, ...]:
        """Return the steps that failed or could not be carried out."""
        return tuple(step for step in self.steps if step.status in ("failed", "broken"))


def png_size(data: bytes) -> tuple[int, int] | None:
    """Return width and height of a PNG file; None when it is none."""
    if len(data) < 33 or data[:8] != b"\x89PNG\r\n\x1a\n" or data[12:16] != b"IHDR":
        return None
    return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")


def digest(data: bytes) -> str:
    """Return the SHA-256 of a file's content."""
    return hashlib.sha256(data).hexdigest()
