"""The support of a clean result: deciding checks that could run on a task, and why others could not."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import get_args

from agenthard.audit.coverage import RAN, CoverageTable, Outcome
from agenthard.audit.detectors.base import DecidingKind
from agenthard.taxonomy.finding import Status
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


def support(coverage: CoverageTable, deciding: Mapping[str, DecidingKind]) -> Sequence[Support]:
    """Summarise the deciding checks of every task.

    Args:
        coverage: what each check did on each task.
        deciding: kind of each deciding check, by its id.

    Returns:
        One per task of ``coverage``. Tasks with the same outcomes share one.
    """
    columns = [column for column, check in enumerate(coverage.checks) if check in deciding]
    kinds = [deciding[coverage.checks[column]] for column in columns]
    known: dict[tuple[int, ...], Support] = {}
    found = []
    for row in coverage.codes[:, columns]:
        codes = tuple(row.tolist())
        if codes not in known:
            outcomes = [(kind, coverage.outcomes[code]) for kind, code in zip(kinds, codes, strict=True) if code]
            known[codes] = _support(outcomes) if outcomes else NO_SUPPORT
        found.append(known[codes])
    return found


def _support(outcomes: Iterable[tuple[DecidingKind, Outcome]]) -> Support:
    ran: Counter[DecidingKind] = Counter()
    clean = 0
    reasons: dict[DecidingKind, Counter[str]] = defaultdict(Counter)
    for kind, (status, reason) in outcomes:
        if status in RAN:
            ran[kind] += 1
            clean += status is Status.CLEAN
        else:
            reasons[kind][reason] += 1
    if ran:
        names = ", ".join(f"{kind} {ran[kind]}" for kind in KINDS if ran[kind])
        sentence = f"clean by {clean} of {ran.total()} deciding checks that could run ({names})"
    else:
        why = "; ".join(f"{kind}: {_main(reasons[kind])}" for kind in KINDS if reasons[kind])
        sentence = f"no deciding check could run ({why})"
    return Support(clean=clean, ran=ran.total(), kinds=tuple(kind for kind in KINDS if ran[kind]), sentence=sentence)


def _main(reasons: Counter[str]) -> str:
    return min(reasons, key=lambda reason: (-reasons[reason], reason))
