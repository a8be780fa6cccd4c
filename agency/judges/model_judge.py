"""Asking one judge that is a model: until its reply can be read and its evidence is there, or the tries are spent."""

from agenthard.agency.judges.exhibit import Exhibit
from agenthard.agency.judges.opinion import JudgeKind, Marks, Opinion, Problem, check_evidence
from agenthard.agency.judges.question import question
from agenthard.models.errors import (
    ConfigurationError,
    MalformedReplyError,
    MissingKeyError,
    ModelError,
    StopError,
)
from agenthard.models.model_file import ModelFile
from agenthard.models.request import Model
from agenthard.models.structured import parse

PURPOSE = "judge"
"""Who pays, in the ledger."""
TRIES = 3


async def ask(
    kind: JudgeKind, judge: ModelFile, exhibit: Exhibit, model: Model, *, owner: str, repeat: int = 0
) -> Opinion:
    """Ask one judge.

    Args:
        kind: whether it reads or sees.
        judge: who is asked.
        exhibit: what it looks at; without an image a judge that sees is not asked, and gives no score.
        model: answers the request.
        owner: what the question is for, in the ledger.
        repeat: repetition, from 0.

    Returns:
        Its opinion. One that cannot be read, or whose evidence is nowhere, is asked for again, and has no score in the
        end.

    Raises:
        BlindnessError: the question would give something away.
        ModelError: one that ends the run rather than the question: a wrong key, a spent budget, a wrong setting.
    """
    about = {"judge": judge.label, "kind": kind, "repeat": repeat, **_shown(kind, exhibit)}
    if kind == "vision" and not exhibit.images:
        return Opinion(**about, problem="not_demonstrated", reason="no image of the page")
    problem: Problem = "unreadable"
    reason, requests, cost = "", 0, 0.0
    priced = True
    for attempt in range(TRIES):
        request = question(kind, judge, exhibit, repeat * TRIES + attempt)
        try:
            marks, completion = await parse(model, request, Marks, purpose=PURPOSE, owner=owner)
        except MalformedReplyError as error:
            problem, reason, requests, priced = "unreadable", str(error), requests + 1, False
            continue
        except (StopError, ConfigurationError, MissingKeyError):
            raise
        except ModelError as error:
            problem, reason = "provider", str(error)
            break
        requests += 1
        cost, priced = cost + (completion.cost or 0.0), priced and completion.cost is not None
        evidence = check_evidence(marks.evidence, exhibit, kind)
        if marks.score > 0 and not any(each.holds for each in evidence):
            problem = "unsupported"
            reason = f"none of the {len(evidence)} places that it names is in the workspace"
            continue
        return Opinion(
            **about,
            score=marks.score,
            confidence=marks.confidence,
            comment=marks.comment,
            evidence=evidence,
            requests=requests,
            cost=cost if priced else None,
        )
    return Opinion(**about, problem=problem, reason=reason, requests=requests, cost=cost if priced else None)


def _shown(kind: JudgeKind, exhibit: Exhibit) -> dict[str, tuple[str, ...]]:
    if kind == "vision":
        return {"shown": tuple(name for name, _ in exhibit.images)}
    files, left_out = exhibit.shown
    return {"shown": tuple(name for name, _ in files), "left_out": left_out}
