"""The support of a clean result: deciding checks that could run on a task, and why others could not."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import get_args

from agenthard.audit.detectors.base import DecidingKind
from agenthard.taxonomy.finding import Coverage, Status
from agenthard.taxonomy.record import Record

KINDS: tuple[DecidingKind, ...] = get_args(DecidingKind)
"""Kinds of deciding checks."""


class Support(Record):
    """Deciding checks of one task. Checks of other kinds can find flaws, but cannot show that a task is sound."""

    clean: int
    """Deciding checks that ran and found nothing."""
    ran: int
    """Deciding checks that ran."""
    kinds: tuple[DecidingKind, ...]
    """Kinds of those that ran."""
    sentence: str
    """The same as text; where none ran, with the reasons."""


NO_SUPPORT = Support(clean=0, ran=0, kinds=(), sentence="no deciding check was asked to run")
"""Support of a task without deciding checks."""


def support(coverage: Iterable[Coverage], deciding: Mapping[str, DecidingKind]) -> dict[str, Support]:
    """Summarise the deciding checks of every task.

    Args:
        coverage: what each check did on each task.
        deciding: kind of each deciding check, by its id.

    Returns:
        By task id; a task on which no deciding check was asked to run is absent.
    """
    rows: dict[str, list[Coverage]] = defaultdict(list)
    for row in coverage:
        if row.check in deciding:
            rows[row.task_id].append(row)
    return {task_id: _support(of_task, deciding) for task_id, of_task in rows.items()}


def _support(rows: list[Coverage], deciding: Mapping[str, DecidingKind]) -> Support:
    ran: Counter[DecidingKind] = Counter()
    clean = 0
    reasons: dict[DecidingKind, Counter[str]] = defaultdict(Counter)
    for row in rows:
        kind = deciding[row.check]
        if row.status in (Status.CLEAN, Status.FLAGGED):
            ran[kind] += 1
            clean += row.status is Status.CLEAN
        else:
            reasons[kind][row.reason] += 1
    if ran:
        names = ", ".join(f"{kind} {ran[kind]}" for kind in KINDS if ran[kind])
        sentence = f"clean by {clean} of {ran.total()} deciding checks that could run ({names})"
    else:
        why = "; ".join(f"{kind}: {_main(reasons[kind])}" for kind in KINDS if reasons[kind])
        sentence = f"no deciding check could run ({why})"
    return Support(clean=clean, ran=ran.total(), kinds=tuple(kind for kind in KINDS if ran[kind]), sentence=sentence)


def _main(reasons: Counter[str]) -> str:
    return min(reasons, key=lambda reason: (-reasons[reason], reason))
