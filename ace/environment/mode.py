"""The two ways the environment can behave."""

from enum import StrEnum


class Mode(StrEnum):
    """Which environment an agent meets."""

    PAPER = "paper"
    """As the paper describes it: a query returns ids only, the global check is about the global rules only, no error
    returns a slot's candidates, and `done` ends the episode at once."""
    REFERENCE = "reference"
    """As the released code behaves: a query returns the values too, the global check also checks every slot, an error
    of `set_slot` lists all candidates, and calls after `done` are still carried out."""
