"""How many quotes of judges are found in the material, and how many issues are verified, per judge and category."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from agenthard.audit.judge.verdict import CheckedIssue, CheckedVerdict
from agenthard.audit.statistics.intervals import clustered_wilson
from agenthard.reports.fault_table import rate
from agenthard.reports.kit.markdown import md, table
from agenthard.reports.label_causes import Rate
from agenthard.taxonomy.record import Record


class EvidenceRow(Record):
    """Counts of some issues after verification."""

    name: str
    """Judge, category, or "all"."""
    verified: Rate
    """Issues all of whose evidence was found, of all issues; tasks are the clusters of the interval."""
    exact: int
    """Quotes found as quoted."""
    normalised: int
    """Quotes found except for differences in space, Unicode forms or escapes."""
    elsewhere: int
    """Quotes found in another passage than the one named."""
    not_found: int
    """Quotes found nowhere."""
    proved: int
    """Issues that a check or an execution proved."""
    refuted: int
    """Issues that a check or an execution refuted."""
    patches: int
    """Verified issues with a patch."""
    patches_accepted: int
    """Those whose patch was accepted."""


class VerdictCounts(Record):
    """The verdicts of one judge by outcome."""

    judge: str
    """Judge, or "all"."""
    asked: int
    """Verdicts asked for (N)."""
    answered: int
    """Verdicts given (k)."""
    flawed: int
    """Flawed, with a verified issue."""
    not_flawed: int
    """Not flawed."""
    cannot_tell: int
    """Cannot tell, in the judge's own words."""
    demoted: int
    """Flawed according to the judge, but no issue is verified: cannot tell."""


class JudgeEvidence(Record):
    """The evidence of judges, counted."""

    verdicts: tuple[VerdictCounts, ...]
    """By judge, and all together when there are several."""
    judges: tuple[EvidenceRow, ...]
    """Issues by judge, and all together when there are several."""
    categories: tuple[EvidenceRow, ...]
    """Issues by category, most issues first."""
    reasons: dict[str, int]
    """Why issues are unverified, by kind, most frequent first."""


def judge_evidence(verdicts: Iterable[CheckedVerdict]) -> JudgeEvidence:
    """Count verdicts and issues after the evidence gate and the proofs; the order of verdicts does not matter.

    Args:
        verdicts: verdicts after the gate, errors included.
    """
    given = sorted(verdicts, key=lambda verdict: (verdict.judge, verdict.task_id, verdict.sample))
    judges = sorted({verdict.judge for verdict in given})
    by_judge = {judge: [verdict for verdict in given if verdict.judge == judge] for judge in judges}
    groups = {**by_judge, "all": given} if len(judges) > 1 else by_judge
    counts = Counter(issue.issue.category for verdict in given for issue in verdict.issues)
    unverified = [issue for verdict in given for issue in verdict.issues if issue.standing == "unverified"]
    reasons = Counter(map(_kind, unverified))
    return JudgeEvidence(
        verdicts=tuple(_counts(name, group) for name, group in groups.items()),
        judges=tuple(_row(name, group, lambda issue: True) for name, group in groups.items()),
        categories=tuple(_category(name, given) for name in sorted(counts, key=lambda c: (-counts[c], c))),
        reasons={reason: reasons[reason] for reason in sorted(reasons, key=lambda r: (-reasons[r], r))},
    )


def evidence_tables(evidence: JudgeEvidence) -> str:
    """Write the figures as Markdown."""
    outcomes = [
        [md(row.judge), f"{row.answered} of {row.asked}", str(row.flawed), str(row.not_flawed), str(row.cannot_tell)]
        + [str(row.demoted)]
        for row in evidence.verdicts
    ]
    parts = [
        table(["judge", "verdicts", "flawed", "not flawed", "cannot tell", "flawed, nothing verified"], outcomes),
        table(["judge", *_COLUMNS], [_cells(row) for row in evidence.judges]),
        table(["category", *_COLUMNS], [_cells(row) for row in evidence.categories]),
    ]
    if evidence.reasons:
        listed = "; ".join(f"{md(reason)} {count}" for reason, count in evidence.reasons.items())
        parts.append(f"Why issues are not verified: {listed}.")
    parts.append("Intervals are 95 % Wilson intervals with tasks as clusters.")
    return "\n\n".join(parts)


_COLUMNS = (
    "issues verified, 95 % interval",
    "quotes exact / normalised / elsewhere / not found",
    "proved",
    "refuted",
    "patches accepted",
)


def _cells(row: EvidenceRow) -> list[str]:
    quotes = f"{row.exact} / {row.normalised} / {row.elsewhere} / {row.not_found}"
    accepted = f"{row.patches_accepted} of {row.patches}"
    return [md(row.name), rate(row.verified), quotes, str(row.proved), str(row.refuted), accepted]


def _counts(name: str, verdicts: Sequence[CheckedVerdict]) -> VerdictCounts:
    outcomes = Counter(verdict.outcome for verdict in verdicts)
    # Only a flawed verdict has issues, so a cannot_tell with issues was one.
    demoted = sum(verdict.outcome == "cannot_tell" and bool(verdict.issues) for verdict in verdicts)
    return VerdictCounts(
        judge=name,
        asked=len(verdicts),
        answered=len(verdicts) - outcomes["error"],
        flawed=outcomes["flawed"],
        not_flawed=outcomes["not_flawed"],
        cannot_tell=outcomes["cannot_tell"] - demoted,
        demoted=demoted,
    )


def _category(name: str, verdicts: Sequence[CheckedVerdict]) -> EvidenceRow:
    return _row(name, verdicts, lambda issue: issue.issue.category == name)


def _row(name: str, verdicts: Sequence[CheckedVerdict], wanted: Callable[[CheckedIssue], bool]) -> EvidenceRow:
    by_task: dict[str, list[CheckedIssue]] = {}
    for verdict in verdicts:
        by_task.setdefault(verdict.task_id, []).extend(filter(wanted, verdict.issues))
    issues = [issue for own in by_task.values() for issue in own]
    found = Counter(quote.found for issue in issues for quote in issue.quotes)
    standings = Counter(issue.standing for issue in issues)
    patched = [i for i in issues if i.issue.patch and i.standing in ("verified", "proved")]
    return EvidenceRow(
        name=name,
        verified=_verified([(sum(i.standing != "unverified" for i in own), len(own)) for own in by_task.values()]),
        exact=found["exact"],
        normalised=found["normalised"],
        elsewhere=found["elsewhere"],
        not_found=found["no"],
        proved=standings["proved"],
        refuted=standings["refuted"],
        patches=len(patched),
        patches_accepted=sum(bool(issue.patch) for issue in patched),
    )


def _verified(clusters: Sequence[tuple[int, int]]) -> Rate:
    k, n = sum(k for k, _ in clusters), sum(n for _, n in clusters)
    low, high = clustered_wilson(clusters) if n else (None, None)
    return Rate(k=k, n=n, value=k / n if n else None, low=low, high=high)


def _kind(issue: CheckedIssue) -> str:
    """Name the kind of reason why an issue is unverified."""
    if any(quote.found == "no" for quote in issue.quotes):
        return "a quote was not found"
    return issue.reason
