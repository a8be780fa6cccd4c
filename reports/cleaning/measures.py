"""A statistic of a split with its null, judged together with the other figures of one claim."""

from collections.abc import Sequence

from agenthard.audit.statistics import MonteCarloP, NullBand, NullDistribution, Result, Undefined, Verdict
from agenthard.audit.statistics.monte_carlo import adjusted, verdict
from agenthard.reports.kit.text import amount, result_text, span
from agenthard.taxonomy.record import Record

MEASURE_COLUMNS = ("figure", "observed", "random: mean", "5–95 %", "p", "p (Holm)", "verdict")
DELETION = "deleting as many random tasks"
VERDICTS = {"beyond": "beyond the null", "within": "within the null", "undecided": "undecided"}


class Measure(Record):
    """One statistic of one split with its null. Without a null the number means little."""

    id: str
    """Short name: agreement, agreement_corrected, separability, diversity, change_rate and so on."""
    title: str
    """Name for people."""
    unit: str
    """What the numbers are: "share" (0..1), "%" (0..100), "ranks", "models", "distance", "agreement", "τ-b", "yes"."""
    original: Result | None = None
    """The same statistic on the initial split, where that makes sense; None where it compares two splits."""
    observed: Result
    """The statistic on this split, or why it is undefined."""
    null: NullBand | Undefined
    """The statistic on random subsets of the initial split with as many tasks, or why there is none."""
    adjusted_p: MonteCarloP | None = None
    """p-value after Holm's correction over the figures of one claim, with its error; None without a null."""
    verdict: Verdict | None = None
    """Whether the figure goes beyond its null; undecided where the Monte-Carlo error of p holds the bound."""
    sentence: str = ""
    """Plain words: whether the observed value exceeds what deleting as many random tasks does."""


def measure(
    id: str,
    title: str,
    unit: str,
    observed: Result,
    null: NullDistribution | Undefined,
    original: Result | None = None,
) -> Measure:
    """Compare a statistic with its null; ``judged`` gives the verdict.

    Args:
        id: short name.
        title: name for people, as it starts a sentence.
        unit: what the numbers are (see ``Measure.unit``).
        observed: the statistic on the split.
        null: the statistic on random subsets; an observed value in it is replaced by ``observed``.
        original: the statistic on the initial split.

    Returns:
        The measure, without a verdict.
    """
    band = null if isinstance(null, Undefined) else null.against(observed)
    return Measure(id=id, title=title, unit=unit, original=original, observed=observed, null=band)


def judged(measures: Sequence[Measure], alpha: float, against: str = DELETION) -> tuple[Measure, ...]:
    """Judge the figures of one claim together: Holm's correction, with the Monte-Carlo error of each p-value.

    Args:
        measures: the figures of the claim.
        alpha: family-wise error rate.
        against: what the null does, in words.

    Returns:
        The measures with verdicts and sentences, in the given order.
    """
    found = [measure.null.p if isinstance(measure.null, NullBand) else None for measure in measures]
    family = adjusted([p for p in found if p is not None])
    corrected = iter(family)
    rows = []
    for each, p in zip(measures, found, strict=True):
        own = None if p is None else next(corrected)
        verdict_ = None if own is None else verdict(own, alpha)
        row = each.model_copy(update={"adjusted_p": own, "verdict": verdict_})
        rows.append(row.model_copy(update={"sentence": _sentence(row, against)}))
    return tuple(rows)


def beyond(measures: Sequence[Measure]) -> list[Measure]:
    """List the figures that go beyond their null."""
    return [measure for measure in measures if measure.verdict == "beyond"]


def _sentence(measure: Measure, against: str) -> str:
    title, observed, null = measure.title, measure.observed, measure.null
    if isinstance(observed, Undefined):
        return f"{title} is {observed.reason}."
    value = result_text(observed, measure.unit)
    if isinstance(null, Undefined) or null.p is None or measure.adjusted_p is None:
        reason = null.reason if isinstance(null, Undefined) else "nothing was observed"
        return f"{title}: {value}, without a null to compare with ({reason})."
    words = {
        "within": f"it does not exceed the null of {against}",
        "undecided": f"{null.p.draws:,} draws leave undecided whether it exceeds the null of {against}",
        "beyond": f"it {'exceeds' if observed.value > null.mean else 'lies below'} the null of {against}",
    }[measure.verdict or "undecided"]
    return f"{title}: {value}; {against} gives {_null(null, measure.unit)}, {p_text(null.p)}, so {words}."


def _null(null: NullBand, unit: str) -> str:
    if null.low is None or null.high is None:
        return f"it in {amount(null.mean, 'share')} of draws"
    return f"{amount(null.mean, unit)} on average (5–95 %: {span(null.low, null.high, unit)})"


def p_text(p: MonteCarloP) -> str:
    """Write a p-value with as many digits as its draws support.

    >>> p_text(MonteCarloP(p=0.0002, low=0.0, high=0.0015, tail="less", draws=4999))
    'p ≤ 0.0002'
    """
    return f"p ≤ {p.p:.2g}" if p.p <= 1.5 / (1 + p.draws) else f"p = {p.p:.2g}"


def band_text(null: NullBand, unit: str) -> str:
    """Write the band of a null; an indicator has none."""
    return "" if null.low is None or null.high is None else span(null.low, null.high, unit)


def measure_cells(measure: Measure) -> tuple[str, ...]:
    """Write a statistic with its null, in the order of ``MEASURE_COLUMNS``."""
    value, null = result_text(measure.observed, measure.unit), measure.null
    if not isinstance(null, NullBand):
        return measure.title, value, null.reason, "", "", "", ""
    mean = amount(null.mean, "share" if null.low is None else measure.unit)
    own = measure.adjusted_p
    return (
        measure.title,
        value,
        mean,
        band_text(null, measure.unit),
        "" if null.p is None else p_text(null.p).removeprefix("p ").removeprefix("= "),
        "" if own is None else f"{own.p:.2g}",
        VERDICTS.get(measure.verdict or "", ""),
    )
