"""Whom a text is for: the agent, or a model that plays the user."""

import re
from collections.abc import Sequence

from agenthard.audit.sources.mapping.infer.columns import Column
from agenthard.audit.sources.mapping.infer.roles import name_fit
from agenthard.audit.sources.mapping.texts import structured

_NAMES = ("instruction", "instructions", "scenario", "persona", "task_instructions", "reason_for_call")
_YOU = re.compile(r"\byou(r|'re)?\b", re.IGNORECASE)
_YOU_FIRST = re.compile(r"\s*(you are|you're|you want|you would|you need|your)\b", re.IGNORECASE)
_AN_AGENT = re.compile(r"\byou are an? (\w+ )?(ai|assistant|expert|agent|chatbot)\b", re.IGNORECASE)
_USER_FIRST = re.compile(r"\s*user\s*[:\uff1a]", re.IGNORECASE)
_SYSTEM_ANSWERS = re.compile(r"^\s*system\s*[:\uff1a]", re.MULTILINE | re.IGNORECASE)
_MOST = 0.6


def is_simulated(column: Column, texts: Sequence[str]) -> bool:
    """Tell whether texts are for a model that plays the user.

    They are when most begin with "you" or "your", or say "you" under a name such as instruction, unless they say
    that "you" are an assistant.

    Args:
        column: the column that was chosen as what the user says.
        texts: its texts, and those beside it.
    """
    if not texts or _share(texts, _AN_AGENT) > 1 - _MOST:
        return False
    named = name_fit(column, _NAMES) >= 0.5
    begin = sum(bool(_YOU_FIRST.match(text)) for text in texts) / len(texts)
    return begin > _MOST or (named and _share(texts, _YOU) > _MOST)


def system_answers(texts: Sequence[str]) -> bool:
    """Tell whether texts are conversations in which "system:" answers "user:"."""
    begin = sum(bool(_USER_FIRST.match(text)) for text in texts)
    return begin > len(texts) / 2 and _share(texts, _SYSTEM_ANSWERS) > 0


def is_beside(column: Column, instruction: Column) -> bool:
    """Tell whether a column of texts stands in the same object as the instruction of a simulated user."""
    related = len(instruction.keys) > 1 and column.keys[0] == instruction.keys[0] and not column.overlaps(instruction)
    return related and all(isinstance(structured(value), str) for value in column.present)


def _share(texts: Sequence[str], pattern: re.Pattern[str]) -> float:
    return sum(bool(pattern.search(text)) for text in texts) / len(texts)
