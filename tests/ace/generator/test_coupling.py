"""Coupled decoys: look-ahead finds hardly more truths than guessing, and nothing else changes."""

import numpy as np
import pytest

from agenthard.ace.generator import Parameters, generate
from agenthard.ace.generator.coupling import look_ahead
from agenthard.ace.instance import Instance
from agenthard.ace.probes import candidates_of
from agenthard.ace.proof import verify

SUITE = Parameters(hidden_slots=(7, 15), decoy_budgets=(15, 25), seed=11)


def found(instances: list[Instance], way: str) -> float:
    """Share of decoy slots in which the candidate that fits best is the truth, among those its slot's rules allow."""
    hits = []
    for made in instances:
        for slot, known in zip(candidates_of(made)["sets"], made.answer.slots, strict=True):
            if known.decoys:
                ids = [candidate["id"] for candidate in slot["candidates"]]
                scores = dict(zip(ids, slot["look_ahead"][way], strict=True))
                best = max(scores[id] for id in (known.truth, *known.decoys))
                tied = [id for id in (known.truth, *known.decoys) if scores[id] >= best - 1e-9]
                hits.append((known.truth in tied) / len(tied))
    return float(np.mean(hits))


@pytest.mark.long
def test_look_ahead_fails_on_coupled_instances() -> None:
    plain = list(generate(SUITE))
    coupled = list(generate(SUITE.model_copy(update={"coupling": True})))
    assert all(verify(made).ok for made in coupled)
    guess = np.mean([1 / (1 + len(slot.decoys)) for made in coupled for slot in made.answer.slots if slot.decoys])
    for way in ("mean", "probability"):
        assert found(coupled, way) < 0.4  # 109 decoy slots: the standard error is 0.045
        assert found(plain, way) > found(coupled, way)
    assert guess > 0.2


def test_look_ahead_by_hand() -> None:
    # Two slots, one rule with slack 1 of a threshold 10. Slot A: truth 0, decoy 4. Slot B: truth 0, decoy 2, mean 1.
    # A's truth leaves 1 - 1 = 0, its decoy -4: found. B with A's mean 2: the truth leaves 1 - 2 = -1, the decoy -3.
    held = [np.array([[[0], [4]]]), np.array([[[0], [2]]])]
    every = [np.array([True]), np.array([True])]
    assert look_ahead(held, every, np.array([1]), np.array([10.0])) == pytest.approx(np.array([[1.0, 1.0]]))
    # A rule that the decoys ease instead: both decoys fit better than the truths.
    eased = [np.array([[[0], [-4]]]), np.array([[[0], [2]]])]
    shares = look_ahead(eased, every, np.array([0]), np.array([10.0]))
    assert shares[0, 0] < 0.5 and shares[0, 1] >= 0.5


def test_a_single_decoy_slot_is_left_as_it_is() -> None:
    alone = Parameters(hidden_slots=(1,), decoy_budgets=(6,), domains=("meal",))
    plain, coupled = (next(generate(alone.model_copy(update={"coupling": value}))) for value in (False, True))
    assert (plain.puzzle, plain.answer) == (coupled.puzzle, coupled.answer)
