"""The rebuttal: a second question about one flaw, which argues that the task is sound, and what its answer changes."""

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import ValidationError

from agenthard.audit.judge.aggregate.panel import PanelIssue, PanelVerdict
from agenthard.audit.judge.context.conventions import conventions
from agenthard.audit.judge.context.fence import fence_code, fenced_text, one_line
from agenthard.audit.judge.context.material import Material, Omission, Passage, passage_tokens
from agenthard.audit.judge.context.observations import run_passages
from agenthard.audit.judge.investigation.results import clip
from agenthard.audit.judge.prompt import shown_parts
from agenthard.audit.judge.settings import Judge, JudgeSettings
from agenthard.audit.judge.templates import render
from agenthard.audit.judge.verdict import JudgeError, Quote, Verdict
from agenthard.audit.judge.verify.evidence import check_evidence
from agenthard.audit.judge.verify.verdict_parser import UnreadableVerdictError, answer_object
from agenthard.models.request import ChatMessage, OutputSchema, Request
from agenthard.models.structured import strict_schema
from agenthard.taxonomy.categories import Category
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

OUTPUT = "rebuttal"
"""What providers call the record that is asked for."""
RUN_TOKENS = 8_000
"""Tokens that the passing run may have, about."""
_MESSAGE_CHARACTERS = 2_000


class Rebuttal(Record):
    """What the defence of a task says of one flaw."""

    argument: str
    """The defence, step by step, and what is left of the accusation."""
    verdict: Literal["upheld", "overturned", "cannot_tell"]
    """Whether the accusation stands."""
    evidence: tuple[Quote, ...]
    """Words of the material that the defence rests on; empty unless it is overturned."""


def passing_run(task: AgentTask, runs: Sequence[Trajectory]) -> Trajectory | None:
    """Return the shortest of the runs that passed a task; None when there is none with messages."""
    passed = [run for run in runs if run.task_id == task.id and run.passed and run.messages]
    return min(passed, key=lambda run: (len(run.messages), run.id), default=None)


def with_run(task: AgentTask, material: Material, run: Trajectory) -> Material:
    """Show a run that passed, as far as there is room for it; the material stays as it is where it shows runs already.

    Args:
        task: The task.
        material: What is shown besides.
        run: The run.
    """
    if any(passage.part == "run" for passage in material.passages):
        return material
    shown: list[Passage] = []
    left_out: list[Passage] = []
    room = RUN_TOKENS
    for passage in run_passages(task, [run]):
        short = passage.model_copy(update={"text": clip(passage.text, _MESSAGE_CHARACTERS)})
        room -= passage_tokens(short)
        (shown if room >= 0 and not left_out else left_out).append(short)
    omitted = material.omitted
    if left_out:
        words = f"the last {len(left_out)} messages of the run"
        gone = Omission(label=left_out[0].label, what=words, tokens=sum(map(passage_tokens, left_out)))
        omitted = (*omitted, gone)
    return material.model_copy(update={"passages": (*material.passages, *shown), "omitted": omitted})


def rebuttal_request(
    judge: Judge, task: AgentTask, material: Material, issue: PanelIssue, category: Category, sample: int = 0
) -> Request:
    """Return the request that puts the defence of a task to a judge.

    Args:
        judge: Who defends it.
        task: The task; of it only the kinds of its parts and its traits decide the wording.
        material: What was shown to the panel, with a passing run if there is one (`with_run`).
        issue: The flaw that the panel sees.
        category: Its category.
        sample: Number of the repetition, from 0.
    """
    parts = {passage.part for passage in material.passages}
    system = render("rebuttal_system.md.j2", conventions=conventions(task), category=category, parts=parts)
    accusation = _accusation(issue)
    left_out = "\n".join(one_line(f"{each.label}: {each.what}") for each in material.omitted)
    code = fence_code(material.passages, [accusation, left_out])
    user = render(
        "rebuttal_user.md.j2",
        code=code,
        accusation=fenced_text(accusation, code, "accusation"),
        omitted=material.omitted,
        omissions=fenced_text(left_out, code, "left out"),
        parts=shown_parts(material, code),
    )
    return Request(
        model=judge.model.name,
        messages=(ChatMessage(role="system", text=system), ChatMessage(role="user", text=user)),
        output=OutputSchema(name=OUTPUT, json_schema=strict_schema(Rebuttal)),
        sampling=judge.model.sampling,
        sample=sample,
    )


def read_rebuttal(text: str) -> Rebuttal:
    """Read the answer of the defence.

    Raises:
        UnreadableVerdictError: It is none; the rules are those of `agenthard.audit.judge.verify.verdict_parser`.
    """
    try:
        return Rebuttal.model_validate_json(answer_object(text), strict=True)
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, f['loc']))[:200]}: {f['msg'][:200]}" for f in error.errors()[:5])
        raise UnreadableVerdictError(f"the answer is not a rebuttal: {faults}") from None
    except UnicodeEncodeError:
        raise UnreadableVerdictError("the answer holds half of a surrogate pair, which is not a character") from None


def _accusation(issue: PanelIssue) -> str:
    said = issue.best.issue
    quotes = [f"- {quote.passage}: {quote.quote}" for quote in issue.best.quotes]
    return "\n".join([f"{said.category}: {said.claim}", said.reasoning_summary, "It quotes:", *quotes])


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
    """Apply the answers of the defence to an aggregate verdict.

    A flaw is overturned only when the defence says so and every quote it gives, at least one, is found in the material.
    Otherwise it is upheld, also if the defence cannot tell. A defence that failed is an error, since its answer is not
    known. The task stays flawed as long as one flaw remains that was not overturned and whose defence did not fail;
    else it is uncertain and goes to review: a defence never clears a task by itself.

    Args:
        panel: The aggregate verdict.
        answers: What the defence said, or why it said nothing, by category; flaws without an answer stay as they are.
        material: What the defence was shown, the passing run included.
        task: The task.
    """
    issues = tuple(
        _answered(issue, answers[issue.category], material, task) if issue.category in answers else issue
        for issue in panel.issues
    )
    changed = panel.model_copy(update={"issues": issues})
    if any(issue.rebuttal in ("upheld", "overturned") for issue in issues) and panel.stage not in (None, "proof"):
        changed = changed.model_copy(update={"stage": "defence"})
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
        reason = "execution proved it, regardless of the defence"
    elif answer.verdict != "overturned":
        cannot = "the defence cannot tell: " if answer.verdict == "cannot_tell" else ""
        reason = cannot + answer.argument
    elif lacking := _lacking(issue, answer, material, task):
        reason = f"the defence fails: {lacking}"
    else:
        outcome, reason = "overturned", answer.argument
    return issue.model_copy(update={"rebuttal": outcome, "rebuttal_reason": reason})


def _lacking(issue: PanelIssue, answer: Rebuttal, material: Material, task: AgentTask) -> str:
    """Describe what the evidence of a defence lacks; empty when all of it is found. The evidence gate searches it."""
    if not answer.evidence:
        return "it quotes nothing"
    claim = issue.best.issue.model_copy(update={"evidence": answer.evidence, "patch": ()})
    said = Verdict(reasoning="", outcome="flawed", because="", issues=(claim,))
    [checked] = check_evidence(said, material, task)
    lost = [quote.quote for quote in checked.quotes if quote.found == "no"]
    return f"its quote {lost[0][:80]!r} is nowhere in the material" if lost else ""
