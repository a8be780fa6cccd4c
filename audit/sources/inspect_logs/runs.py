"""Builds the record of a run from a sample."""

import math
from typing import TYPE_CHECKING, Any

from agenthard.audit.sources.inspect_logs.log_files import Logged, to_messages
from agenthard.taxonomy.trajectory import Judgement, RunStatus, Trajectory

if TYPE_CHECKING:
    from inspect_ai.log import EvalSample
    from inspect_ai.scorer import Score

LONGEST_REASON = 500
"""Characters of an error's message that are kept."""

_WORDS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_UNSCORED = ("grader_failed", "scoring_failed")


def build_run(logged: Logged, trial: int) -> Trajectory:
    """Build the run of a sample. The first scorer's value is the score; all of them are judgements.

    A sample that ended in an error of the code around the model, or that was declared invalid, has no verdict.

    Args:
        logged: the sample.
        trial: how many runs of the same task by the same model came before.
    """
    sample, spec = logged.sample, logged.log.eval
    status, reason = _status(logged)
    scores = dict(sample.scores or {})
    first = next(iter(scores.values()), None)
    score = None if first is None else value_of(first.value)
    roles = (spec.model_roles or {}).get("user")
    user = roles[0] if isinstance(roles, list) else roles
    return Trajectory(
        id=f"{logged.file}:{sample.id}:{sample.epoch}",
        task_id=logged.task_id,
        model=spec.model,
        trial=trial,
        status=status,
        status_reason=reason,
        ending=f"{sample.limit.type} limit" if sample.limit else _stop_reason(sample),
        score=score,
        passed=None if status != "ok" or score is None or not 0 <= score <= 1 else score == 1,
        messages=to_messages(sample.messages),
        user_model=user.model if user else None,
        protocol=f"{spec.task} ({spec.solver})" if spec.solver else spec.task,
        usage=_usage(sample),
        judgements=tuple(_judgement(name, score) for name, score in scores.items()),
        origin=logged.origin(),
    )


def value_of(value: Any) -> float | None:
    """Return a score as a number: C and yes are 1, P is a half, I, N and no are 0; None for anything but one number.

    >>> [value_of(value) for value in ("C", "no", 0.25, True, {"a": 1}, "7")]
    [1.0, 0.0, 0.25, 1.0, None, 7.0]
    """
    if isinstance(value, str):
        if value in _WORDS or value.lower() in _WORDS:
            return _WORDS.get(value, _WORDS.get(value.lower()))
        try:
            value = float(value)
        except ValueError:
            return None
    if not isinstance(value, (bool, int, float)) or not math.isfinite(value):
        return None
    return float(value)


def _status(logged: Logged) -> tuple[RunStatus, str]:
    sample = logged.sample
    if sample.error is not None:
        return "infrastructure_error", sample.error.message[:LONGEST_REASON]
    if sample.invalidation is not None:
        return "infrastructure_error", f"declared invalid: {sample.invalidation.reason or 'no reason given'}"
    if not logged.log.eval.scorers:
        return "ok", ""
    if not sample.scores:
        return "judge_error", f"no score was logged (status of the evaluation: {logged.log.status})"
    first = next(iter(sample.scores.values()))
    if first.reason in _UNSCORED:
        return "judge_error", f"{first.reason}: {first.explanation or 'no explanation'}"[:LONGEST_REASON]
    return "ok", ""


def _stop_reason(sample: "EvalSample") -> str | None:
    return sample.output.stop_reason if sample.output.choices else None


def _judgement(name: str, score: "Score") -> Judgement:
    judged = name.removeprefix("inspect_ai/").startswith("model_graded")
    value = value_of(score.value)
    return Judgement(judge=name, kind="text" if judged else "script", score=value, reason=score.explanation or "")


def _usage(sample: "EvalSample") -> dict[str, float]:
    total: dict[str, float] = {}
    for usage in sample.model_usage.values():
        for name in ("input_tokens", "output_tokens", "total_tokens", "reasoning_tokens", "total_cost"):
            value = getattr(usage, name)
            if value is not None:
                total[name] = total.get(name, 0.0) + value
    if "total_cost" in total:
        total["cost"] = total.pop("total_cost")
    if sample.total_time is not None:
        total["seconds"] = sample.total_time
    if sample.error_retries:
        total["retries"] = float(len(sample.error_retries))
    return total
