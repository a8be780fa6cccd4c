"""Small tools for reading native records: what is wrong with one, and which release a folder holds."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from agenthard.audit.sources.base import Quarantine
from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.files import read_text
from agenthard.taxonomy.pointer import join

MAX_TEXT_BYTES = 16 << 20
"""A longer file tells no release."""


class Native(BaseModel):
    """Base of the native records: no value is converted silently, unknown members are passed over."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True, allow_inf_nan=False, protected_namespaces=())


class UnreadableDomainError(AgentHardError):
    """A file that all tasks of a domain depend on cannot be read."""

    code = "AH107"
    remedy = "Restore the file of the domain that the message names, or leave the domain out with `--domain`."

    def __init__(self, file: str, reason: str, pointer: str = "", line: int | None = None) -> None:
        """Note the file, the place in it and what is wrong."""
        super().__init__(f"{file}{pointer}: {reason}")
        self.file, self.reason, self.pointer, self.line = file, reason, pointer, line

    def put_in(self, quarantine: Quarantine) -> None:
        """Quarantine the domain as a whole."""
        reason = f"{self.reason}; no task of this domain was read"
        quarantine.add(self.file, reason, line=self.line, pointer=self.pointer)


def explain(error: ValidationError, value: Any) -> tuple[str, str]:
    """Return the JSON Pointer of the first fault inside the record ``value``, and a sentence that lists the faults."""
    faults = error.errors(include_url=False, include_input=False)
    pointers = [_pointer(fault["loc"], value) for fault in faults]
    listed = [f"{at or 'the record'}: {fault['msg']}" for at, fault in zip(pointers, faults, strict=True)]
    more = f" and {len(listed) - 3} more" if len(listed) > 3 else ""
    return pointers[0], f"{'; '.join(listed[:3])}{more}; mend the record and read again"


def _pointer(location: tuple[int | str, ...], value: Any) -> str:
    """Turn pydantic's location into a pointer, without the names of types that it puts in for a union."""
    pointer = ""
    for i, token in enumerate(location):
        if isinstance(value, dict) and (token in value or i == len(location) - 1):
            pointer, value = join(pointer, token), value.get(token)
        elif isinstance(value, list) and isinstance(token, int) and token < len(value):
            pointer, value = join(pointer, token), value[token]
    return pointer


def release_label(root: Path) -> str:
    """Tell the release of a benchmark folder: project version, commit, else the end of the folder's name.

    ``v0.1.3``, ``v0.1.3@1b67be7``, ``59a200c``; ``unknown`` when nothing tells.
    """
    found = [label for label in (_project_version(root), _commit(root)) if label]
    if found:
        return "@".join(found)
    suffix = re.search(r"[-_](v?\d+(?:\.\d+)+|[0-9a-f]{7,40})$", root.resolve().name)
    return suffix.group(1) if suffix else "unknown"


def _project_version(root: Path) -> str | None:
    try:
        project = tomllib.loads(read_text(root / "pyproject.toml", MAX_TEXT_BYTES)).get("project")
    except (OSError, ValueError, RecursionError):
        return None
    version = project.get("version") if isinstance(project, dict) else None
    return f"v{version}" if isinstance(version, str) else None


def _commit(root: Path) -> str | None:
    return next((text[:7] for text in _heads(root / ".git") if re.fullmatch(r"[0-9a-f]{40}", text)), None)


def _heads(git: Path) -> Iterator[str]:
    try:
        head = read_text(git / "HEAD", MAX_TEXT_BYTES).strip()
        yield head
        name = head.removeprefix("ref: ")
        if (git / name).is_file():
            yield read_text(git / name, MAX_TEXT_BYTES).strip()
        for line in read_text(git / "packed-refs", MAX_TEXT_BYTES).splitlines():
            if line.endswith(f" {name}"):
                yield line.split(" ")[0]
    except (OSError, ValueError):
        return
