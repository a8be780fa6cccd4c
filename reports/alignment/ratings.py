"""Scores that people give to judged attempts and to feedback: how far they agree with judges and with each other."""

import json
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from statistics import mean
from typing import Any, Literal

import numpy as np
from pydantic import Field, ValidationError

from agenthard.audit.statistics.agreement import cohen_kappa, krippendorff_alpha
from agenthard.audit.statistics.rates import wilson_interval
from agenthard.audit.statistics.resampling import all_bootstrap_means, percentile_interval
from agenthard.audit.statistics.result import Estimate, Result, undefined
from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.record import Record

Rated = Literal["verdicts", "feedback"]
TOP: Mapping[Rated, float] = {"verdicts": 10.0, "feedback": 5.0}
"""Highest score of each kind of sheet; the lowest is 0."""
PASSES = 6.0
"""Score at which an attempt passes, for κ."""
USEFUL = 4.0
"""Score from which feedback counts as useful."""
LEVEL = 0.95
PEOPLE = "mean of the people"


class RatingError(AgentHardError):
    """A sheet of scores cannot be used; the message names the line and what is expected."""

    code = "AH716"
    remedy = (
        "Correct the line that the message names, and give the key that `agenthard align rate` wrote for the sheet."
    )


class RatingItem(Record):
    """One line of a sheet, with what its raters must not see."""

    item: str
    """Its name on the sheet."""
    run: str
    """Run that it is about."""
    task_id: str
    """Task of the run."""
    cluster: str
    """Tasks that depend on each other; intervals draw whole clusters."""
    scores: dict[str, float]
    """Scores of the judges, by judge; ``score`` is that of the run. Empty on a sheet of feedback."""


class RatingKey(Record):
    """What belongs to a sheet and is not for its raters."""

    rated: Rated
    """What the sheet asks for."""
    seed: int
    """Seed of the draw."""
    available: int
    """Items that could be drawn."""
    items: tuple[RatingItem, ...]
    """The items, in the order of the sheet."""


class JudgeAgreement(Record):
    """One rater, or the mean of all, with one judge."""

    rater: str
    """Who."""
    judge: str
    """The judge; ``score`` is the score of the run."""
    kappa: Result
    """Cohen's κ of pass and fail at 6 of 10."""
    same: Result
    """Share of items on which both say pass, or both fail."""
    alpha: Result
    """Krippendorff's α of the scores, as measurements."""
    difference: Result
    """Mean of the judge's score less the person's, with an interval over clusters."""


class RaterPair(Record):
    """Two raters."""

    first: str
    """One."""
    second: str
    """The other."""
    kappa: Result
    """Cohen's κ: of pass and fail, or of useful and not."""


class Ratings(Record):
    """What the people say."""

    rated: Rated
    """What they scored."""
    items: int
    """Items of the sheet."""
    scored: int
    """Items with a score of a person."""
    open: int
    """Lines that are not filled in."""
    raters: tuple[str, ...]
    """Who scored."""
    judges: tuple[JudgeAgreement, ...]
    """Agreement with judges; empty on a sheet of feedback."""
    means: dict[str, Result]
    """Mean score of each rater and of all, with an interval over clusters."""
    useful: Result | None
    """Share of feedback whose mean score is 4 or 5; None on a sheet of verdicts."""
    pairs: tuple[RaterPair, ...]
    """Every pair of raters."""
    alpha: Result
    """Krippendorff's α of all raters' scores, as measurements."""


class _Line(Record):
    item: str
    annotator: str | None = None
    score: float | None = Field(default=None, allow_inf_nan=False)


def read_ratings(paths: Sequence[Path], key: RatingKey) -> tuple[dict[str, dict[str, float]], int]:
    """Read filled sheets; a later line of a rater about an item replaces an earlier one.

    Args:
        paths: the sheets; a line without an annotator is by the name of its file.
        key: their key.

    Returns:
        Scores by rater and item, and how many lines are not filled in.

    Raises:
        RatingError: a line cannot be read, is about another sheet, or its score is out of range.
    """
    known, top = {item.item for item in key.items}, TOP[key.rated]
    found: dict[str, dict[str, float]] = {}
    still_open = 0
    for path in paths:
        try:
            lines = path.read_text(encoding="utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise RatingError(f"{path}: cannot be read: {error}") from error
        for number, text in enumerate(lines, start=1):
            if not text.strip():
                continue
            place = f"{path.name}, line {number}"
            try:
                row: dict[str, Any] = json.loads(text)
                line = _Line.model_validate({name: row.get(name) for name in _Line.model_fields})
            except (ValueError, AttributeError, ValidationError, RecursionError) as error:
                raise RatingError(f"{place}: expected item, annotator and score: {str(error)[:200]}") from None
            if line.item not in known:
                raise RatingError(f"{place}: {line.item!r} is not in the key")
            if line.score is None:
                still_open += 1
            elif not 0 <= line.score <= top:
                raise RatingError(f"{place}: the score {line.score:g} is not from 0 to {top:g}")
            else:
                found.setdefault(line.annotator or path.stem, {})[line.item] = line.score
    if not found:
        raise RatingError(f"{', '.join(path.name for path in paths)}: no line is filled in")
    return found, still_open


def measure_ratings(
    key: RatingKey,
    ratings: Mapping[str, Mapping[str, float]],
    still_open: int = 0,
    *,
    resamples: int = 2000,
    seed: int = 0,
) -> Ratings:
    """Compare the scores of people with those of judges, and with each other.

    Args:
        key: the key of the sheet.
        ratings: scores by rater and item.
        still_open: lines that are not filled in.
        resamples: resamples of every bootstrap.
        seed: seed of every bootstrap.
    """
    names = [item.item for item in key.items]
    raters = sorted(ratings)
    columns: dict[str, list[float | None]] = {name: [ratings[name].get(item) for item in names] for name in raters}
    together = [_mean(values) for values in zip(*columns.values(), strict=True)]
    shown = {**columns, **({PEOPLE: together} if len(raters) > 1 else {})}
    judges = dict.fromkeys(name for item in key.items for name in item.scores)
    drawn = {"resamples": resamples, "seed": seed}
    limit = PASSES if key.rated == "verdicts" else USEFUL
    clusters = [item.cluster for item in key.items]
    useful = [score >= USEFUL for score in together if score is not None]
    return Ratings(
        rated=key.rated,
        items=len(names),
        scored=sum(score is not None for score in together),
        open=still_open,
        raters=tuple(raters),
        judges=tuple(
            _with_judge(rater, judge, scores, [item.scores.get(judge) for item in key.items], clusters, drawn)
            for judge in judges
            for rater, scores in shown.items()
        ),
        means={name: _mean_result(scores, clusters, drawn) for name, scores in shown.items()},
        useful=wilson_interval(sum(useful), len(useful), unit="feedbacks") if key.rated == "feedback" else None,
        pairs=tuple(
            RaterPair(
                first=one,
                second=other,
                kappa=cohen_kappa(_sides(columns[one], limit), _sides(columns[other], limit), **drawn),
            )
            for one, other in combinations(raters, 2)
        ),
        alpha=krippendorff_alpha(list(zip(*columns.values(), strict=True)), "interval", **drawn),
    )


def _with_judge(
    rater: str,
    judge: str,
    scores: Sequence[float | None],
    judged: Sequence[float | None],
    clusters: Sequence[str],
    drawn: Mapping[str, int],
) -> JudgeAgreement:
    people, machine = _sides(scores, PASSES), _sides(judged, PASSES)
    both = [(a, b) for a, b in zip(people, machine, strict=True) if a is not None and b is not None]
    gaps = [None if a is None or b is None else b - a for a, b in zip(scores, judged, strict=True)]
    return JudgeAgreement(
        rater=rater,
        judge=judge,
        kappa=cohen_kappa(people, machine, **drawn),
        same=wilson_interval(sum(a == b for a, b in both), len(both), unit="items"),
        alpha=krippendorff_alpha(list(zip(scores, judged, strict=True)), "interval", **drawn),
        difference=_mean_result(gaps, clusters, drawn),
    )


def _sides(scores: Sequence[float | None], limit: float) -> list[str | None]:
    return [None if score is None else "high" if score >= limit else "low" for score in scores]


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return mean(known) if known else None


def _mean_result(values: Sequence[float | None], clusters: Sequence[str], drawn: Mapping[str, int]) -> Result:
    pairs = [(value, name) for value, name in zip(values, clusters, strict=True) if value is not None]
    names = [name for _, name in pairs]
    if len(set(names)) < 2:
        return undefined("fewer than two clusters have a score", len(pairs), "items")
    numbers = np.array([[value] for value, _ in pairs])
    resampled = all_bootstrap_means(numbers, resamples=drawn["resamples"], seed=drawn["seed"], clusters=names)
    return Estimate(
        value=float(numbers.mean()),
        n=len(pairs),
        of=len(values),
        unit="items",
        method=f"mean; percentile interval, {drawn['resamples']} resamples of {len(set(names))} clusters",
        seed=drawn["seed"],
        **percentile_interval(resampled[:, 0], LEVEL),
    )
