"""How much room a passage takes."""

from agenthard.audit.judge.context.material import Material, Omission, Passage
from agenthard.models.tokens import BYTES_PER_TOKEN_AT_LEAST

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
    """A number of tokens that a material with the statements of its omissions hardly exceeds."""
    return sum(map(passage_tokens, material.passages)) + sum(map(omission_tokens, material.omitted))
