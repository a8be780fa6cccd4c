"""System prompts of the task types, from a folder next to the tasks."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from agenthard.taxonomy.files import read_text

FOLDERS = ("prompt", "prompts", "systemprompt", "systemprompts")
"""Names of folders that hold prompts, in lower case and without separators."""
SUFFIXES = (".txt", ".md", ".py")
MAX_BYTES = 1 << 20
"""A longer file is not read as a prompt."""
SHORTEST_PROMPT = 200
"""Minimum length in characters of a text constant of a Python file that is read as a prompt."""


@dataclass(frozen=True)
class Prompt:
    """The prompt of one task type."""

    path: Path
    """Where it is."""
    text: str
    """What the agent is told."""


def plain(name: str) -> str:
    """Return a name in lower case without separators, so that spellings can be compared.

    >>> plain("Precise|Vague") == plain("precise_vague")
    True
    """
    return re.sub(r"[\W_]+", "", name).casefold()


def find_prompts(folder: Path) -> dict[str, Path]:
    """Find prompt files by the plain name of their task type, in prompt folders at most two levels below a folder."""
    found: dict[str, Path] = {}
    for place in sorted(path for pattern in ("*", "*/*") for path in folder.glob(pattern)):
        if place.is_dir() and plain(place.name) in FOLDERS:
            for path in sorted(place.iterdir()):
                if path.is_file() and path.suffix in SUFFIXES:
                    found.setdefault(plain(path.stem), path)
    return found


def prompt_of(task_type: str, files: dict[str, Path]) -> Prompt | None:
    """Read the prompt of a task type: the file of that name, else the only one whose name contains it.

    Of a Python file the long text constants are read, without running it.
    """
    wanted = plain(task_type)
    names = [wanted] if wanted in files else [name for name in files if wanted in name]
    if not wanted or len(names) != 1:
        return None
    path = files[names[0]]
    try:
        text = read_text(path, MAX_BYTES)
    except (OSError, UnicodeDecodeError):
        return None
    if path.suffix == ".py":
        text = "\n\n".join(_constants(text))
    return Prompt(path, text) if text.strip() else None


def _constants(code: str) -> Iterator[str]:
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) >= SHORTEST_PROMPT:
            yield node.value
