"""Finds AgencyBench's files, and splits a description into the raw bytes of its members."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agenthard.audit.sources.formats.json_text import load_document

DESCRIPTION, RUN_FILE = "description.json", "meta_eval.json"
SUBTASK = re.compile(r"subtask([1-9]\d*)")
_SCENARIO = re.compile(r"scenario\d+")
_SPACE = re.compile(r"[ \t\r\n]*")


@dataclass(frozen=True)
class Scenario:
    """One scenario folder."""

    capability: str
    """Folder above, such as Game."""
    name: str
    """Name of the folder, such as scenario1."""
    file: Path
    """Its description."""

    @property
    def id(self) -> str:
        """Capability and name: ``Game/scenario1``."""
        return f"{self.capability}/{self.name}"


def find_scenarios(root: Path) -> list[Scenario]:
    """Find the scenario folders below a checkout, by capability and number."""
    for base in (root, root / "AgencyBench-v2"):
        files = [path for path in base.glob(f"*/scenario*/{DESCRIPTION}") if _SCENARIO.fullmatch(path.parent.name)]
        if files:
            found = [Scenario(path.parts[-3], path.parts[-2], path) for path in files if path.is_file()]
            return sorted(found, key=lambda scenario: (scenario.capability, int(scenario.name[8:])))
    return []


def scenario_of(run_file: Path) -> str | None:
    """Tell which scenario a run file belongs to by the folders above it; None when no folder says so."""
    parts = run_file.resolve().parts
    for i in range(len(parts) - 2, 0, -1):
        if _SCENARIO.fullmatch(parts[i]):
            return f"{parts[i - 1]}/{parts[i]}"
    return None


@dataclass(frozen=True)
class Member:
    """One member of a JSON object."""

    name: str
    """Its key."""
    value: Any
    """Parsed value."""
    raw: str
    """Key and value as written."""


def members(text: str) -> list[Member]:
    """Split a JSON object into its members without losing how they were written.

    Raises:
        ValueError: when the text is not a JSON object, or has a member twice.
        RecursionError: when it is nested too deep.
    """
    if not isinstance(json.loads(text), dict):
        raise ValueError("expected a JSON object")
    decoder = json.JSONDecoder()
    found: list[Member] = []
    position = _after(text, text.index("{") + 1)
    while text[position] != "}":
        name, colon = decoder.raw_decode(text, position)
        value, end = decoder.raw_decode(text, _after(text, _after(text, colon) + 1))
        if any(member.name == name for member in found):
            raise ValueError(f"the member {name!r} occurs twice")
        found.append(Member(name, value, text[position:end]))
        position = _after(text, end)
        if text[position] == ",":
            position = _after(text, position + 1)
    return found


def count_subtasks(file: Path) -> int:
    """Count the subtasks of a description, wherever it is; 0 when it is another kind of file."""
    try:
        document = load_document(file)
    except (OSError, ValueError):
        return 0
    return sum(bool(SUBTASK.fullmatch(name)) for name in document) if isinstance(document, dict) else 0


def _after(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position
