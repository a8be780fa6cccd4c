"""Small hand-made verdicts that tests of the panel share."""

from typing import Any

from agenthard.audit.judge.settings import Judge, JudgeSettings
from agenthard.audit.judge.verdict import CheckedIssue, CheckedVerdict, Issue
from agenthard.models.model_file import ModelFile
from agenthard.taxonomy.finding import Severity


def issue(category: str = "incorrect-tool-call", standing: str = "verified", confidence: float = 0.8) -> CheckedIssue:
    """An issue after the gate."""
    said = Issue(
        category=category,
        claim="The gold lends the wrong book.",
        reasoning_summary="The user asks for book 7.",
        severity=Severity.AFFECTS_SCORE,
        confidence=confidence,
        evidence=(),
        fix="",
        patch=(),
    )
    return CheckedIssue.model_validate({"issue": said, "standing": standing, "quotes": ()})


def flawed(judge: str = "a", sample: int = 0, *issues: CheckedIssue, **more: Any) -> CheckedVerdict:
    values = {"task_id": "lib/1", "judge": judge, "sample": sample, "outcome": "flawed", "issues": issues or (issue(),)}
    return CheckedVerdict(**{**values, **more})


def sound(judge: str = "a", sample: int = 0, **more: Any) -> CheckedVerdict:
    return CheckedVerdict(
        **{"task_id": "lib/1", "judge": judge, "sample": sample, "outcome": "not_flawed", "reason": "all is well"}
        | more
    )


def unsure(judge: str = "a", sample: int = 0, reason: str = "no policy") -> CheckedVerdict:
    return CheckedVerdict(task_id="lib/1", judge=judge, sample=sample, outcome="cannot_tell", reason=reason)


def failed(judge: str = "a", sample: int = 0, reason: str = "timeout: no answer") -> CheckedVerdict:
    return CheckedVerdict(task_id="lib/1", judge=judge, sample=sample, outcome="error", reason=reason)


def panel(*judges: str | dict[str, Any], **settings: Any) -> JudgeSettings:
    """Settings of a panel; a judge is a name, or its settings."""
    model = ModelFile(name="openai/tiny")
    told = [{"name": judge} if isinstance(judge, str) else judge for judge in judges]
    return JudgeSettings(judges=tuple(Judge(**{"model": model, "samples": 64, **judge}) for judge in told), **settings)
