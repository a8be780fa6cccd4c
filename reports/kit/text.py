"""Statistics as text: shares in percent, intervals, reasons of undefined values, counts with their noun."""

import re

from agenthard.audit.statistics import Estimate, Result, Undefined

MINUS = "\N{MINUS SIGN}"


def money(value: float | None) -> str:
    """Write dollars, with more digits below a cent.

    >>> money(12.5), money(0.0031), money(0.0), money(None)
    ('$12.50', '$0.0031', '$0.00', 'unknown')
    """
    if value is None:
        return "unknown"
    return f"${value:,.2f}" if value >= 0.01 or value == 0 else f"${value:.2g}"


def amount(value: float, unit: str) -> str:
    """Write a number.

    Args:
        value: the number.
        unit: what it counts: "share" (0..1), "%" (0..100), "points" (a difference of shares), "ranks", "models",
            "distance", "τ-b", "rank", "logit", "χ²", "sum" or "yes" (1 or 0).

    Returns:
        The number with as many digits as its unit needs.

    >>> amount(0.6244, "share"), amount(0.131, "points"), amount(8, "models"), amount(-0.0412, "τ-b")
    ('62.4 %', '13.1 points', '8', '−0.041')
    """
    if unit == "share":
        text = f"{100 * value:.1f} %"
    elif unit == "%":
        text = f"{value:.1f} %"
    elif unit == "points":
        text = f"{100 * value:.1f} points"
    elif unit == "sum":
        text = f"{value:,.0f}"
    elif unit == "yes":
        text = "yes" if value else "no"
    elif unit in ("ranks", "logit", "χ²"):
        text = f"{value:.2f}"
    elif unit in ("models", "rank"):
        text = f"{value:.0f}" if value == round(value) else f"{value:.1f}"
    else:
        text = f"{value:.3f}"
    return text.replace("-", MINUS)


def span(low: float, high: float, unit: str) -> str:
    """Write an interval; the unit appears once.

    >>> span(0.5513, 0.701, "share")
    '55.1–70.1 %'
    """
    first, last = amount(low, unit), amount(high, unit)
    shared = first.split(" ")[0] if " " in first else first
    return f"{shared} to {last}" if MINUS in first + last else f"{shared}–{last}"


def result_text(result: Result, unit: str) -> str:
    """Write a result with its interval, or the reason why it has no value.

    >>> result_text(Estimate(value=0.62, low=0.55, high=0.7, level=0.95, n=9, of=9, unit="tasks", method="m"), "share")
    '62.0 % (55.0–70.0 %)'
    """
    if isinstance(result, Undefined):
        return result.reason
    number = amount(result.value, unit)
    if result.low is None or result.high is None:
        return number
    return f"{number} ({span(result.low, result.high, unit)})"


def sentence(text: str) -> str:
    """Write a phrase as a sentence.

    >>> sentence("paired bootstrap; complete tasks only")
    'Paired bootstrap; complete tasks only.'
    """
    return f"{text[:1].upper()}{text[1:].rstrip('. ')}." if text else ""


def number(result: Result | None) -> float | None:
    """Take the value of a result, None when it has none."""
    return result.value if isinstance(result, Estimate) else None


def plural(count: int, word: str) -> str:
    """Write a count with its noun.

    >>> plural(1, "task"), plural(1200, "task"), plural(3, "category")
    ('1 task', '1,200 tasks', '3 categories')
    """
    many = f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"
    return f"{count:,} {word if count == 1 else many}"


def slug(text: str) -> str:
    """Write words in lower case with hyphens between them, so that spelling variants become equal.

    >>> slug("Incorrect tool-call  responses"), slug("ground_truth"), slug("τ-bench: retail & airline")
    ('incorrect-tool-call-responses', 'ground-truth', 'bench-retail-airline')
    """
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
