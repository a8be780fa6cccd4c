"""Leaving out the middle of a long text, so that what is left can still be found in it."""

from agenthard.audit.judge.context.material import Omission, Passage
from agenthard.audit.judge.context.tokens import text_tokens

LONG = 4000
"""Characters up to which no needed text is shortened."""
LONG_RESPONSE = 2400
"""Characters up to which no other text is shortened."""
HEAD = 0.75
"""Share of what is left that stands before the gap."""


def shortened(passage: Passage, most: int) -> tuple[list[Passage], Omission]:
    """Split a passage into its head and its tail, each a contiguous piece of its text.

    Args:
        passage: a passage longer than ``most``.
        most: characters that both have together.

    Returns:
        The two pieces, labelled ``LABEL#head`` and ``LABEL#tail``, and the statement of what lay between.
    """
    head = int(most * HEAD)
    tail = len(passage.text) - (most - head)
    pieces = [
        passage.model_copy(update={"label": f"{passage.label}#head", "text": passage.text[:head]}),
        passage.model_copy(update={"label": f"{passage.label}#tail", "text": passage.text[tail:]}),
    ]
    what = f"the middle of {passage.title}: characters {head} to {tail} of {len(passage.text)}"
    return pieces, Omission(label=passage.label, what=what, tokens=text_tokens(passage.text[head:tail]))
