"""Web tools: a recorded answer, or "unavailable". Nothing is ever made up, and nothing is sent."""

import json
from pathlib import Path
from typing import Any

from agenthard.agency.tools.tool import Desk, Output, ToolFunction, text, tool
from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.files import UnreadableFileError, read_bytes


class WebCassetteError(AgentHardError, ValueError):
    """A file with recorded answers of web tools cannot be read."""

    code = "AH645"
    remedy = 'Write one JSON object per line: {"tool": NAME, "arguments": {...}, "answer": TEXT}.'


def key_of(name: str, arguments: dict[str, Any]) -> str:
    """Name a call, whatever the order of its arguments."""
    return f"{name} {json.dumps(arguments, sort_keys=True, ensure_ascii=False)}"


def read_cassette(path: Path) -> dict[str, str]:
    """Read recorded answers by call.

    Raises:
        WebCassetteError: the file cannot be read; the message names the line.
    """
    found: dict[str, str] = {}
    try:
        lines = read_bytes(path).decode("utf-8").splitlines()
    except (OSError, UnreadableFileError, UnicodeDecodeError) as error:
        raise WebCassetteError(f"{path}: {error}") from None
    for number, line in enumerate(lines, 1):
        try:
            entry = json.loads(line) if line.strip() else None
            if entry is not None:
                found[key_of(str(entry["tool"]), dict(entry["arguments"]))] = str(entry["answer"])
        except (ValueError, KeyError, TypeError) as error:
            raise WebCassetteError(f"{path}:{number}: no recorded answer: {error!r}") from None
    return found


def _web(name: str, description: str, parameter: str) -> ToolFunction:
    def run(desk: Desk, given: dict[str, Any]) -> Output:
        answer = desk.answers.get(key_of(name, given))
        if answer is None:
            return Output(f"{name} is unavailable here: the network is off and no answer is recorded", "unavailable")
        return Output(answer)

    return ToolFunction(tool(name, description, (parameter,), **{parameter: text("What is asked for")}), "web", run)


WEB = (
    _web("web_search", "Search the web.", "query"),
    _web("web_fetch", "Fetch a page.", "url"),
    _web("hybrid_search", "Search the web by words and meaning.", "query"),
    _web("deep_research", "Research a topic on the web.", "topic"),
)
"""The tools of this group."""
