"""Messages on standard error: progress, notes and warnings, as text or as JSON, with the standard library's logging.

A line of JSON says what a collector of logs needs to sort by: ``time``, ``level``, ``event``, ``message``, and where
they are known ``run``, ``stage``, ``shard`` and ``seconds``. Values of environment variables that hold secrets, and
passwords in URLs, are in no message.
"""

import json
import logging
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any

NAME = "agenthard"

log = logging.getLogger(NAME)
"""Where commands report progress (info), notes (info) and what deserves attention (warning)."""


VARIABLE = "AGENTHARD_LOG"
"""Environment variable with a level, ``json``, or both with a comma in between."""
FIELDS = ("run", "stage", "shard", "seconds")
"""What a line of JSON holds where it is known, in addition to time, level, event and message."""
HIDDEN = "[secret]"
"""What is written instead of a secret."""

_SECRET_NAME = re.compile(r"(?i)(?:key|token|secret|password|passwd|credential|webhook)s?(?:_url|_file)?$")
_SHORTEST_SECRET = 8
"""A shorter value of such a variable is left alone: it would hide ordinary words."""
_IN_URL = re.compile(r"(?<=://)[^/\s:@]*:[^/\s@]+(?=@)")
_run: list[str] = []
_bound: ContextVar[Mapping[str, Any]] = ContextVar("bound", default=MappingProxyType({}))


class Level(StrEnum):
    """Words of ``--log-level``, from the one that says most."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


def configure(level: str | int = "info", *, as_json: bool | None = None) -> None:
    """Send messages of a level and above to standard error; a second call replaces the first.

    Args:
        level: debug, info, warning or error, or its number.
        as_json: one JSON object a line, with time, level and message, in place of the message; None = as before.
    """
    if as_json is None:
        as_json = any(isinstance(handler.formatter, _JsonLines) for handler in log.handlers)
    handler = _StandardError()
    handler.setFormatter(_JsonLines() if as_json else logging.Formatter("%(message)s"))
    log.handlers[:] = [handler]
    log.setLevel(level.upper() if isinstance(level, str) else level)
    log.propagate = False


def configure_from_environment() -> None:
    """Send messages to standard error as ``AGENTHARD_LOG`` says, which the options of a command override.

    A word that it does not know is named once in a warning.
    """
    words = [word.strip().lower() for word in os.environ.get(VARIABLE, "").split(",") if word.strip()]
    known = [str(level) for level in Level]
    levels = [word for word in words if word in known]
    configure(levels[-1] if levels else "info", as_json="json" in words)
    unknown = sorted(set(words) - {"json", *known})
    if unknown:
        log.warning("%s: %s is neither json nor one of %s", VARIABLE, ", ".join(unknown), ", ".join(known))


@contextmanager
def bound(*, run: str | None = None, **values: Any) -> Iterator[None]:
    """Add fields to the lines of JSON that are logged in the block.

    Args:
        run: Run folder that this process works in, for all of its threads.
        values: Other fields of `FIELDS`, for this thread.
    """
    token = _bound.set({**_bound.get(), **values})
    if run is not None:
        _run.append(run)
    try:
        yield
    finally:
        if run is not None:
            _run.pop()
        _bound.reset(token)


def without_secrets(text: str) -> str:
    """Hide the values of environment variables that hold secrets, and the names and passwords in URLs.

    >>> without_secrets("postgresql://ann:hunter22@db/reviews")
    'postgresql://[secret]@db/reviews'
    """
    for name, value in os.environ.items():
        if len(value) >= _SHORTEST_SECRET and _SECRET_NAME.search(name) and value in text:
            text = text.replace(value, HIDDEN)
    return _IN_URL.sub(HIDDEN, text)


class _StandardError(logging.StreamHandler):  # type: ignore[type-arg]
    """Writes to the standard error of the moment: a bar on a terminal replaces it while it is shown."""

    def emit(self, record: logging.LogRecord) -> None:
        self.stream = sys.stderr
        super().emit(record)

    def format(self, record: logging.LogRecord) -> str:
        from agenthard.taxonomy.printable import printable

        return printable(without_secrets(super().format(record)))


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        when = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        known = {**({"run": _run[-1]} if _run else {}), **_bound.get()}
        known |= {name: vars(record)[name] for name in FIELDS if name in vars(record)}
        line = {"time": when, "level": record.levelname.lower(), "event": vars(record).get("event", "message")}
        # A secret with a quote or a backslash would be written with escapes, so it is looked for before.
        line["message"] = without_secrets(record.getMessage())
        return json.dumps({**line, **{name: known[name] for name in FIELDS if name in known}})
