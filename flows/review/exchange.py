"""Events as files."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from agenthard.flows.review.events import Event, ReviewError, read_event
from agenthard.taxonomy.files import write_atomically


def read_events(path: Path) -> Iterator[Event]:
    """Read events from JSON Lines, one a line.

    Raises:
        ReviewError: the file cannot be read, or a line is not an event; the message names it.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ReviewError(f"{path}: cannot be read as UTF-8 text ({error})") from error
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                value = json.loads(line)
            except (json.JSONDecodeError, RecursionError) as error:
                raise ReviewError(f"{path}:{number}: not valid JSON ({error})") from None
            if not isinstance(value, dict):
                raise ReviewError(f"{path}:{number}: an event is a JSON object")
            yield read_event(value, f"{path}:{number}")


def write_events(path: Path, events: Iterable[Event]) -> int:
    """Write events as JSON Lines, and return how many."""
    lines = [json.dumps(event.model_dump(mode="json"), sort_keys=True) + "\n" for event in events]
    write_atomically(path, "".join(lines).encode("utf-8"))
    return len(lines)
