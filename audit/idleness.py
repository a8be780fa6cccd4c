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
_WRITTEN_CALL = re.compile(r"\[TOOL[ _]CALL\]\s*(\w+)\s*\(")
"""How transcripts show calls. The mark-up of chat templates does not count: some logs keep calls that way."""
_LOOKS = re.compile(r"(?:list|read|view|get|glob|grep|find|search|show|open|ls|cat)(?:_\w*)?", re.I)
"""Names of tools that only look. A shell command is none of them: what it changes cannot be told from its name."""
UNCHANGED = "changed nothing in the workspace"
EMPTY = "has an empty reply"
STOCK = "replies with a stock phrase"
ERROR = "replies with the text of an error"
WRITTEN = "writes a call as text, and the log shows none carried out"
LOOKED = "makes one call, which only looks, and the log ends with its result"


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
    said is empty, a bare "Task completed" or the text of an error; or when the one call that the transcript shows was
    answered, its tool only looks, and the log ends there. A run whose log holds none of the agent's words is not
    judged by them.
    """
    for name in ("changed_lines", "changed_files"):
        if run.usage.get(name) == 0:
            return Sign(UNCHANGED, f"/usage/{name}")
    only = only_call(run)
    if only is not None:
        return only if _LOOKS.fullmatch(_name(only)) else None
    said = [i for i, message in enumerate(run.messages) if message.role == "assistant"]
    if not said or any(_acts(message) for message in run.messages):
        return None
    for i in reversed(said):
        written = _WRITTEN_CALL.search(run.messages[i].content)
        if written is not None:
            return Sign(WRITTEN, f"/messages/{i}/content", written[0])
    signs = [_idle(run.messages, i) for i in said]
    return signs[-1] if all(signs) else None


def only_call(run: Trajectory) -> Sign | None:
    """Return the call of a run that makes one and ends with its result; None for every other run.

    Only transcripts count that write calls and results as text, which is how logs look of a session that was cut off.
    """
    spoken = [(i, message) for i, message in enumerate(run.messages) if message.role != "user"]
    if [message.role for _, message in spoken] != ["assistant", "tool"]:
        return None
    (index, asked), (_, answered) = spoken
    written = list(_WRITTEN_CALL.finditer(asked.content))
    if asked.tool_calls or len(written) != 1 or _WRITTEN_CALL.search(answered.content):
        return None
    return Sign(LOOKED, f"/messages/{index}/content", written[0][0])


def _name(call: Sign) -> str:
    found = _WRITTEN_CALL.match(call.text or "")
    return found[1] if found else ""


def _acts(message: Message) -> bool:
    return bool(message.tool_calls and message.role == "assistant") or (
        message.role == "tool" and message.requestor == "assistant"
    )


def _idle(messages: Sequence[Message], index: int) -> Sign | None:
    content, pointer = messages[index].content, f"/messages/{index}/content"
    if not content.strip():
        return Sign(EMPTY, f"/messages/{index}")
    if _STOCK.fullmatch(content):
        return Sign(STOCK, pointer)
    if len(content) <= LONGEST_ERROR and _ERROR.match(content):
        return Sign(ERROR, pointer)
    return None
