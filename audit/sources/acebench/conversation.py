"""The text of a question as messages."""

import re

from agenthard.taxonomy.task import Message

_LABEL = re.compile(r"^[ \t]*(user|system)[ \t]*[:\uff1a]", re.MULTILINE)


def messages(question: str) -> tuple[Message, ...]:
    r"""Split a conversation at its labels; "system" is the assistant. A text without labels is the user's.

    >>> [(m.role, m.content) for m in messages("user: Hi\nsystem: Yes?\nuser: Pay.\n")]
    [('user', 'Hi'), ('assistant', 'Yes?'), ('user', 'Pay.')]
    """
    head, *parts = _LABEL.split(question)
    said = [Message(role="user", content=head.strip())] if head.strip() else []
    for label, text in zip(parts[::2], parts[1::2], strict=True):
        said.append(Message(role="user" if label == "user" else "assistant", content=text.strip()))
    return tuple(said)
