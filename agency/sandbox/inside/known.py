"""What is known of a plan so far: the record, which is written before and after every step."""

import json
import os
from typing import Any

RECORD = "record.json"
MOST_LINES, MOST_TEXT = 200, 500


class Record:
    """What is known so far, written to disk as it grows."""

    def __init__(self, steps: int) -> None:
        self.browser = ""
        self.steps: list[dict[str, Any]] = [{"number": n, "status": "not_run"} for n in range(steps + 1)]
        self.console: list[dict[str, str]] = []
        self.console_left_out = 0
        self.refused: set[str] = set()
        self.running: int | None = None

    def line(self, level: str, text: str) -> None:
        """Keep a line of the page's console."""
        if len(self.console) < MOST_LINES:
            self.console.append({"level": level, "text": text[:MOST_TEXT]})
        else:
            self.console_left_out += 1

    def refuse(self, address: str) -> None:
        """Keep an address that was refused."""
        if len(self.refused) < MOST_LINES:
            self.refused.add(address[:MOST_TEXT])

    def write(self) -> None:
        """Write all of it in one step."""
        text = json.dumps({**vars(self), "refused": sorted(self.refused)})
        with open(f"{RECORD}.part", "w") as file:
            file.write(text)
        os.replace(f"{RECORD}.part", RECORD)


def without(text: str, origin: str) -> str:
    """Leave out the port, which differs from run to run."""
    return text.replace(origin, "")
