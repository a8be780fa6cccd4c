"""Live figures of a review: progress, agreement, precision so far, labels left, and what to review next."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from agenthard.audit.decisions.policy import Decision
from agenthard.audit.statistics.agreement import cohen_kappa, krippendorff_alpha
from agenthard.audit.statistics.matrix import ScoreMatrix
from agenthard.audit.statistics.rates import wilson_interval
from agenthard.audit.statistics.result import Estimate, Result, Undefined, undefined
from agenthard.flows.review.state import ReviewState
from agenthard.reports.alignment.plan import Expected, make_plan
from agenthard.reports.cleaning.inputs import experiments_of, load_runs
from agenthard.taxonomy.finding import Finding, Tier
from agenthard.taxonomy.record import Record

HALF_WIDTH = 0.1
"""Half of the width of the intervals that the label budget is planned for, as `align plan` does first."""


class CheckPrecision(Record):
    """How often people agree with a check so far."""

    check: str
    """Id of the check; ``judge`` for the judges."""
    findings: Result
    """Share of its reviewed findings that people call correct; arguable and disputed ones count against it."""
    tasks: Result
    """Share of its reviewed tasks that people call flawed, whatever the flaw is."""


class TaskValue(Record):
    """What a decision on one task can change on the leaderboard."""

    task_id: str
    """Task."""
    pairs: int
    """Pairs of models that change their order when the task is put in or taken out."""
    closeness: float
    """Largest share of a gap between two models that the task opens or closes; above 1 their order changes."""


class ReviewFigures(Record):
    """The figures of a review."""

    tasks: int
    """Tasks of the benchmark (N)."""
    reviewed: int
    """Tasks with a verdict that counts (k)."""
    flagged: int
    """Tasks that the audit drops or sends to review."""
    reviewed_flagged: int
    """Of these, those with a verdict."""
    disputed: int
    """Tasks and findings that reviewers disagree about."""
    stale: int
    """Verdicts that do not count because what they are about has changed."""
    reviewers: dict[str, int]
    """Tasks that each reviewer has a verdict on."""
    seconds: float | None
    """Median time of a verdict on a task; None where no time was recorded."""
    agreement: Result
    """Cohen's κ for two reviewers, Krippendorff's α for more, on flawed or not; "cannot tell" counts as missing."""
    agreement_blind: Result
    """The same of blind verdicts alone."""
    precision: tuple[CheckPrecision, ...]
    """By check, the one with most reviewed tasks first; checks without a reviewed task are left out."""
    budget: int | None
    """Labels that `align plan` asks for (± 0.1 on precision and recall, the best split); None for a single task."""
    budget_left: int | None
    """Of these, the ones still to give."""


def review_figures(
    state: ReviewState,
    decisions: Sequence[Decision],
    findings: Sequence[Finding],
    *,
    resamples: int = 500,
    seed: int = 0,
) -> ReviewFigures:
    """Compute the figures.

    Args:
        state: the review, folded with the contents of the run.
        decisions: decisions without verdicts of people, one per task.
        findings: all findings of the audit.
        resamples: bootstrap resamples behind the interval of the agreement.
        seed: seed of the bootstrap.
    """
    tasks = {name: item for (what, name), item in state.items() if what == "task"}
    ids = [decision.task_id for decision in decisions]
    reviewed = [task_id for task_id in ids if task_id in tasks and tasks[task_id].reviewed]
    flagged = {decision.task_id for decision in decisions if decision.action in ("drop", "review")}
    verdicts = [event for task_id in ids if task_id in tasks for event in tasks[task_id].verdicts.values()]
    seconds = [event.data["seconds"] for event in verdicts if event.data.get("seconds") is not None]
    counts: dict[str, int] = {}
    for event in verdicts:
        counts[event.by] = counts.get(event.by, 0) + 1
    budget = label_budget(len(ids))
    agreed = agreement(state, resamples=resamples, seed=seed)
    all_blind = all(event.data.get("blind", True) for event in verdicts)
    return ReviewFigures(
        tasks=len(ids),
        reviewed=len(reviewed),
        flagged=len(flagged),
        reviewed_flagged=len(flagged & set(reviewed)),
        disputed=sum(item.split for _, item in state.items()),
        stale=sum(len(item.stale) for _, item in state.items()),
        reviewers=dict(sorted(counts.items())),
        seconds=float(np.median(seconds)) if seconds else None,
        agreement=agreed,
        agreement_blind=agreed if all_blind else agreement(state, blind=True, resamples=resamples, seed=seed),
        precision=tuple(check_precision(state, findings)),
        budget=budget,
        budget_left=None if budget is None else max(budget - len(reviewed), 0),
    )


def agreement(state: ReviewState, *, blind: bool = False, resamples: int = 2000, seed: int = 0) -> Result:
    """Return how well reviewers agree on which tasks are flawed.

    Args:
        state: the review.
        blind: whether only blind verdicts count.
        resamples: bootstrap resamples behind the interval.
        seed: seed of the bootstrap.

    Returns:
        Cohen's κ for two reviewers, Krippendorff's α for more, on the tasks with two verdicts or more. Adjudications
        do not count. Undefined for one reviewer.
    """
    units: list[dict[str, str]] = []
    for (what, _), item in state.items():
        said = {
            by: _LABELS[event.data["flaw"]]
            for by, event in item.verdicts.items()
            if what == "task" and event.data["flaw"] != "cannot_tell" and (event.data.get("blind", True) or not blind)
        }
        if said:
            units.append(said)
    raters = sorted({by for said in units for by in said})
    if len(raters) < 2:
        return undefined(f"{len(raters)} reviewer(s) gave verdicts; agreement needs two", len(units), "tasks")
    if len(raters) == 2:
        first, second = ([said.get(rater) for said in units] for rater in raters)
        return cohen_kappa(first, second, resamples=resamples, seed=seed)
    return krippendorff_alpha([[s.get(r) for r in raters] for s in units], resamples=resamples, seed=seed)


_LABELS = {"yes": "flawed", "no": "sound"}
"""Words of `agenthard align`: the seeded interval depends on their order."""


def check_precision(state: ReviewState, findings: Iterable[Finding]) -> list[CheckPrecision]:
    """Return how often people agree with each check, with Wilson intervals; signals flag nothing and are left out."""
    answers = {
        name: item.answer or "disputed" for (what, name), item in state.items() if what == "finding" and item.reviewed
    }
    flaws = {name: item.answer for (what, name), item in state.items() if what == "task" and item.reviewed}
    said: dict[str, list[str]] = {}
    touched: dict[str, set[str]] = {}
    for finding in findings:
        if finding.id in answers:
            said.setdefault(finding.check, []).append(answers[finding.id])
        if finding.tier is not Tier.SIGNAL:
            touched.setdefault(finding.check, set()).update(
                task_id for task_id in finding.task_ids if flaws.get(task_id) in ("yes", "no")
            )
    rows = [
        CheckPrecision(
            check=check,
            findings=wilson_interval(said.get(check, []).count("true"), len(said.get(check, [])), unit="findings"),
            tasks=wilson_interval(
                sum(flaws[task_id] == "yes" for task_id in touched.get(check, ())),
                len(touched.get(check, ())),
                unit="tasks",
            ),
        )
        for check in sorted({*said, *touched})
        if said.get(check) or touched.get(check)
    ]
    return sorted(rows, key=lambda row: -(row.tasks.n + row.findings.n))


@lru_cache
def label_budget(tasks: int) -> int | None:
    """Return the labels that `align plan` asks for with its usual expectations; None where no plan can be made.

    Args:
        tasks: tasks of the benchmark.
    """
    if tasks < 2:
        return None
    plan = make_plan(Expected(tasks=tasks, precision=0.8, recall=0.7, prevalence=0.1), (HALF_WIDTH,))
    return next(row.labels for row in plan.rows if row.design == "best split")


def read_scores(run: Path, task_ids: Sequence[str]) -> ScoreMatrix | Undefined:
    """Read the scores of the experiment with most models from the table of runs.

    Args:
        run: run folder.
        task_ids: all tasks.
    """
    found = experiments_of(load_runs(run), task_ids)
    if not found:
        return undefined("no runs of models were given", 0, "runs")
    return max(found, key=lambda each: (len(each.missing.models), len(each.missing.tasks))).missing


def task_values(scores: ScoreMatrix | Undefined, kept: Mapping[str, bool]) -> list[TaskValue]:
    """Return what deciding each task otherwise would change on the leaderboard, the greatest change first.

    A model's score is its mean over the kept tasks that every model has a verdict on. For each such task, the score is
    taken with the task put in (where it is dropped) or taken out (where it is kept), and compared pair by pair.

    Args:
        scores: scores of models on tasks.
        kept: whether each task is in the split now.

    Returns:
        One row per task that every model has a verdict on; none for fewer than two models.
    """
    if isinstance(scores, Undefined) or len(scores.models) < 2:
        return []
    complete = [n for n in np.flatnonzero(scores.scored.all(axis=0)) if scores.tasks[n] in kept]
    values = scores.values[:, complete]
    inside = np.array([kept[scores.tasks[n]] for n in complete], dtype=bool)
    one, other = np.triu_indices(len(scores.models), 1)
    gaps = values[one] - values[other]
    total, n = gaps[:, inside].sum(axis=1), int(inside.sum())
    sign = np.where(inside, -1, 1)
    size = np.maximum(n + sign, 1)
    after = (total[:, None] + sign * gaps) / size
    before = total / max(n, 1)
    pairs = (np.sign(np.round(after, 12)) != np.sign(np.round(before, 12))[:, None]).sum(axis=0)
    change = np.abs(after - before[:, None])
    distance = np.maximum(np.abs(before)[:, None], 1e-12)
    closeness = np.where(change < 1e-12, 0.0, np.minimum(change / distance, 1e6)).max(axis=0, initial=0.0)
    rows = [
        TaskValue(task_id=scores.tasks[n], pairs=int(pairs[place]), closeness=round(float(closeness[place]), 6))
        for place, n in enumerate(complete)
    ]
    return sorted(rows, key=lambda row: (-row.pairs, -row.closeness, row.task_id))


def in_words(result: Result, name: str) -> str:
    """Return a figure with its interval and n in a few words, for a footer.

    >>> from agenthard.audit.statistics.rates import wilson_interval
    >>> in_words(wilson_interval(3, 4, unit="tasks"), "precision")
    'precision 0.75 [0.30, 0.95], n = 4 tasks'
    """
    if isinstance(result, Estimate):
        interval = "" if result.low is None else f" [{result.low:.2f}, {result.high:.2f}]"
        return f"{name} {result.value:.2f}{interval}, n = {result.n:,} {result.unit}"
    return f"{name} {result.reason}"
