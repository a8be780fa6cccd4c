"""Compaction: the older half of a conversation is taken out, and its place says so and repeats what was saved."""

from collections.abc import Callable

from agenthard.agency.scaffolds.rollout import Compacted
from agenthard.agency.tools import Notes
from agenthard.models.request import ChatMessage, Request
from agenthard.models.tokens import prompt_tokens

HEAD = "[Older messages were taken out of this conversation. The files in the workspace are as you left them.]"


def compacted(history: list[ChatMessage], request: Callable[[], Request], notes: Notes) -> Compacted | None:
    """Take about half of the messages out of a conversation, in place.

    The system message and the last user message stay; so does each call with its answer.

    Args:
        history: the conversation.
        request: makes the next request of it, for its size.
        notes: what the agent has saved, which is repeated.

    Returns:
        The event; None when there is nothing that can be taken out.
    """
    before = prompt_tokens(request())
    first = 1 if history and history[0].role == "system" else 0
    end = _cut(history, first)
    if end is None:
        return None
    taken = history[first:end]
    task = next((each for each in reversed(taken) if each.role == "user" and not _is_head(each)), None)
    still = any(each.role == "user" and not _is_head(each) for each in history[end:])
    kept = [] if still or task is None else [task]
    history[first:end] = [ChatMessage(role="user", text=_head(notes)), *kept]
    after = prompt_tokens(request())
    if after >= before:
        history[first : first + 1 + len(kept)] = taken
        return None
    return Compacted(messages=len(taken) - len(kept), tokens_before=before, tokens_after=after)


def _cut(history: list[ChatMessage], first: int) -> int | None:
    """Return where the part that is taken out ends: before a reply or a user's message past the middle."""
    middle = first + (len(history) - first) // 2
    places: list[int] = [*range(max(middle, first + 2), len(history)), *range(middle, first + 1, -1)]
    for at in places:
        if at < len(history) and history[at].role in ("assistant", "user"):
            return at
    return None


def _is_head(message: ChatMessage) -> bool:
    return message.text.startswith(HEAD)


def _head(notes: Notes) -> str:
    parts = [HEAD]
    parts += ["You saved:", *(f"- {fact}" for fact in notes.facts)] if notes.facts else []
    parts += ["To do:", *(f"- [{each['status']}] {each['content']}" for each in notes.todos)] if notes.todos else []
    parts += ["Your memory bank can be read with read_memory_bank."] if notes.bank else []
    return "\n".join(parts)
