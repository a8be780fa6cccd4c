"""The panel: the aggregate verdict of several judges on one task, and whether judges of the second tier are asked."""

from collections import Counter
from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from agenthard.audit.decisions.judging import Escalation
from agenthard.audit.judge.aggregate.votes import PanelRates, shares, vote
from agenthard.audit.judge.settings import JudgeSettings
from agenthard.audit.judge.verdict import CheckedIssue, CheckedVerdict
from agenthard.taxonomy.record import Record

Stage = Literal["first tier", "second tier", "proof", "votes on readings", "defence"]
"""Stages of a cascade that can decide a task, besides the rules of the audit."""


class PanelIssue(Record):
    """A flaw that at least one judge reports with verified evidence."""

    category: str
    """Taxonomy category."""
    votes: int
    """Verdicts that name this category with standing evidence."""
    of: int
    """Verdicts given: refusals and other errors are not among them."""
    best: CheckedIssue
    """The issue with the best standing, then the highest confidence, then the first in order of judge and sample."""
    judges: tuple[str, ...]
    """Judges that see it, in order."""
    rebuttal: Literal["none", "upheld", "overturned", "error"] = "none"
    """What a second question that defends the task made of it."""
    rebuttal_reason: str = ""
    """Why it was upheld or overturned, or the error."""


class PanelVerdict(Record):
    """The aggregate verdict of a panel on one task."""

    task_id: str
    """Task."""
    outcome: Literal["flawed", "not_flawed", "uncertain", "error"]
    """uncertain: within the band, or no judge could tell; error: no judge gave a verdict."""
    probability: float | None = Field(ge=0, le=1)
    """Probability of a flaw by the aggregation in use; None without a verdict."""
    answered: int
    """Verdicts given (k)."""
    asked: int
    """Verdicts asked for (N)."""
    issues: tuple[PanelIssue, ...] = ()
    """Flaws, by votes and then by confidence."""
    reason: str = ""
    """Why it is uncertain or an error."""
    stage: Stage | None = None
    """What decided: the first tier, the second, a proof, votes on readings, or a defence; None where nothing did."""
    escalated: str = ""
    """Why the second tier was asked; empty where it was not."""


def combine(
    verdicts: Sequence[CheckedVerdict], settings: JudgeSettings, rates: PanelRates | None = None
) -> PanelVerdict:
    """Aggregate the verdicts on one task, independent of their order.

    A verdict votes for a flaw when one of its issues is verified, and against one when it is not_flawed; errors,
    cannot_tell, and flaws whose evidence fails do not vote. What execution proved is a flaw regardless of
    the votes.

    * majority: every verdict counts one; where judges of the second tier voted, theirs alone count, since they were
      asked because the first tier is not sure enough;
    * weighted: every judge counts its weight, spread evenly over its votes;
    * dawid_skene: every judge counts by its own error rates, as `error_rates` estimates them over all tasks; the
      majority decides where there are none.

    The panel abstains (uncertain) strictly within the band of the settings, on the band when its ends are equal, and
    when no judge voted.

    Args:
        verdicts: All verdicts asked for, failed ones included; at least one.
        settings: The panel.
        rates: Error rates for dawid_skene; None before all tasks are judged.

    Raises:
        ValueError: There is none, they are about several tasks, one occurs twice, or its judge is not in the
            panel.
    """
    ordered = _in_order(verdicts, settings)
    answered = [verdict for verdict in ordered if verdict.outcome != "error"]
    issues = _issues(answered)
    proved = any(issue.best.standing == "proved" for issue in issues)
    probability = 1.0 if proved else _probability(answered, settings, rates)
    low, high = settings.band
    outcome, reason = "uncertain", ""
    if not answered:
        outcome, reason = "error", "no judge gave a verdict: " + _failures(ordered)
    elif probability is None:
        reason = f"none of the {len(answered)} verdicts tells: {_unsure(answered)}"
    elif proved or (probability >= high and probability > low):
        outcome = "flawed"
    elif probability <= low and probability < high:
        outcome = "not_flawed"
    else:
        reason = f"the probability of a flaw, {probability:.2f}, is within {low:g} to {high:g}"
    return PanelVerdict.model_validate(
        {
            "task_id": ordered[0].task_id,
            "outcome": outcome,
            "probability": probability,
            "answered": len(answered),
            "asked": len(ordered),
            "issues": issues,
            "reason": reason,
            "stage": _stage(answered, settings, proved) if outcome != "error" else None,
        }
    )


def _stage(answered: Sequence[CheckedVerdict], settings: JudgeSettings, proved: bool) -> Stage:
    second = {judge.name for judge in settings.judges if judge.tier == "second"}
    strong = any(verdict.judge in second and vote(verdict) is not None for verdict in answered)
    return "proof" if proved else "second tier" if strong else "first tier"


def _in_order(verdicts: Sequence[CheckedVerdict], settings: JudgeSettings) -> list[CheckedVerdict]:
    """By judge, in the order of the settings, then by sample."""
    place = {judge.name: number for number, judge in enumerate(settings.judges)}
    tasks = sorted({verdict.task_id for verdict in verdicts})
    if len(tasks) != 1:
        raise ValueError(f"a panel verdict is about one task, not {len(tasks)}: {', '.join(tasks[:5])}")
    strangers = sorted({verdict.judge for verdict in verdicts} - place.keys())
    if strangers:
        raise ValueError(f"{tasks[0]}: verdicts of {', '.join(strangers)}, who is not among {', '.join(place)}")
    [(most, times)] = Counter((verdict.judge, verdict.sample) for verdict in verdicts).most_common(1)
    if times > 1:
        raise ValueError(f"{tasks[0]}: {times} verdicts of {most[0]} are sample {most[1]}")
    return sorted(verdicts, key=lambda verdict: (place[verdict.judge], verdict.sample))


def _probability(verdicts: Sequence[CheckedVerdict], settings: JudgeSettings, rates: PanelRates | None) -> float | None:
    by_judge = shares(verdicts)
    if not by_judge:
        return None
    if settings.aggregation == "weighted":
        weights = {judge.name: judge.weight for judge in settings.judges if judge.name in by_judge}
        return sum(weights[name] * share for name, share in by_judge.items()) / sum(weights.values())
    if settings.aggregation == "dawid_skene" and rates is not None and by_judge.keys() <= rates.judges.keys():
        return rates.probability(by_judge)
    second = {judge.name for judge in settings.judges if judge.tier == "second"} & by_judge.keys()
    votes = [vote(verdict) for verdict in verdicts if not second or verdict.judge in second]
    cast = [voted for voted in votes if voted is not None]
    return sum(cast) / len(cast)


def _issues(answered: Sequence[CheckedVerdict]) -> list[PanelIssue]:
    """One per category, by votes and then by confidence."""
    seen: dict[str, list[tuple[CheckedVerdict, CheckedIssue]]] = {}
    for verdict in answered:
        for issue in verdict.standing:
            seen.setdefault(issue.issue.category, []).append((verdict, issue))
    issues = [
        PanelIssue(
            category=category,
            votes=len({(verdict.judge, verdict.sample) for verdict, _ in named}),
            of=len(answered),
            # max() keeps the first of equals.
            best=max((issue for _, issue in named), key=lambda i: (i.standing == "proved", i.issue.confidence)),
            judges=tuple(dict.fromkeys(verdict.judge for verdict, _ in named)),
        )
        for category, named in seen.items()
    ]
    return sorted(issues, key=lambda issue: (-issue.votes, -issue.best.issue.confidence, issue.category))


def _failures(verdicts: Sequence[CheckedVerdict]) -> str:
    return "; ".join(f"{verdict.judge}/{verdict.sample}: {verdict.reason}" for verdict in verdicts)


def _unsure(verdicts: Sequence[CheckedVerdict]) -> str:
    reasons = dict.fromkeys(verdict.reason for verdict in verdicts if verdict.reason)
    return "; ".join(reasons) or "no reason is given"


def why_second(panel: PanelVerdict, rules: Escalation) -> str:
    """Say why judges of the second tier are asked; empty where they are not.

    Args:
        panel: What the first tier says.
        rules: When they are asked.
    """
    best = [issue.best for issue in panel.issues]
    if any(issue.standing == "proved" for issue in best):
        return ""
    if panel.outcome == "error":
        return "failed" if "failed" in rules.when else ""
    # A flaw that a judge reports in a task that the panel finds sound means that they do not agree.
    differ = panel.outcome == "uncertain" or (panel.outcome == "not_flawed" and bool(best))
    unsure = panel.outcome == "flawed" and max(issue.issue.confidence for issue in best) < rules.sure
    if "uncertain" in rules.when and (differ or unsure or _split(panel)):
        return "uncertain"
    grave = any((issue.severity or issue.issue.severity) in rules.grave for issue in best)
    return "grave" if "grave" in rules.when and panel.outcome == "flawed" and grave else ""


def _split(panel: PanelVerdict) -> bool:
    """Tell whether votes were cast for both sides."""
    return panel.probability is not None and 0 < panel.probability < 1
