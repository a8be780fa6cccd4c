"""The rebuttal: a second question about one flaw, which argues that the task is sound."""

from collections.abc import Sequence
from typing import Literal

from pydantic import ValidationError

from agenthard.audit.judge.aggregate.panel import PanelIssue
from agenthard.audit.judge.context.conventions import conventions
from agenthard.audit.judge.context.material import Material, Omission, Passage
from agenthard.audit.judge.context.observed import run_passages
from agenthard.audit.judge.context.tokens import passage_tokens
from agenthard.audit.judge.fence import fence_code, fenced_text, one_line
from agenthard.audit.judge.investigation.found import clip
from agenthard.audit.judge.prompt import shown_parts
from agenthard.audit.judge.settings import Judge
from agenthard.audit.judge.verdict import Quote
from agenthard.audit.judge.verify.reading import UnreadableVerdictError, answer_object
from agenthard.audit.judge.wording import render
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
        UnreadableVerdictError: It is none; the rules are those of `agenthard.audit.judge.verify.reading`.
    """
    try:
        return Rebuttal.model_validate_json(answer_object(text), strict=True)
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, f['loc']))[:200]}: {f['msg'][:200]}" for f in error.errors()[:5])
        raise UnreadableVerdictError(f"the answer is no rebuttal: {faults}") from None
    except UnicodeEncodeError:
        raise UnreadableVerdictError("the answer holds half of a surrogate pair, which is no character") from None


def _accusation(issue: PanelIssue) -> str:
    said = issue.best.issue
    quotes = [f"- {quote.passage}: {quote.quote}" for quote in issue.best.quotes]
    return "\n".join([f"{said.category}: {said.claim}", said.reasoning_summary, "It quotes:", *quotes])
