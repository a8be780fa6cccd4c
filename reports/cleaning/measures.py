"""A statistic of a split with the null of random subsets of equal size, and the comparison as text."""

from agenthard.audit.statistics import NullBand, NullDistribution, Result, Undefined
from agenthard.reports.kit.text import amount, result_text, span
from agenthard.taxonomy.record import Record

MEASURE_COLUMNS = ("figure", "observed", "random deletions: mean", "5–95 %", "percentile", "outside the band")


class Measure(Record):
    """One statistic of one split with its null. Without a null the number means little."""

    id: str
    """Short name: agreement, agreement_corrected, separability, diversity, change_rate and so on."""
    title: str
    """Name for people."""
    unit: str
    """What the numbers are: "share" (0..1), "%" (0..100), "ranks", "models", "distance", "agreement", "τ-b"."""
    original: Result | None = None
    """The same statistic on the initial split, where that makes sense; None where it compares two splits."""
    observed: Result
    """The statistic on this split, or why it is undefined."""
    null: NullBand | Undefined
    """The statistic on random subsets of the initial split with as many tasks, or why there is none."""
    sentence: str
    """Plain words: whether the observed value exceeds what deleting as many random tasks does."""


def measure(
    id: str,
    title: str,
    unit: str,
    observed: Result,
    null: NullDistribution | Undefined,
    original: Result | None = None,
) -> Measure:
    """Compare a statistic with its null.

    Args:
        id: short name.
        title: name for people, as it starts a sentence.
        unit: what the numbers are (see ``Measure.unit``).
        observed: the statistic on the split.
        null: the statistic on random subsets; an observed value in it is replaced by ``observed``.
        original: the statistic on the initial split.

    Returns:
        The measure.
    """
    band = null if isinstance(null, Undefined) else null.against(observed)
    sentence = _sentence(title, unit, observed, band)
    return Measure(id=id, title=title, unit=unit, original=original, observed=observed, null=band, sentence=sentence)


def _sentence(title: str, unit: str, observed: Result, null: NullBand | Undefined) -> str:
    if isinstance(observed, Undefined):
        return f"{title} is {observed.reason}."
    value = amount(observed.value, unit)
    if isinstance(null, Undefined):
        return f"{title}: {value}, without a null to compare with ({null.reason})."
    if not null.exceeds:
        verdict = "does not exceed"
    else:
        verdict = "exceeds" if observed.value > null.high else "lies below"
    return (
        f"{title}: {value}; deleting as many random tasks gives {amount(null.mean, unit)} on average (5–95 %: "
        f"{span(null.low, null.high, unit)}), so it {verdict} the null of deleting as many random tasks."
    )


def measure_cells(measure: Measure) -> tuple[str, ...]:
    """Write a statistic with its null, in the order of ``MEASURE_COLUMNS``."""
    value, null = result_text(measure.observed, measure.unit), measure.null
    if not isinstance(null, NullBand):
        return measure.title, value, null.reason, "", "", ""
    return (
        measure.title,
        value,
        amount(null.mean, measure.unit),
        span(null.low, null.high, measure.unit),
        "" if null.percentile is None else f"{null.percentile:.1f}",
        {True: "yes", False: "no", None: ""}[null.exceeds],
    )
