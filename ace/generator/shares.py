"""How many slots get decoys, and how the decoy budget is shared among them (the paper's allocation)."""

import math

import numpy as np


def decoy_slot_count(hidden_slots: int, budget: int) -> int:
    """Returns how many slots share a decoy budget.

    About the square root of the budget, so that the number of combinations grows with it; fewer where that many slots
    cannot take it, since with three slots or more none may hold above half.

    Args:
        hidden_slots: Number of slots, at least 1 unless the budget is 0.
        budget: Decoys in the whole instance.

    Returns:
        The number of decoy slots; 0 for a budget of 0.
    """
    if budget == 0:
        return 0
    count = min(hidden_slots, math.isqrt(budget - 1) + 1)
    while count > 2 and budget > count * (budget // 2):
        count -= 1
    return min(count, budget)


def largest_share(hidden_slots: int, budget: int) -> int:
    """Returns the most decoys a single slot may get.

    Args:
        hidden_slots: Number of slots.
        budget: Decoys in the whole instance.

    Returns:
        The whole budget for one decoy slot, all but one for two, half for more.
    """
    count = decoy_slot_count(hidden_slots, budget)
    if count <= 1:
        return budget
    return budget - 1 if count == 2 else budget // 2


def draw_shares(rng: np.random.Generator, hidden_slots: int, budget: int) -> list[int]:
    """Draws how many decoys each decoy slot gets.

    Args:
        rng: Source of randomness.
        hidden_slots: Number of slots.
        budget: Decoys in the whole instance.

    Returns:
        One share per decoy slot, each at least 1, together the budget, in random order.
    """
    count, most = decoy_slot_count(hidden_slots, budget), largest_share(hidden_slots, budget)
    shares: list[int] = []
    left = budget
    for later in range(count - 1, -1, -1):
        share = int(rng.integers(max(1, left - later * most), min(most, left - later) + 1))
        shares.append(share)
        left -= share
    rng.shuffle(shares)
    return shares
