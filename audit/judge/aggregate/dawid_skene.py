"""Judges' error rates without labels, from how they agree and disagree (Dawid and Skene, 1979).

A. P. Dawid and A. M. Skene, Maximum likelihood estimation of observer error-rates using the EM algorithm, Applied
Statistics 28 (1979), 20-28; here for two classes, flawed and sound.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agenthard.taxonomy.errors import AgentHardError

RIGHT, WRONG = 2.0, 1.0
"""Tasks of each class that a judge is taken to have got right and wrong before it voted: the mode of a Beta(3, 2)
prior on each rate. It keeps rates off 0 and 1, and says that judges are rather right than wrong."""
FLAWED, SOUND = 1.0, 1.0
"""Tasks of each class that are added to the count of classes: a Beta(2, 2) prior on the prevalence."""
FEWEST_JUDGES = 3
"""Two judges give three frequencies, and five figures would have to follow from them."""
TOLERANCE = 1e-7
MOST_ITERATIONS = 2_000


class TooFewVotesError(AgentHardError, ValueError):
    """The votes do not determine the judges' error rates; the message says why."""

    code = "AH404"
    remedy = "Use more judges or more tasks, or aggregate by majority."


@dataclass(frozen=True)
class Estimate:
    """The result of the iteration."""

    sensitivity: NDArray[np.float64]
    """Probability of each judge to see a flaw where there is one."""
    specificity: NDArray[np.float64]
    """Probability of each judge to see none where there is none."""
    prevalence: float
    """Share of flawed tasks."""
    posterior: NDArray[np.float64]
    """Probability of a flaw of each task; NaN for a task without a vote."""
    iterations: int
    """Steps taken."""
    converged: bool
    """Whether the last step changed no figure by more than the tolerance."""


def estimate(votes: ArrayLike) -> Estimate:
    """Estimate the error rates of judges and the probability that each task is flawed.

    The maximum of the posterior density is sought by expectation maximisation from the shares of votes, so the result
    does not depend on chance, on the order of tasks or on that of judges. A judge's share of several samples enters as
    the power of the likelihood: all its samples together weigh as one vote. Votes may be missing in any way that
    depends on the other votes only, as those of a second tier do.

    Args:
        votes: One row per task, one column per judge: 1 for a flaw, 0 for none, a fraction for a judge whose samples
            disagree, NaN for no vote.

    Raises:
        TooFewVotesError: Fewer than three judges voted.
        ValueError: A vote is outside 0 to 1.
    """
    given = np.asarray(votes, dtype=np.float64)
    if given.ndim != 2 or np.any((given < 0) | (given > 1)):
        raise ValueError("votes are a table of tasks and judges, with values from 0 to 1 and NaN for no vote")
    cast = ~np.isnan(given)
    judges = int(cast.any(axis=0).sum())
    if judges < FEWEST_JUDGES:
        raise TooFewVotesError(
            f"{judges} judges voted; error rates follow from agreement among {FEWEST_JUDGES} or more"
        )
    rows = cast.any(axis=1)
    mask = cast[rows].astype(np.float64)
    saw = np.where(cast[rows], given[rows], 0.0)
    flawed = saw.sum(axis=1) / mask.sum(axis=1)
    figures = _rates(flawed, saw, mask)
    change, iterations = np.inf, 0
    while change > TOLERANCE and iterations < MOST_ITERATIONS:
        flawed = _flawed(figures, saw, mask)
        after = _rates(flawed, saw, mask)
        change = float(np.abs(after - figures).max())
        figures, iterations = after, iterations + 1
    figures = right_way_round(figures, mask.sum(axis=0))
    posterior = np.full(len(given), np.nan)
    posterior[rows] = _flawed(figures, saw, mask)
    return Estimate(
        sensitivity=figures[1:, 0],
        specificity=figures[1:, 1],
        prevalence=float(figures[0, 0]),
        posterior=posterior,
        iterations=iterations,
        converged=change <= TOLERANCE,
    )


def log_odds(
    shares: NDArray[np.float64], sensitivity: NDArray[np.float64], specificity: NDArray[np.float64], prevalence: float
) -> float:
    """Return the logarithm of the odds that a task is flawed.

    Args:
        shares: Each voting judge's share of votes for a flaw.
        sensitivity: Their sensitivities.
        specificity: Their specificities.
        prevalence: Share of flawed tasks.
    """
    figures = np.vstack([[prevalence, 1 - prevalence], np.column_stack([sensitivity, specificity])])
    return float(_log_odds(figures, shares[None, :], np.ones((1, len(shares))))[0])


def right_way_round(figures: NDArray[np.float64], votes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Exchange the two classes where judges would otherwise be worse than chance.

    The likelihood is the same with the classes exchanged; of the two readings the one counts in which sensitivity and
    specificity add up to 1 or more, on average over the votes.

    Args:
        figures: First row: share of flawed and of sound tasks; then sensitivity and specificity of each judge.
        votes: How many votes each judge gave.
    """
    better = float(np.average(figures[1:].sum(axis=1), weights=votes)) >= 1
    if better:
        return figures
    return np.vstack([figures[:1, ::-1], 1 - figures[1:, ::-1]])


def _rates(flawed: NDArray[np.float64], saw: NDArray[np.float64], mask: NDArray[np.float64]) -> NDArray[np.float64]:
    """The most probable rates where the classes are known: prevalence first, then each judge's two rates."""
    sound = 1 - flawed
    prevalence = (flawed.sum() + FLAWED) / (len(flawed) + FLAWED + SOUND)
    sensitivity = (flawed @ saw + RIGHT) / (flawed @ mask + RIGHT + WRONG)
    specificity = (sound @ (mask - saw) + RIGHT) / (sound @ mask + RIGHT + WRONG)
    return np.vstack([[prevalence, 1 - prevalence], np.column_stack([sensitivity, specificity])])


def _flawed(figures: NDArray[np.float64], saw: NDArray[np.float64], mask: NDArray[np.float64]) -> NDArray[np.float64]:
    """The probability that each task is flawed where the rates are known."""
    # tanh does not overflow, whatever the odds.
    return np.asarray(0.5 * (1 + np.tanh(0.5 * _log_odds(figures, saw, mask))))


def _log_odds(figures: NDArray[np.float64], saw: NDArray[np.float64], mask: NDArray[np.float64]) -> NDArray[np.float64]:
    right, wrong = np.log(figures), np.log1p(-figures)
    for_flaw = right[1:, 0] - wrong[1:, 1]
    against = wrong[1:, 0] - right[1:, 1]
    return np.asarray(right[0, 0] - right[0, 1] + saw @ for_flaw + (mask - saw) @ against)
