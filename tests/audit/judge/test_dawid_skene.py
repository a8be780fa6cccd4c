import itertools

import numpy as np
import pytest

from agenthard.audit.judge.aggregate.dawid_skene import TooFewVotesError, estimate, log_odds, right_way_round

SENSITIVITY = np.array([0.95, 0.85, 0.75, 0.65, 0.55])
SPECIFICITY = np.array([0.70, 0.95, 0.85, 0.90, 0.60])
PREVALENCE = 0.3


def simulated(
    seed: int, tasks: int = 2_000, missing: float = 0.0, sensitivity: object = SENSITIVITY, specificity: object = None
) -> tuple[np.ndarray, np.ndarray]:
    """Votes of judges who err independently, and which tasks are flawed."""
    rng = np.random.default_rng(seed)
    right_on_flawed = np.asarray(sensitivity)
    right_on_sound = SPECIFICITY if specificity is None else np.asarray(specificity)
    flawed = rng.random(tasks) < PREVALENCE
    sees = np.where(flawed[:, None], right_on_flawed, 1 - right_on_sound)
    votes = (rng.random(sees.shape) < sees).astype(float)
    votes[rng.random(sees.shape) < missing] = np.nan
    return votes, flawed


def log_loss(probability: np.ndarray, flawed: np.ndarray) -> float:
    clipped = np.clip(probability, 0.01, 0.99)
    return float(-np.mean(np.where(flawed, np.log(clipped), np.log(1 - clipped))))


def standard_errors(missing: float, tasks: int) -> np.ndarray:
    """Asymptotic standard errors of prevalence, sensitivities and specificities: the Fisher information, summed over
    all 3^5 patterns of sees, sees not, no vote.
    """
    patterns = np.array(list(itertools.product([1.0, 0.0, np.nan], repeat=5)))

    def chances(figures: np.ndarray) -> np.ndarray:
        prevalence, rates = figures[0], figures[1:].reshape(2, 5)

        def of(sees: np.ndarray) -> np.ndarray:
            cast = np.where(patterns == 1, sees, 1 - sees) * (1 - missing)
            return np.prod(np.where(np.isnan(patterns), missing, cast), axis=1)

        return prevalence * of(rates[0]) + (1 - prevalence) * of(1 - rates[1])

    true, step = np.concatenate([[PREVALENCE], SENSITIVITY, SPECIFICITY]), 1e-6
    slopes = np.array([(chances(true + step * e) - chances(true - step * e)) / (2 * step) for e in np.eye(11)])
    happens = chances(true)
    slopes, happens = slopes[:, happens > 0], happens[happens > 0]
    return np.asarray(np.sqrt(np.diag(np.linalg.inv(tasks * (slopes / happens) @ slopes.T))))


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_known_rates_are_found_within_their_intervals(missing: float) -> None:
    errors, far = standard_errors(missing, 2_000), []
    for seed in range(30):
        found = estimate(simulated(seed, missing=missing)[0])
        assert found.converged
        figures = np.concatenate([[found.prevalence], found.sensitivity, found.specificity])
        far.append((figures - np.concatenate([[PREVALENCE], SENSITIVITY, SPECIFICITY])) / errors)
    assert np.abs(far).max() < 4
    # 95 % of 330 figures, with room for chance and for a few per cent of prior.
    assert 0.90 < (np.abs(far) < 1.96).mean() < 0.99


@pytest.mark.parametrize("seed", range(5))
def test_better_than_the_majority_where_judges_differ(seed: int) -> None:
    votes, flawed = simulated(seed)
    posterior = estimate(votes).posterior
    assert log_loss(posterior, flawed) < 0.8 * log_loss(votes.mean(axis=1), flawed)
    assert ((posterior > 0.5) == flawed).mean() > ((votes.mean(axis=1) > 0.5) == flawed).mean()


def test_the_majority_where_judges_are_equal() -> None:
    # Every pattern of 3 votes, so often that the judges are exchangeable: 40 and 20 unanimous, the rest 5 times each.
    patterns = np.array([[(n >> judge) & 1 for judge in range(3)] for n in range(8)], dtype=float)
    votes = np.repeat(patterns, [40, 5, 5, 5, 5, 5, 5, 20], axis=0)
    found = estimate(votes)
    assert np.ptp(found.sensitivity) == pytest.approx(0, abs=1e-12)
    assert np.ptp(found.specificity) == pytest.approx(0, abs=1e-12)
    assert ((found.posterior > 0.5) == (votes.mean(axis=1) > 0.5)).all()


def test_order_changes_nothing() -> None:
    votes, _ = simulated(1, tasks=300, missing=0.2)
    found, rng = estimate(votes), np.random.default_rng(2)
    tasks, judges = rng.permutation(300), rng.permutation(5)
    other = estimate(votes[tasks][:, judges])
    np.testing.assert_allclose(other.posterior, found.posterior[tasks], atol=1e-6)
    np.testing.assert_allclose(other.sensitivity, found.sensitivity[judges], atol=1e-6)


def test_tasks_and_judges_without_votes() -> None:
    votes, _ = simulated(3, tasks=200)
    padded = np.full((201, 6), np.nan)
    padded[:200, :5] = votes
    found = estimate(padded)
    assert np.isnan(found.posterior[200])
    np.testing.assert_allclose(found.posterior[:200], estimate(votes).posterior)
    # Its prior: 2 of 3 tasks right.
    assert (found.sensitivity[5], found.specificity[5]) == pytest.approx((2 / 3, 2 / 3))


def test_one_step_by_hand() -> None:
    # One task with prevalence 1/2; judges (0.8, 0.9) say flawed, (0.6, 0.7) says sound:
    # odds = 0.8/0.1 * 0.4/0.7 = 32/7.
    odds = log_odds(np.array([1.0, 0.0]), np.array([0.8, 0.6]), np.array([0.9, 0.7]), 0.5)
    assert np.exp(odds) == pytest.approx(32 / 7)
    # Half of a judge's samples: the root of what both votes would give, 0.8/0.1 * 0.2/0.9 = 16/9.
    assert np.exp(log_odds(np.array([0.5]), np.array([0.8]), np.array([0.9]), 0.5)) == pytest.approx(4 / 3)


def test_classes_are_exchanged_where_judges_would_be_worse_than_chance() -> None:
    wrong = np.array([[0.7, 0.3], [0.2, 0.1], [0.3, 0.3], [0.9, 0.8]])
    turned = right_way_round(wrong, np.array([10.0, 10.0, 1.0]))
    np.testing.assert_allclose(turned, [[0.3, 0.7], [0.9, 0.8], [0.7, 0.7], [0.2, 0.1]])
    np.testing.assert_array_equal(right_way_round(turned, np.array([10.0, 10.0, 1.0])), turned)


def test_unanimous_judges() -> None:
    for seen in (0.0, 1.0):
        found = estimate(np.full((50, 4), seen))
        assert found.converged
        np.testing.assert_allclose(found.posterior, seen, atol=0.01)


@pytest.mark.parametrize("votes", [np.full((9, 3), np.nan), np.ones((9, 2)), [[1, 0, np.nan]] * 9])
def test_too_few_judges(votes: object) -> None:
    with pytest.raises(TooFewVotesError, match="judges voted"):
        estimate(votes)  # type: ignore[arg-type]


def test_votes_outside_their_range() -> None:
    with pytest.raises(ValueError, match="from 0 to 1"):
        estimate([[1, 2, 0]])
