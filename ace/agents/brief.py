"""What an agent without a model starts from: what the prompt tells, as data instead of words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from agenthard.ace.domain import Domain
from agenthard.ace.environment import Environment, Mode
from agenthard.ace.environment.prompts import value_ranges
from agenthard.ace.instance import Puzzle, Value


@dataclass(frozen=True, slots=True)
class Brief:
    """The task as the first two messages of an episode tell it. Nothing about any item is in it."""

    domain: Domain
    """Attributes of the items and the meaning of the rules."""
    puzzle: Puzzle
    """Grid, slots and thresholds; its items and candidates are left out."""
    ranges: Mapping[str, Sequence[Value]]
    """By attribute, the values that occur; empty where the prompt does not tell them."""
    answers_hold_values: bool
    """True when queries are announced to give values, and not ids only."""

    @property
    def fixed(self) -> list[str]:
        """Ids of the items that are in the grid from the start."""
        return [id for row in self.puzzle.grid for id in row if id is not None]

    @property
    def global_fields(self) -> list[str]:
        """The attributes that the global rules are about."""
        return list(dict.fromkeys(rule.attribute for rule in self.domain.global_rules))


def brief(environment: Environment) -> Brief:
    """Returns what the prompt of an episode tells.

    Args:
        environment: The episode.

    Returns:
        The task. The id of the instance, which tells the number of decoys, is not part of it.
    """
    puzzle = environment.puzzle
    told = replace(
        puzzle,
        id="",
        candidates_per_slot=0,
        items={},
        slots=tuple(replace(slot, candidates=()) for slot in puzzle.slots),
    )
    values_told = environment.mode is Mode.PAPER
    return Brief(
        domain=environment.domain,
        puzzle=told,
        ranges=value_ranges(puzzle, environment.domain) if values_told else {},
        answers_hold_values=not values_told,
    )
