"""What tests let a judge say, word for word."""

from typing import Any

from agenthard.audit.judge.context.material import Passage
from agenthard.audit.judge.context.passages import gather
from agenthard.audit.judge.verdict import Change, CheckedIssue, Issue, Judged, Quote, Verdict
from agenthard.audit.judge.verify.evidence import check_evidence
from agenthard.taxonomy import AgentTask, Severity


def says(category: str, claim: str, *evidence: tuple[str, str], patch: tuple[Change, ...] = (), **more: Any) -> Issue:
    """An issue with its quotes, each a label and words."""
    values: dict[str, Any] = {
        "category": category,
        "claim": claim,
        "reasoning_summary": "",
        "severity": Severity.AFFECTS_SCORE,
        "confidence": 0.9,
        "evidence": tuple(Quote(passage=label, quote=words, shows="see there") for label, words in evidence),
        "fix": "",
        "patch": patch,
    }
    return Issue(**{**values, **more})


def flawed(*issues: Issue) -> Verdict:
    return Verdict(reasoning="step by step", outcome="flawed", because="", issues=issues)


def judged(task: AgentTask, verdict: Verdict, **more: Any) -> Judged:
    return Judged(task_id=task.id, judge="m", prompt_version="p1", verdict=verdict, **more)


def gated(task: AgentTask, issue: Issue, *lookups: Passage) -> CheckedIssue:
    """The issue after the evidence gate."""
    [checked] = check_evidence(flawed(issue), gather(task), task, lookups)
    return checked


def call_at(index: int, turn: int = 0) -> str:
    return f"/ground_truth/turns/{turn}/{index}"
