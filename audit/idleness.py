"""Recognises runs in which the agent did nothing."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from agenthard.taxonomy.task import Message
from agenthard.taxonomy.trajectory import Trajectory

_STOCK = re.compile(
    r"\W*(?:(?:the )?(?:task|subtask|request)(?: is| was| has been)? )?(?:completed?|done|finished)\W*", re.I
)
_ERROR = re.compile(
    r"\W*(?:(?:api|request|connection|network|server|rate.?limit|authentication|timeout) (?:error|failed|exceeded)"
    r"|error(?: code)?:|(?:http )?(?:429|5\d\d)\b|traceback \(most recent call last\))",
    re.I,
)
LONGEST_ERROR = 600
"""Characters; a longer reply that begins with an error is an account of one."""
_WRITTEN_CALL = re.compile(r"\[TOOL[ _]CALL\]\s*\w+\s*\(")
"""How transcripts show calls. The mark-up of chat templates does not count: some logs keep calls that way."""
WRITTEN = "writes a call as text, and the log shows none carried out"


class Sign(NamedTuple):
    """What shows that nothing was done."""

    kind: str
    """Kind of the sign, in a few words that finish the sentence "the run ...": has an empty reply."""
    pointer: str
    """JSON Pointer into the run."""
    text: str | None = None
    """The part that shows it; None when the whole value does."""


def idle_sign(run: Trajectory) -> Sign | None:
    """Return the sign that the agent of ``run`` did nothing, or None.

    Nothing was done when the log counts no changed line or file; or when no tool was called or answered, and the agent
    wrote a call the way transcripts show them ("[TOOL CALL] read_file(...)"), which nothing carries out, or all that it
    said is empty, a bare "Task completed" or the text of an error. A run whose log holds none of the agent's words is
    not judged by them.
    """
    for name in ("changed_lines", "changed_files"):
        if run.usage.get(name) == 0:
            return Sign("changed nothing in the workspace", f"/usage/{name}")
    said = [i for i, message in enumerate(run.messages) if message.role == "assistant"]
    if not said or any(_acts(message) for message in run.messages):
        return None
    for i in reversed(said):
        written = _WRITTEN_CALL.search(run.messages[i].content)
        if written is not None:
            return Sign(WRITTEN, f"/messages/{i}/content", written[0])
    signs = [_idle(run.messages, i) for i in said]
    return signs[-1] if all(signs) else None


def _acts(message: Message) -> bool:
    return bool(message.tool_calls and message.role == "assistant") or (
        message.role == "tool" and message.requestor == "assistant"
    )


def _idle(messages: Sequence[Message], index: int) -> Sign | None:
    content, pointer = messages[index].content, f"/messages/{index}/content"
    if not content.strip():
        return Sign("has an empty reply", f"/messages/{index}")
    if _STOCK.fullmatch(content):
        return Sign("replies with a stock phrase", pointer)
    if len(content) <= LONGEST_ERROR and _ERROR.match(content):
        return Sign("replies with the text of an error", pointer)
    return None
