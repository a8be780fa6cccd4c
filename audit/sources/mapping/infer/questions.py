"""What a proposed mapping is unsure of: questions with candidates, of which the first one is proposed."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agenthard.audit.sources.mapping.infer.columns import Column
from agenthard.audit.sources.mapping.infer.roles import Choice, Role

_MOST = 9
"""Columns that a question offers."""
_WIDTH = 60
"""Characters of an example value."""


@dataclass(frozen=True)
class Candidate:
    """One possible answer."""

    value: Any
    """What the answer is: a path, a word of the mapping, an object; None for nothing."""
    label: str
    """The same in words."""
    example: str = ""
    """A value of the column, shortened; empty where the answer is not a column."""


@dataclass(frozen=True)
class Question:
    """Something that the rows do not tell."""

    key: str
    """Key of the mapping that it is about."""
    text: str
    """The question."""
    told: str
    """The same as a statement, where it cannot be asked; empty where a problem states it."""
    candidates: tuple[Candidate, ...]
    """Possible answers; the first is the one that is proposed."""


def which_column(choice: Choice, told: str) -> Question:
    """Ask whether a column was chosen rightly, and offer the others that could be it."""
    columns = [_candidate(column) for column in (choice.column, *choice.others)]
    nothing = [] if choice.role.key == "user.turns" else [Candidate(None, "none of these")]
    return Question(choice.role.key, _asked(choice.role), told, (*columns, *nothing))


def missing_column(role: Role, columns: Sequence[Column]) -> Question | None:
    """Ask for the column of a part for which none was found; None where no column can be offered."""
    offered = [_candidate(column) for column in columns if column.present][:_MOST]
    if role.key == "user.turns":
        return Question(role.key, _asked(role), "", tuple(offered)) if offered else None
    return Question(role.key, _asked(role), "", (Candidate(None, "none of these"), *offered)) if offered else None


def one_of(key: str, text: str, told: str, words: Sequence[tuple[Any, str]]) -> Question:
    """Ask for one of several values of the mapping, each with what it means."""
    return Question(key, text, told, tuple(Candidate(value, label) for value, label in words))


def _asked(role: Role) -> str:
    return f"Which column holds {role.asked}?"


def _candidate(column: Column) -> Candidate:
    value = next(iter(column.present), "")
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    flat = " ".join(text.split())
    return Candidate(column.path, column.path, flat if len(flat) <= _WIDTH else f"{flat[: _WIDTH - 3]}...")


MATCHING = (
    ("exact", "exact: these calls in this order"),
    ("any_order", "any_order: these calls in any order"),
    ("state", "state: only the state that the calls leave"),
    ("none", "none: calls are not scored"),
)
"""How calls are scored, as the mapping writes it and in words."""
COMPARED = (
    ("exact", "exact: equal texts"),
    ("contains", "contains: the reply contains it"),
    ("whole_words", "whole_words: the reply contains it as whole words"),
    ("judge", "judge: a model compares"),
    ("none", "none: it is not scored"),
)
"""How final answers are compared, likewise."""
SIMULATED = one_of(
    "user",
    "What is the text of the user?",
    "user: the text seems to be addressed to a simulated user; if it is sent as it is, map turns",
    (
        ("instruction", "instruction: what a model is told that plays the user"),
        ("turns", "turns: what the user says, sent to the agent as it is"),
    ),
)
"""Whether the text of the user is sent, or told to a model that plays the user."""
