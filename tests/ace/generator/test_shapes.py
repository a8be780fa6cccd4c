"""Shapes of margins, and how far those of truths are from those of decoys."""

import numpy as np
import pytest

from agenthard.ace.generator import Parameters, generate
from agenthard.ace.generator.shapes import distance, shapes
from agenthard.ace.probes import candidates_of
from agenthard.audit.probes import read_scene, run_battery


def test_a_shape_does_not_tell_which_rule_has_which_margin() -> None:
    margins = np.random.default_rng(0).normal(size=(3, 4, 7))
    turned = margins[:, :, ::-1]
    assert shapes(margins).shape == (3, 4, 10)
    assert np.array_equal(shapes(margins), shapes(turned))
    assert not np.array_equal(shapes(margins), shapes(margins + 0.2))


def test_slots_of_few_rules_have_shapes_as_long_as_others() -> None:
    assert shapes(np.zeros((1, 2, 3))).shape == (1, 2, 10)


def test_truths_like_decoys_are_at_no_distance_and_others_are() -> None:
    candidate, other = np.zeros(10), np.full(10, 0.5)
    # Set 0: in each slot the truth is like a decoy, over both slots alike. Set 1: truths are one thing, decoys another.
    first = np.array([[candidate, other], [candidate, other]])
    second = np.array([[other, candidate], [candidate, other]])
    found = distance([first, second])
    apart = np.linalg.norm(candidate - other)
    assert found == pytest.approx([0, 2 * 2 * apart])


def test_a_slot_with_one_set_stands_with_every_set_of_another() -> None:
    one = np.random.default_rng(1).normal(size=(1, 3, 10))
    many = np.random.default_rng(2).normal(size=(4, 2, 10))
    alone = [distance([one, each[None]])[0] for each in many]
    assert distance([one, many]) == pytest.approx(alone)


@pytest.mark.long
def test_a_learner_that_decoys_were_not_chosen_against_finds_fewer_truths_of_coupled_instances() -> None:
    def by_trees(coupling: bool) -> float:
        suite = Parameters(hidden_slots=(7, 15), decoy_budgets=(15, 25), seed=12, coupling=coupling)
        scenes = [read_scene(candidates_of(made, slack=True), made.id) for made in generate(suite)]
        report = run_battery(scenes)
        return next(row.accuracy for row in report.look_ahead if row.way == "learned, trees" and not row.group)

    assert by_trees(coupling=True) < by_trees(coupling=False) - 0.05
