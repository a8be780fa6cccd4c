"""The material of a prompt: labelled passages, the statements of what is left out, and how many tokens they have."""

from typing import Literal

from pydantic import model_validator

from agenthard.models.tokens import BYTES_PER_TOKEN_AT_LEAST
from agenthard.taxonomy.record import Record

Part = Literal[
    "user", "policy", "tools", "user_tools", "state", "evaluation", "ground_truth", "replay", "checks", "run", "about"
]
"""What a passage belongs to: a part of the task, or what the audit found out: the replay, other checks, a run."""


class Passage(Record):
    """A stretch of text that can be cited."""

    label: str
    """What a judge cites: the JSON Pointer into the task record, or such as ``replay/3``; unique in the material."""
    part: Part
    """What it belongs to."""
    title: str
    """What it is, for a reader."""
    text: str
    """The text at the pointer; for a value that is not a string, its canonical JSON (audit.evidence.canonical_json)."""
    pointer: str | None = None
    """JSON Pointer into the AgentTask record; None for what is not in the task, such as the replay."""
    needed: bool = False
    """True when no decision can do without it, so that it is never left out."""
    rank: int = 0
    """What is left out first when room is short: the highest rank; within a rank, the last passage of its kind."""


class Omission(Record):
    """Something that is not shown for want of room."""

    label: str
    """JSON Pointer, or label, of what is left out or shortened."""
    what: str
    """What is left out, in words that the judge reads too, such as "483 of 500 users"."""
    tokens: int
    """About how many tokens it has."""


class Material(Record):
    """Everything that a judge is shown of one task, in order."""

    task_id: str
    """Id of AgentTask."""
    passages: tuple[Passage, ...]
    """What is shown."""
    omitted: tuple[Omission, ...] = ()
    """What is not."""

    @model_validator(mode="after")
    def _labels_are_unique(self) -> "Material":
        labels = [passage.label for passage in self.passages]
        twice = sorted({label for label in labels if labels.count(label) > 1}) if len(set(labels)) < len(labels) else []
        if twice:
            raise ValueError(f"two passages are labelled {twice[0]}")
        return self

    def passage(self, label: str) -> Passage | None:
        """Return the passage of a label; None when there is none."""
        return next((passage for passage in self.passages if passage.label == label), None)


AROUND = 40
"""Bytes that the prompt may put around a passage besides its label and title."""


def text_tokens(text: str) -> int:
    """A number of tokens that a text hardly exceeds: UTF-8 bytes / 2, rounded up, as models.tokens counts at most."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_PER_TOKEN_AT_LEAST)


def passage_tokens(passage: Passage) -> int:
    """A number of tokens that a passage with its label and title hardly exceeds."""
    around = AROUND // BYTES_PER_TOKEN_AT_LEAST
    return text_tokens(passage.label) + text_tokens(passage.title) + text_tokens(passage.text) + around


def omission_tokens(omission: Omission) -> int:
    """A number of tokens that the statement of an omission hardly exceeds."""
    return text_tokens(omission.label) + text_tokens(omission.what) + AROUND // BYTES_PER_TOKEN_AT_LEAST


def material_tokens(material: Material) -> int:
    """Estimate the tokens of a material from above, the statements of its omissions included."""
    return sum(map(passage_tokens, material.passages)) + sum(map(omission_tokens, material.omitted))
