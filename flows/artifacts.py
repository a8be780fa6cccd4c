"""What a flow leaves in Prefect besides its result: artifacts that a browser shows anywhere, and events."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ADDRESS_VARIABLE = "AGENTHARD_RUNS_URL"
"""Environment variable with the address at which a web server shows the folder of runs of the worker."""
ROOT_VARIABLE = "AGENTHARD_RUNS_FOLDER"
"""Environment variable with that folder."""
MOST_CHARACTERS = 200_000
"""Longest artifact; a summary is a few thousand characters."""


def artifact_key(*words: str) -> str:
    """Return the key of an artifact: lower-case letters, digits and dashes.

    >>> artifact_key("audit", "τ-bench v1")
    'agenthard-audit---bench-v1'
    """
    text = "-".join(words).lower()
    return "agenthard-" + "".join(c if c.isalnum() and c.isascii() else "-" for c in text)


def page_address(path: Path) -> str | None:
    """Return the address of a page that works away from the worker; None where no web server shows its folder."""
    base, root = os.environ.get(ADDRESS_VARIABLE), os.environ.get(ROOT_VARIABLE)
    if not base or not root or not path.resolve().is_relative_to(Path(root).resolve()):
        return None
    return f"{base.rstrip('/')}/{path.resolve().relative_to(Path(root).resolve()).as_posix()}"


def leave_summary(kind: str, name: str, run: Path) -> None:
    """Leave the summary of a run folder, and a link to its page where that works.

    Args:
        kind: what was made, such as audit.
        name: benchmark, or name of the schedule.
        run: the run folder.
    """
    from prefect.artifacts import create_link_artifact, create_markdown_artifact

    summary, page = run / "summary.md", run / "report.html"
    if summary.is_file():
        text = summary.read_text(encoding="utf-8")[:MOST_CHARACTERS]
        create_markdown_artifact(text, key=artifact_key(kind, name))
    address = page_address(page) if page.is_file() else None
    if address is not None:
        create_link_artifact(address, link_text="report", key=artifact_key(kind, "page", name))


def announce(what: str, name: str, outcome: Mapping[str, Any]) -> None:
    """Emit an event ``agenthard.WHAT``, which an automation of Prefect can react to.

    Args:
        what: what happened.
        name: benchmark, or name of the schedule.
        outcome: the outcome; only numbers and short texts of it are sent.
    """
    from prefect.events import emit_event

    payload = {
        key: value for key, value in outcome.items() if isinstance(value, (int, float, bool)) or _is_short(value)
    }
    emit_event(
        event=f"agenthard.{what}",
        resource={"prefect.resource.id": f"agenthard.{artifact_key(name)}", "prefect.resource.name": name},
        payload=payload,
    )


def _is_short(value: object) -> bool:
    return isinstance(value, str) and len(value) <= 1000
