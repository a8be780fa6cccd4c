"""What an audit found of planted faults: recall by category and by operator, and false alarms on untouched tasks.

A fault is *found* when a finding of its category, or of a category that its operator names as the same fact, touches
one of its tasks. It is found *at the place* when a quote of such a finding comes from the place of the change, from
above it or from below it. A finding of any other category on its tasks is counted apart, not as recall.

The headline counts findings of the usual checks only. Experimental checks have no true finding on a real benchmark, so
what they find is known to help with planted faults alone; a second figure counts them too.

A false alarm is a finding, other than a signal, on a task that nothing was planted into. Signals only order the review
queue and are counted by themselves.

A finding touches the tasks that it affects. Where it quotes runs it also touches the tasks in whose runs it was seen
(``also_in``), because a check of runs blames a simulator, a judge or a model and only names the tasks. That holds for
faults and for false alarms alike. The tasks that a finding without a quoted run names in ``also_in`` are sound.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from agenthard.audit.faults.answer_key import PlantedFault
from agenthard.audit.faults.operator import DecidedBy
from agenthard.audit.statistics.intervals import wilson
from agenthard.reports.label_causes import Rate
from agenthard.taxonomy.finding import Finding, Tier
from agenthard.taxonomy.record import Record

TARGET_RECALL, TARGET_FALSE_ALARMS = 0.95, 0.01
"""What is aimed at: recall of what rules can decide, false alarms on untouched tasks."""


class RecallRow(Record):
    """Recall of one category or one operator."""

    name: str
    """Category or operator."""
    category: str
    """Taxonomy category."""
    decided_by: DecidedBy
    """Whether rules can decide it, as declared when it was planted."""
    rule_known: bool
    """True when a check for all of these was known when the operators were written."""
    found: Rate
    """Faults found by the usual checks."""
    with_experimental: int
    """Faults found by any check, experimental ones included."""
    at_place: int
    """Of those that the usual checks find, found where the change was made."""
    elsewhere: int
    """Faults on whose tasks only findings of other categories are."""
    checks: dict[str, int]
    """Faults by the check that found them, experimental ones included; a fault can be found by several."""


class Miss(Record):
    """A fault that was not found."""

    fault: PlantedFault
    """The fault."""
    reason: str
    """Why, as far as the audit tells."""


class FaultScore(Record):
    """The whole comparison."""

    categories: tuple[RecallRow, ...]
    """By category, what rules can decide before what needs a judge."""
    operators: tuple[RecallRow, ...]
    """By operator."""
    overall: dict[DecidedBy, Rate]
    """All faults that rules can decide, and all that need a judge: what the usual checks find."""
    overall_with_experimental: dict[DecidedBy, Rate]
    """The same with experimental checks."""
    experimental: tuple[str, ...]
    """Experimental checks."""
    rule_unknown: Rate
    """Of the faults that rules can decide, those for which no check was known when their operator was written."""
    false_alarms: Rate
    """Untouched tasks with a finding of a usual check other than a signal."""
    false_alarms_with_experimental: Rate
    """The same with experimental checks."""
    false_alarms_by_check: dict[str, int]
    """Untouched tasks with a finding other than a signal, by check."""
    signals: dict[str, int]
    """Untouched tasks with a signal, by check."""
    misses: tuple[Miss, ...]
    """Faults that the usual checks do not find."""
    not_in_run: int
    """Faults of tasks that the audit did not read; they do not count."""


def score_faults(
    key: Sequence[PlantedFault],
    task_ids: Iterable[str],
    findings: Sequence[Finding],
    not_checked: Mapping[tuple[str, str], str],
    checks_of: Mapping[str, Sequence[str]],
    experimental: Collection[str] = (),
) -> FaultScore:
    """Compare an audit with an answer key.

    Args:
        key: the answer key.
        task_ids: all tasks that the audit read.
        findings: its findings.
        not_checked: why a (task, check) pair was not checked, or ended in an error.
        checks_of: ids of the checks of each category.
        experimental: ids of the experimental checks.
    """
    read = set(task_ids)
    used = [fault for fault in key if read.issuperset(fault.task_ids)]
    by_task: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        for task_id in _touched(finding):
            by_task[task_id].append(finding)
    outcomes = [
        _Outcome(fault, {id(f): f for t in fault.task_ids for f in by_task[t]}.values(), experimental) for fault in used
    ]
    touched = {task_id for fault in key for task_id in fault.task_ids}
    untouched = sorted(read - touched)
    alarms: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    wrong = wrong_with_experimental = 0
    for task_id in untouched:
        checks = {(finding.tier is Tier.SIGNAL, finding.check) for finding in by_task[task_id]}
        wrong += any(not signal and check not in experimental for signal, check in checks)
        wrong_with_experimental += any(not signal for signal, _ in checks)
        for signal, check in checks:
            alarms[signal][check] += 1
    return FaultScore(
        categories=_rows(outcomes, lambda fault: fault.category),
        operators=_rows(outcomes, lambda fault: fault.operator),
        overall=_overall(outcomes, lambda o: bool(o.found)),
        overall_with_experimental=_overall(outcomes, lambda o: bool(o.by_any)),
        experimental=tuple(sorted(experimental)),
        rule_unknown=_rate(sum(bool(o.found) for o in outcomes if o.blind), sum(o.blind for o in outcomes)),
        false_alarms=_rate(wrong, len(untouched)),
        false_alarms_with_experimental=_rate(wrong_with_experimental, len(untouched)),
        false_alarms_by_check=dict(sorted(alarms[False].items())),
        signals=dict(sorted(alarms[True].items())),
        misses=tuple(Miss(fault=o.fault, reason=_reason(o, not_checked, checks_of)) for o in outcomes if not o.found),
        not_in_run=len(key) - len(used),
    )


class _Outcome:
    """A fault with the findings on its tasks."""

    def __init__(self, fault: PlantedFault, findings: Iterable[Finding], experimental: Collection[str]) -> None:
        self.fault = fault
        self.blind = fault.decided_by == "rules" and not fault.rule_known
        named = {fault.category, *fault.also}
        everything = list(findings)
        self.by_any = [finding for finding in everything if finding.category in named]
        self.found = [finding for finding in self.by_any if finding.check not in experimental]
        self.others = [finding for finding in everything if finding.category not in named]
        self.at_place = any(_touches(fault, item.pointer) for f in self.found for item in f.evidence
                            if item.task_id in fault.task_ids)  # fmt: skip


def _overall(outcomes: Sequence[_Outcome], counts: Callable[[_Outcome], bool]) -> dict[DecidedBy, Rate]:
    totals = Counter(o.fault.decided_by for o in outcomes)
    return {
        decided: _rate(sum(counts(o) for o in outcomes if o.fault.decided_by == decided), n)
        for decided, n in sorted(totals.items(), reverse=True)
    }


def _touched(finding: Finding) -> tuple[str, ...]:
    """Return the tasks that a finding affects, and those in whose runs it was seen."""
    seen = finding.also_in if any(item.trajectory_id is not None for item in finding.evidence) else ()
    return *finding.task_ids, *seen


def _touches(fault: PlantedFault, pointer: str) -> bool:
    one, two = f"{fault.pointer}/", f"{pointer}/"
    return one.startswith(two) or two.startswith(one)


def _rows(outcomes: Sequence[_Outcome], name: Callable[[PlantedFault], str]) -> tuple[RecallRow, ...]:
    groups: dict[tuple[bool, str, str], list[_Outcome]] = defaultdict(list)
    for o in outcomes:
        groups[o.fault.decided_by == "judge", o.fault.category, name(o.fault)].append(o)
    return tuple(_row(key[-1], groups[key]) for key in sorted(groups))


def _row(name: str, outcomes: Sequence[_Outcome]) -> RecallRow:
    first = outcomes[0].fault
    checks = Counter(check for o in outcomes for check in {finding.check for finding in o.by_any})
    return RecallRow(
        name=name,
        category=first.category,
        decided_by=first.decided_by,
        rule_known=all(o.fault.rule_known for o in outcomes),
        found=_rate(sum(bool(o.found) for o in outcomes), len(outcomes)),
        with_experimental=sum(bool(o.by_any) for o in outcomes),
        at_place=sum(o.at_place for o in outcomes),
        elsewhere=sum(bool(o.others) and not o.by_any for o in outcomes),
        checks=dict(sorted(checks.items(), key=lambda item: (-item[1], item[0]))),
    )


def _rate(k: int, n: int) -> Rate:
    low, high = wilson(k, n) if n else (None, None)
    return Rate(k=k, n=n, value=k / n if n else None, low=low, high=high)


def _reason(
    outcome: _Outcome, not_checked: Mapping[tuple[str, str], str], checks_of: Mapping[str, Sequence[str]]
) -> str:
    fault = outcome.fault
    if fault.decided_by == "judge":
        return f"needs a judge: {fault.because}"
    if outcome.by_any:
        return f"found by experimental checks only: {', '.join(sorted({f.check for f in outcome.by_any}))}"
    checks = [check for category in (fault.category, *fault.also) for check in checks_of.get(category, ())]
    if not checks:
        return f"no check looks for {fault.category}"
    others = ", ".join(sorted({f"{finding.check} ({finding.category})" for finding in outcome.others}))
    if others:
        return f"reported under another category only: {others}"
    reasons = [not_checked.get((fault.task_ids[0], check)) for check in checks]
    looked = [check for check, reason in zip(checks, reasons, strict=True) if reason is None]
    if not looked:
        return f"not checked: {next(reason for reason in reasons if reason)}"
    return f"no finding from {', '.join(looked)}"
