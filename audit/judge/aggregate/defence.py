"""Which flaws get a defence, by whom, and what is left of the panel's word after it."""

from collections.abc import Mapping

from agenthard.audit.judge.aggregate.panel import PanelIssue, PanelVerdict
from agenthard.audit.judge.aggregate.rebuttal import Rebuttal
from agenthard.audit.judge.context.material import Material
from agenthard.audit.judge.judged import JudgeError
from agenthard.audit.judge.settings import Judge, JudgeSettings
from agenthard.audit.judge.verdict import Verdict
from agenthard.audit.judge.verify.gate import check_evidence
from agenthard.taxonomy.task import AgentTask


def to_defend(panel: PanelVerdict) -> tuple[PanelIssue, ...]:
    """Return the flaws that are put to a defence: those of a task that the panel flags, if none of them is proved."""
    proved = any(issue.best.standing == "proved" for issue in panel.issues)
    return () if proved or panel.outcome != "flawed" else panel.issues


def defender(settings: JudgeSettings, issue: PanelIssue) -> Judge:
    """Return who defends a task against a flaw.

    That is the first judge that does not see the flaw, those of the second tier first; the first of all where every
    judge sees it.
    """
    strong_first = sorted(settings.judges, key=lambda judge: judge.tier == "first")
    others = [judge for judge in strong_first if judge.name not in issue.judges]
    return (others or strong_first)[0]


def apply_rebuttals(
    panel: PanelVerdict, answers: Mapping[str, Rebuttal | JudgeError], material: Material, task: AgentTask
) -> PanelVerdict:
    """Say what is left of the panel's word.

    A flaw is overturned only when the defence says so and every quote it gives, at least one, is found in the material.
    Else it is upheld, also where the defence cannot tell. A defence that failed is an error: nobody knows what it would
    have said. The task stays flawed as long as one flaw stands that was not overturned and whose defence did not fail;
    else it is uncertain and goes to review: a defence never clears a task by itself.

    Args:
        panel: The panel's word.
        answers: What the defence said, or why it said nothing, by category; flaws without an answer stay as they are.
        material: What the defence was shown, the passing run included.
        task: The task.
    """
    issues = tuple(
        _answered(issue, answers[issue.category], material, task) if issue.category in answers else issue
        for issue in panel.issues
    )
    changed = panel.model_copy(update={"issues": issues})
    if panel.outcome != "flawed" or any(issue.rebuttal in ("none", "upheld") for issue in issues):
        return changed
    reasons = [f"{issue.category}: {_WORDS[issue.rebuttal]}: {issue.rebuttal_reason}" for issue in issues]
    return changed.model_copy(update={"outcome": "uncertain", "reason": "; ".join(reasons)})


_WORDS = {"overturned": "overturned by a defence", "error": "the defence failed"}


def _answered(issue: PanelIssue, answer: Rebuttal | JudgeError, material: Material, task: AgentTask) -> PanelIssue:
    outcome, reason = "upheld", ""
    if isinstance(answer, JudgeError):
        outcome, reason = "error", f"{answer.kind}: {answer.message}"
    elif issue.best.standing == "proved":
        reason = "execution proved it, whatever the defence says"
    elif answer.verdict != "overturned":
        cannot = "the defence cannot tell: " if answer.verdict == "cannot_tell" else ""
        reason = cannot + answer.argument
    elif lacking := _lacking(issue, answer, material, task):
        reason = f"the defence fails: {lacking}"
    else:
        outcome, reason = "overturned", answer.argument
    return issue.model_copy(update={"rebuttal": outcome, "rebuttal_reason": reason})


def _lacking(issue: PanelIssue, answer: Rebuttal, material: Material, task: AgentTask) -> str:
    """Say what the evidence of a defence lacks; empty when all of it is found. The gate for flaws searches it."""
    if not answer.evidence:
        return "it quotes nothing"
    claim = issue.best.issue.model_copy(update={"evidence": answer.evidence, "patch": ()})
    said = Verdict(reasoning="", outcome="flawed", because="", issues=(claim,))
    [checked] = check_evidence(said, material, task)
    lost = [quote.quote for quote in checked.quotes if quote.found == "no"]
    return f"its quote {lost[0][:80]!r} stands nowhere in the material" if lost else ""
