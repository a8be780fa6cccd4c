"""The ways of agents without a model, from guessing to computing the answer."""

from collections.abc import Iterator, Sequence
from itertools import product

from agenthard.ace.agents import fit
from agenthard.ace.agents.notes import Notes
from agenthard.ace.agents.player import Choice, Player
from agenthard.ace.agents.questions import all_candidates, read_survivors, read_values
from agenthard.ace.proof import search

_SOLUTIONS = 100
"""Solutions that are looked for at most; more than one only where something read is wrong."""
_NODES = 2_000_000
"""Partial solutions after which the exact search gives up."""


def random(player: Player) -> None:
    """Puts any candidate into each slot.

    Args:
        player: Who plays.
    """
    player.place([player.rng.choice(ids) if ids else None for ids in all_candidates(player)])
    player.hand_in()


def slot_filter(player: Player) -> None:
    """Puts any candidate that meets the slot's own rules into each slot.

    Args:
        player: Who plays.
    """
    left = _survivors(player).survivors
    player.place([player.rng.choice(ids) if ids else None for ids in left])
    player.hand_in()


def filter_check(player: Player) -> None:
    """Tries all combinations of such candidates, in any order, until the global check accepts one.

    Args:
        player: Who plays.
    """
    left: list[list[str | None]] = [[*ids] or [None] for ids in _survivors(player).survivors]
    for ids in left:
        player.rng.shuffle(ids)
    player.try_until_accepted(product(*left))
    player.hand_in()


def look_ahead(player: Player) -> None:
    """Chooses for each slot on its own what fits the global rules best with the other slots at their mean.

    Args:
        player: Who plays.
    """
    notes = _survivors(player)
    read_values(player, notes)
    player.place(_named(notes, fit.best_alone(fit.weigh(player.brief, notes))))
    player.hand_in()


def solver(player: Player) -> None:
    """Reads all that the rules need and computes the answer by exact search.

    Where something could not be read, or no answer exists by what was read, it tries what fits best, as often as the
    global check may be asked.

    Args:
        player: Who plays.
    """
    notes = _survivors(player)
    read_values(player, notes)
    player.try_until_accepted(_computed(player, notes))
    player.hand_in()


def _computed(player: Player, notes: Notes) -> Iterator[Choice]:
    puzzle = notes.settled()
    solutions = search(player.brief.domain, puzzle, _SOLUTIONS, _NODES).solutions if puzzle else ()
    if solutions:
        for solution in solutions:
            yield [solution[slot.cell] for slot in player.brief.puzzle.slots]
        return
    for chosen in fit.best_together(fit.weigh(player.brief, notes)):
        yield _named(notes, chosen)


def _survivors(player: Player) -> Notes:
    notes = Notes(player)
    read_survivors(player, notes)
    return notes


def _named(notes: Notes, chosen: Sequence[int]) -> Choice:
    return [ids[number] if ids else None for ids, number in zip(notes.survivors, chosen, strict=True)]
