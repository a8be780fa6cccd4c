"""Did verdicts on a frozen set of tasks change although the tasks did not?"""

from collections.abc import Sequence
from typing import Literal

from agenthard.audit.statistics.intervals import upper_tail
from agenthard.audit.statistics.paired_tests import mcnemar_exact
from agenthard.audit.statistics.rates import wilson_interval
from agenthard.audit.statistics.result import Result
from agenthard.reports.alignment.answers import Answers
from agenthard.taxonomy.record import Record

SameVersion = Literal["same", "changed", "unknown"]


class Side(Record):
    """One run over the frozen tasks."""

    answers: Answers
    """Its verdict."""
    contents: dict[str, str]
    """Hash of each task's content."""
    versions: dict[str, str]
    """Version of what was asked, by task: of the judge's prompt, or of the checks; an absent one is unknown."""


class Flip(Record):
    """A task whose verdict changed."""

    task_id: str
    """Task."""
    before: str
    """Verdict of the earlier run: flagged or clean."""
    now: str
    """Verdict of the later run."""
    content: Literal["same", "changed"]
    """Whether the task itself is the same; when it changed, the flip is not drift."""
    version: SameVersion
    """Whether the prompt, or the checks, are the same."""
    reason: str
    """Reason given by the later run; for a flag that is gone, by the earlier one."""


class DriftRow(Record):
    """Flips among the tasks whose content is the same, by whether the prompt or the checks are the same."""

    version: Literal["same", "changed", "unknown", "all"]
    """Whether the prompt, or the checks, are the same."""
    flips: Result
    """Share of the tasks whose verdict flipped."""
    newly_flagged: int
    """Clean before, flagged now."""
    newly_clean: int
    """Flagged before, clean now."""
    direction_p: float
    """Exact McNemar test of whether flips go one way; 1 without a flip."""
    rate_p: float
    """Exact binomial test of whether more tasks flip than allowed: P(X ≥ flips) at the allowed share."""


class Drift(Record):
    """The check of a frozen set."""

    frozen: int
    """Tasks of the frozen set (N)."""
    compared: int
    """Those with a verdict in both runs and unchanged content (k)."""
    content_changed: int
    """Those with a verdict in both runs whose content changed."""
    without_verdict: dict[str, int]
    """Others by why: which run has no verdict on them and what it has instead."""
    rows: tuple[DriftRow, ...]
    """All unchanged tasks, then by whether the prompt or the checks are the same."""
    flips: tuple[Flip, ...]
    """Every flip, in the order of the frozen set; those of changed tasks are among them."""
    allowed: float
    """Share of flips that counts as noise."""
    alpha: float
    """Significance level."""
    drifted: bool
    """Whether the flips of all unchanged tasks go one way significantly, or are more than allowed."""
    why: str
    """The sentence that says so."""


def check_drift(before: Side, now: Side, frozen: Sequence[str], allowed: float = 0.1, alpha: float = 0.05) -> Drift:
    """Compare two runs on a frozen set.

    Args:
        before: the earlier run.
        now: the later run.
        frozen: ids of the frozen tasks.
        allowed: share of flips that is taken for noise (a judge at a temperature above 0 flips some verdicts).
        alpha: significance level of the tests.
    """
    flips: list[Flip] = []
    missing: dict[str, int] = {}
    pairs: list[tuple[SameVersion, bool, bool]] = []
    content_changed = 0
    frozen = tuple(dict.fromkeys(frozen))
    for task in frozen:
        answers = (before.answers.by_task.get(task), now.answers.by_task.get(task))
        verdicts = tuple(None if answer is None else answer.flagged for answer in answers)
        if verdicts[0] is None or verdicts[1] is None:
            side, answer = ("earlier run", answers[0]) if verdicts[0] is None else ("later run", answers[1])
            why = f"{side}: {'not asked' if answer is None else answer.outcome}"
            missing[why] = missing.get(why, 0) + 1
            continue
        same = before.contents.get(task) == now.contents.get(task)
        version = _version(before.versions.get(task), now.versions.get(task))
        content_changed += not same
        if same:
            pairs.append((version, verdicts[0], verdicts[1]))
        if verdicts[0] != verdicts[1]:
            speaking = answers[1] if verdicts[1] else answers[0]
            flips.append(
                Flip(
                    task_id=task,
                    before="flagged" if verdicts[0] else "clean",
                    now="flagged" if verdicts[1] else "clean",
                    content="same" if same else "changed",
                    version=version,
                    reason="" if speaking is None else speaking.reason,
                )
            )
    rows = [_row("all", pairs, allowed)]
    versions: tuple[SameVersion, ...] = ("same", "changed", "unknown")
    rows += [_row(name, kept, allowed) for name in versions if (kept := [pair for pair in pairs if pair[0] == name])]
    drifted, why = _verdict(rows[0], len(pairs), allowed, alpha)
    other = sum(version == "changed" for version, *_ in pairs)
    why += f"; the prompt or the checks changed on {other} of them" if other else ""
    return Drift(
        frozen=len(frozen),
        compared=len(pairs),
        content_changed=content_changed,
        without_verdict=dict(sorted(missing.items())),
        rows=tuple(rows),
        flips=tuple(flips),
        allowed=allowed,
        alpha=alpha,
        drifted=drifted,
        why=why,
    )


def _version(before: str | None, now: str | None) -> SameVersion:
    if before is None or now is None:
        return "unknown"
    return "same" if before == now else "changed"


def _row(
    version: Literal["same", "changed", "unknown", "all"],
    pairs: Sequence[tuple[SameVersion, bool, bool]],
    allowed: float,
) -> DriftRow:
    flagged = sum(now and not before for _, before, now in pairs)
    clean = sum(before and not now for _, before, now in pairs)
    flips = flagged + clean
    return DriftRow(
        version=version,
        flips=wilson_interval(flips, len(pairs), unit="unchanged tasks"),
        newly_flagged=flagged,
        newly_clean=clean,
        direction_p=float(mcnemar_exact(flagged, clean)),
        rate_p=min(1.0, upper_tail(flips, [(len(pairs), allowed)])),
    )


def _verdict(row: DriftRow, compared: int, allowed: float, alpha: float) -> tuple[bool, str]:
    flips = row.newly_flagged + row.newly_clean
    counted = f"{flips} of {compared} verdicts flipped"
    if not compared:
        return False, "nothing could be compared: no frozen task has a verdict in both runs and the same content"
    if row.direction_p <= alpha:
        return True, f"drift: {counted}, and they go one way (exact McNemar p = {row.direction_p:.3g})"
    if flips > allowed * compared:
        return True, f"drift: {counted}, more than the {allowed:.0%} that may (p = {row.rate_p:.3g})"
    return (
        False,
        f"no drift: {counted}, at most {allowed:.0%} may, and they do not go one way (p = {row.direction_p:.3g})",
    )
