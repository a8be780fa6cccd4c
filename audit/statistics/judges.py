"""Agreement of judges that score the same attempts, each once or several times."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from statistics import mean

from agenthard.audit.statistics.agreement import cohen_kappa, krippendorff_alpha
from agenthard.audit.statistics.result import Result
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.trajectory import Judgement, Trajectory

PASSES = 6.0
"""Score of 10 at which an attempt passes."""


class PairOfJudges(Record):
    """Two judges on the attempts that both scored."""

    first: str
    """One."""
    second: str
    """The other."""
    alpha: Result
    """Krippendorff's α of their scores, as measurements."""
    kappa: Result
    """Cohen's κ of pass and fail at 60 %."""


class JudgeAgreement(Record):
    """How far judges of one kind agree over many attempts."""

    kind: str
    """Kind."""
    judges: Result
    """Krippendorff's α of the judges' scores, each the mean of its repetitions; as measurements."""
    repeats: dict[str, Result]
    """α of each judge with itself, over its repetitions."""
    pairs: tuple[PairOfJudges, ...]
    """Every pair of judges."""


def judge_agreement(
    kind: str,
    scores: Mapping[str, Sequence[Sequence[float | None]]],
    *,
    passes: float = PASSES,
    resamples: int = 2000,
    seed: int = 0,
) -> JudgeAgreement:
    """Measure how far judges agree, with intervals over attempts.

    Args:
        kind: what kind of judges they are.
        scores: for each judge, the scores of its repetitions on each attempt, attempts in the same order; None where
            an answer has no score.
        passes: score at which an attempt passes, for κ.
        resamples: resamples of the bootstrap.
        seed: seed of the bootstrap.

    >>> found = judge_agreement("text", {"a": [[8], [2], [7]], "b": [[7], [3], [2]]}, resamples=100)
    >>> round(found.pairs[0].kappa.value, 2), found.pairs[0].kappa.n
    (0.4, 3)
    """
    means = {name: [_mean(each) for each in found] for name, found in scores.items()}
    verdicts = {
        name: [None if score is None else "pass" if score >= passes else "fail" for score in found]
        for name, found in means.items()
    }

    def alpha(units: Iterable[Sequence[float | None]]) -> Result:
        return krippendorff_alpha(list(units), "interval", resamples=resamples, seed=seed)

    return JudgeAgreement(
        kind=kind,
        judges=alpha(zip(*means.values(), strict=True)),
        repeats={name: alpha(found) for name, found in scores.items()},
        pairs=tuple(
            PairOfJudges(
                first=one,
                second=other,
                alpha=alpha(zip(means[one], means[other], strict=True)),
                kappa=cohen_kappa(verdicts[one], verdicts[other], resamples=resamples, seed=seed),
            )
            for one, other in combinations(scores, 2)
        ),
    )


class JudgedAttempts:
    """Collects what models said of attempts, run by run."""

    def __init__(self) -> None:
        """Begin without attempts."""
        self._seen: set[tuple[object, ...]] = set()
        self._units: dict[str, list[list[Judgement]]] = {}

    def add(self, run: Trajectory) -> None:
        """Add the judgements of a run.

        Equal judgements of one task in the same words are one: an attempt that changed nothing gets the judgements of
        the one before from the cache.
        """
        for kind in ("text", "vision"):
            found = [each for each in run.judgements if each.kind == kind]
            key = (run.task_id, kind, *((each.judge, each.score, each.reason) for each in found))
            if found and key not in self._seen:
                self._seen.add(key)
                self._units.setdefault(kind, []).append(found)

    def agreement(self, *, resamples: int = 2000, seed: int = 0) -> tuple[JudgeAgreement, ...]:
        """Measure the agreement of each kind of judges; empty where no judge could agree with another or itself."""
        found = []
        for kind, units in sorted(self._units.items()):
            names = list(dict.fromkeys(each.judge for unit in units for each in unit))
            scores = {name: [[each.score for each in unit if each.judge == name] for unit in units] for name in names}
            if len(names) > 1 or any(len(each) > 1 for unit in scores.values() for each in unit):
                found.append(judge_agreement(kind, scores, resamples=resamples, seed=seed))
        return tuple(found)


def _mean(scores: Sequence[float | None]) -> float | None:
    known = [score for score in scores if score is not None]
    return mean(known) if known else None
