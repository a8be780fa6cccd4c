"""Messages on standard error: progress, notes and warnings, as text or as JSON, with the standard library's logging."""

import json
import logging
import sys
from datetime import UTC, datetime
from enum import StrEnum

NAME = "agenthard"

log = logging.getLogger(NAME)
"""Where commands report progress (info), notes (info) and what deserves attention (warning)."""


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


class _StandardError(logging.StreamHandler):  # type: ignore[type-arg]
    """Writes to the standard error of the moment: a bar on a terminal replaces it while it is shown."""

    def emit(self, record: logging.LogRecord) -> None:
        self.stream = sys.stderr
        super().emit(record)

    def format(self, record: logging.LogRecord) -> str:
        from agenthard.taxonomy.printable import printable

        return printable(super().format(record))


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        when = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        return json.dumps({"time": when, "level": record.levelname.lower(), "message": record.getMessage()})
