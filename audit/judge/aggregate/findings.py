"""Turn panel verdicts into hits of a check, so that they reach decisions, page and split like all other findings."""

from collections.abc import Iterator, Mapping, Sequence

from agenthard.audit.conclude import conclude
from agenthard.audit.coverage import CoverageTable
from agenthard.audit.decisions.judging import Reporting
from agenthard.audit.detectors.base import Detector, Hit
from agenthard.audit.evidence import canonical_json, failure
from agenthard.audit.execution.environment import ExecutionError
from agenthard.audit.judge.aggregate.panel import PanelIssue, PanelVerdict
from agenthard.audit.proof import prove_hit
from agenthard.audit.shards import CheckedHit, ShardResult
from agenthard.taxonomy.finding import Coverage, Evidence, Finding, Severity, Status, Tier, finding_id
from agenthard.taxonomy.task import AgentTask

_AS_STATED = Reporting()
_OCCASIONS = {"uncertain": "not certain", "grave": "sure of a grave flaw", "failed": "without a verdict"}
JUDGE_VERSION = "3"
"""Raised whenever the conversion of a panel's verdict to a finding changes. Prompts have their own versions."""


class JudgeCheck(Detector):
    """A panel of models reads the task; a flaw counts if code finds its quotes and execution does not refute it.

    Confirmed is an issue that a check or an execution proves; one that affects the score names the run that the check
    found to be scored wrongly, and it is scored again. Suspected is one whose quotes were all found, in a task
    that the panel as a whole calls flawed. One that a defence of the task overturned, or on which the panel is not
    agreed, is a signal: it orders the review queue. So is an ambiguity whose readings are not written down as calls, or
    that readers of the readings do not bear out. An issue whose quotes were not found, or that execution refutes, is
    no finding. Every finding has its own category and severity, with the votes behind it.

    Flagged: "the gold books for two passengers", where the user's words "all three of us" and the gold call are quoted
    exactly, and two of three judges see it.
    Not flagged: the same with a quote that is nowhere in the task; a call that is said to be malformed and fits its
    documented schema; a task on which no judge gave a verdict, which is an error and not clean.

    It is wrong where models share a misunderstanding: exact quotes show what a claim rests on, and not that it follows.
    """

    id = "judge"
    title = "a panel of model judges sees a flaw"
    version = JUDGE_VERSION
    category = "incorrect-tool-call"
    severity = Severity.MAY_AFFECT_SCORE
    tier = Tier.SUSPECTED
    deciding = "judge"
    why = "The task, its ground truth or its evaluator leads a right run astray."


def to_hits(
    task: AgentTask, panel: PanelVerdict, reporting: Reporting = _AS_STATED
) -> tuple[tuple[CheckedHit, ...], Coverage]:
    """Turn the aggregate verdict on a task into hits and one row of the coverage.

    The quotes are looked up once more, in the task as it is now: one that is not found makes the row an error. Flaws
    below the reporting threshold are not hits; a task with no others is not checked.

    Raises:
        ValueError: The verdict is on another task.
    """
    if panel.task_id != task.id:
        raise ValueError(f"a verdict on {panel.task_id} says nothing of {task.id}")
    hits, below = [], 0
    for issue in panel.issues:
        tier = _tier(panel, issue)
        if tier is not None and is_below(issue, reporting):
            below += 1
        elif tier is not None:
            try:
                hits.append(_hit(task, panel, issue, tier, reporting))
            except ExecutionError as error:
                return (), _row(panel, Status.ERROR, f"a proof could not be carried out: {error}")
    for hit in hits:
        reason = next((why for item in hit.hit.evidence if (why := failure(item, task, {}))), None)
        if reason:
            return (), _row(panel, Status.ERROR, f"the verdict is on another version of the task: {reason}")
    if below and not hits:
        threshold = f"the reporting threshold of the policy, {reporting.threshold:.2f}"
        return (), _row(panel, Status.NOT_CHECKED, f"{below} flaws are less probable than {threshold}")
    return tuple(hits), _coverage(panel, bool(hits))


def is_below(issue: PanelIssue, reporting: Reporting) -> bool:
    """Tell whether a flaw is too unlikely to be reported; what is proved never is."""
    stated = issue.best.issue.confidence
    return issue.best.standing != "proved" and not reporting.reports(issue.category, stated)


def judge_results(
    tasks: Sequence[AgentTask], panels: Mapping[str, PanelVerdict], reporting: Reporting = _AS_STATED
) -> ShardResult:
    """Turn the aggregate verdicts on all tasks into results that `conclude` takes with those of the other checks.

    Args:
        tasks: all tasks, in the benchmark's order.
        panels: verdicts by task; a task without one was not checked.
        reporting: which flaws are reported.
    """
    hits: list[CheckedHit] = []
    rows = []
    for task in tasks:
        if task.id not in panels:
            rows.append(Coverage(task_id=task.id, check=JudgeCheck.id, status=Status.NOT_CHECKED, reason="not judged"))
            continue
        found, row = to_hits(task, panels[task.id], reporting)
        hits.extend(found)
        rows.append(row)
    return ShardResult(CoverageTable.of(rows), hits)


def to_findings(task: AgentTask, panel: PanelVerdict) -> tuple[list[Finding], Coverage]:
    """Turn the aggregate verdict on one task into findings with stable ids, and one row of the coverage."""
    hits, row = to_hits(task, panel)
    shard = ShardResult(CoverageTable.of([row]), hits)
    findings, [covered] = conclude(task.benchmark, [task.id], [shard], [JudgeCheck()])
    return findings, covered


def _tier(panel: PanelVerdict, issue: PanelIssue) -> Tier | None:
    """Return the tier of an issue; None when it is not a finding."""
    if issue.best.standing == "proved":
        return Tier.CONFIRMED
    if issue.best.standing != "verified" or panel.outcome in ("not_flawed", "error"):
        return None
    sure = panel.outcome == "flawed" and issue.rebuttal != "overturned" and not issue.best.lowered
    return Tier.SUSPECTED if sure else Tier.SIGNAL


def _hit(task: AgentTask, panel: PanelVerdict, issue: PanelIssue, tier: Tier, reporting: Reporting) -> CheckedHit:
    best, said = issue.best, issue.best.issue
    measures = {"votes": issue.votes, "of": issue.of, "confidence": said.confidence, "asked": panel.asked}
    if panel.probability is not None:
        measures["probability"] = panel.probability
    if reporting.by_category or reporting.calibration:
        measures["calibrated"] = reporting.probability(issue.category, said.confidence)
    hit = Hit(
        claim=said.claim,
        evidence=tuple(dict.fromkeys(_evidence(issue))),
        why=" ".join(_why(panel, issue)),
        fix=said.fix,
        severity=best.severity or said.severity,
        tier=tier,
        category=issue.category,
        patch=best.patch,
        proof=best.proof if best.proof and best.proof.task_id == task.id else None,
        measures=measures,
    )
    hit = prove_hit(JudgeCheck(), hit, task)
    return CheckedHit(check=JudgeCheck.id, task_ids=(task.id,), hit=hit, clone=_clone(task, hit))


def _evidence(issue: PanelIssue) -> Iterator[Evidence]:
    return (quote.evidence for quote in issue.best.quotes if quote.evidence)


def _why(panel: PanelVerdict, issue: PanelIssue) -> Iterator[str]:
    yield issue.best.issue.reasoning_summary
    if panel.stage is not None:
        asked = (
            f"; the second tier was asked because the first was {_OCCASIONS[panel.escalated]}"
            if panel.escalated
            else ""
        )
        yield f"[decided by: {panel.stage}{asked}]"
    if issue.best.reason:
        yield f"[{issue.best.standing}: {issue.best.reason}]"
    if issue.best.readings is not None:
        yield f"[carried out: {issue.best.readings.shown}]"
    if issue.rebuttal in ("upheld", "overturned"):
        yield f"[a defence of the task: {issue.rebuttal}: {issue.rebuttal_reason}]"


def _clone(task: AgentTask, hit: Hit) -> str | None:
    """Name a hit; a hit with the same quotes in a variant of the task gets the same name."""
    if task.cluster is None:
        return None
    quotes = [item.quote for item in hit.evidence]
    return finding_id(task.cluster, str(hit.category), canonical_json([str(hit.tier), *quotes]))


def _coverage(panel: PanelVerdict, flagged: bool) -> Coverage:
    answers = f"{panel.answered} of {panel.asked} verdicts"
    if panel.outcome == "error":
        return _row(panel, Status.ERROR, f"{answers}: {panel.reason}")
    if flagged:
        return _row(panel, Status.FLAGGED, "")
    if panel.outcome == "not_flawed":
        return _row(panel, Status.CLEAN, answers if panel.answered < panel.asked else "")
    return _row(panel, Status.NOT_CHECKED, f"{answers}, and they do not tell: {panel.reason}")


def _row(panel: PanelVerdict, status: Status, reason: str) -> Coverage:
    return Coverage(task_id=panel.task_id, check=JudgeCheck.id, status=status, reason=reason[:1000])
