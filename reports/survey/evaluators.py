"""What an evaluator said to attempts that do not solve a task, to wrong answers, and to right ones."""

from collections import Counter
from collections.abc import Mapping, Sequence

from agenthard.audit.detectors.support.sharing import ANSWERS, ANSWERS_WRONG
from agenthard.audit.execution.evaluator_probes import DOES, ProbeName
from agenthard.reports.survey.audits import Rate, SurveyedAudit
from agenthard.taxonomy.finding import Finding, Tier
from agenthard.taxonomy.record import Record

READ = "do-nothing-passes"
PROBED = "probe-passes"
_PROBES: Mapping[ProbeName, str] = {
    "nothing": "Do nothing",
    "refusal": "Refuse politely",
    "transfer": "Hand the user over",
    "everything": "Say the whole database",
    "echo": "Repeat the user",
}
_ANSWERS = {
    "wrong-answer-accepted": ("Wrong value", "accepts an answer that is wrong in one place"),
    "right-answer-rejected": ("Right value, written otherwise", "rejects a right answer"),
    "gold-rejected": ("The ground truth itself", "rejects the ground truth"),
}


class NotTested(Record):
    """Why a test could not be made."""

    reason: str
    """Why."""
    tasks: int
    """Tasks that it concerns."""


class TestFinding(Record):
    """A finding behind a test."""

    id: str
    """Id in the audit."""
    claim: str
    """What is wrong (benchmark text: escape it)."""
    tasks: int
    """Tasks that it touches."""
    tier: Tier
    """How sure it is; a signal says that the verdict may be right."""


class EvaluatorTest(Record):
    """One way of putting an evaluator to the test."""

    id: str
    """nothing, refusal, transfer, everything, echo, wrong-answer-accepted, right-answer-rejected or gold-rejected."""
    title: str
    """What was given to the evaluator."""
    fault: str
    """What the evaluator does wrong where it fails the test."""
    failed: Rate
    """Tasks on which it fails the test, of those on which the test was made."""
    confirmed: int
    """Of them, tasks of a confirmed finding."""
    suspected: int
    """Of the others, tasks of a suspected finding."""
    legitimate: int
    """The remaining ones: the verdict can be right there, as where doing nothing is what the policy demands."""
    answers: int | None
    """Answers that were made in the ways that the findings are about; None where the check counts none."""
    answers_wrong: int | None
    """Of them, those that the evaluator scored wrongly."""
    at_least: bool
    """Whether more tasks may fail: of the probes, only the first that passes is recorded for a task."""
    not_tested: tuple[NotTested, ...]
    """Why the test was not made on the other tasks, the most frequent reason first."""
    findings: tuple[TestFinding, ...]
    """Findings behind it, those that touch most tasks first."""


def evaluator_tests(audit: SurveyedAudit, level: float = 0.95) -> tuple[EvaluatorTest, ...]:
    """Collect what an audit found out about the evaluator of its benchmark.

    Args:
        audit: the audit.
        level: coverage of intervals.

    Returns:
        One record per test, whether it could be made or not.
    """
    probed: dict[ProbeName, list[Finding]] = {name: [] for name in DOES}
    for finding in audit.of_check(PROBED):
        name = probe_of(finding)
        if name is not None:
            probed[name].append(finding)
    tests = []
    for probe, title in _PROBES.items():
        checks = (READ, PROBED) if probe == "nothing" else (PROBED,)
        found = [*(audit.of_check(READ) if probe == "nothing" else ()), *probed[probe]]
        fault = f"passes an agent that {DOES[probe]}"
        tests.append(_test(audit, probe, title, fault, checks, found, level, at_least=probe != "nothing"))
    for check, (title, fault) in _ANSWERS.items():
        tests.append(_test(audit, check, title, fault, (check,), audit.of_check(check), level, at_least=False))
    return tuple(tests)


def probe_of(finding: Finding) -> ProbeName | None:
    """Name the probe that a finding of ``probe-passes`` is about; None for the finding of another version."""
    return next((name for name, does in DOES.items() if f"An agent that {does} " in finding.claim), None)


def _test(
    audit: SurveyedAudit,
    identity: str,
    title: str,
    fault: str,
    checks: Sequence[str],
    found: Sequence[Finding],
    level: float,
    *,
    at_least: bool,
) -> EvaluatorTest:
    touched = {task for finding in found for task in finding.task_ids}
    confirmed = {task for f in found if f.tier is Tier.CONFIRMED for task in f.task_ids}
    suspected = {task for f in found if f.tier is Tier.SUSPECTED for task in f.task_ids} - confirmed
    counted = [finding for finding in found if ANSWERS in finding.measures]
    return EvaluatorTest(
        id=identity,
        title=title,
        fault=fault,
        failed=audit.rate(touched, audit.looked_at(checks), level),
        confirmed=len(confirmed),
        suspected=len(suspected),
        legitimate=len(touched - confirmed - suspected),
        answers=int(sum(f.measures[ANSWERS] for f in counted)) if counted else None,
        answers_wrong=int(sum(f.measures.get(ANSWERS_WRONG, 0) for f in counted)) if counted else None,
        at_least=at_least,
        not_tested=_not_tested(audit, checks),
        findings=tuple(
            TestFinding(id=f.id, claim=f.claim, tasks=len(f.task_ids), tier=f.tier)
            for f in sorted(found, key=lambda f: (-len(f.task_ids), f.id))
        ),
    )


def _not_tested(audit: SurveyedAudit, checks: Sequence[str]) -> tuple[NotTested, ...]:
    asked = [check for check in checks if check in audit.checks]
    if not asked:
        return (NotTested(reason="the check was not asked to run", tasks=len(audit.found.tasks)),)
    if len(asked) == 1:
        rows = {
            ("error: " if row["error"] else "") + row["text"]: row["tasks"] for row in audit.checks[asked[0]]["reasons"]
        }
    else:
        ran = audit.looked_at(asked)
        reasons: Counter[str] = Counter()
        for task in audit.task_ids:
            if task not in ran:
                outcomes = {row.check: row.reason for row in audit.coverage.of_task(task)}
                reasons[next((outcomes[check] for check in asked if outcomes.get(check)), "no check ran")] += 1
        rows = dict(reasons)
    ordered = sorted(rows.items(), key=lambda row: (-row[1], row[0]))
    return tuple(NotTested(reason=reason, tasks=tasks) for reason, tasks in ordered)
