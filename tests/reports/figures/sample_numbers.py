"""Numbers of the sample, made by hand."""

from typing import Any

from agenthard.audit.statistics import Estimate, MonteCarloP, NullBand
from agenthard.reports.cleaning.splits import SplitName

SPLITS: tuple[SplitName, ...] = ("initial", "cleaned", "hard")
SHARES = {"initial": 1.0, "cleaned": 0.75, "hard": 0.6}
SEED = 7


def estimate(value: float, half: float | None = None, n: int = 40, unit: str = "tasks", **extra: Any) -> Estimate:
    """A number with a symmetric interval."""
    ends = {} if half is None else {"low": value - half, "high": value + half, "level": 0.95}
    return Estimate(value=value, n=n, of=n, unit=unit, method="by hand", **ends, **extra)


def band(mean: float, half: float, n: int, of: int, observed: float | None) -> NullBand:
    """A null of 1,000 draws."""
    low, high = mean - half, mean + half
    return NullBand(
        mean=mean,
        low=low,
        high=high,
        n=n,
        of=of,
        draws=1000,
        of_draws=1000,
        seed=SEED,
        method="by hand",
        observed=observed,
        p=None if observed is None else MonteCarloP(p=0.3, low=0.28, high=0.32, tail="both", draws=1000),
        percentile=None if observed is None else min(99.0, max(1.0, 50 + 45 * (observed - mean) / half)),
    )
