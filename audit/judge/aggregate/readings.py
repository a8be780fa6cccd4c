"""Votes on readings: a question that puts the readings of an issue to other readers, and what their answers change.

Readers see the user, the policy, the tools and the state, and the readings under letters in an order of their own. They
see neither the ground truth as such, nor what the evaluator, the replay or other checks say, nor why a judge wrote a
reading.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from pydantic import ValidationError

from agenthard.audit.judge.aggregate.panel import PanelIssue, PanelVerdict
from agenthard.audit.judge.context.fence import fence_code, fenced_text, one_line
from agenthard.audit.judge.context.material import Material, Part
from agenthard.audit.judge.prompt import shown_parts
from agenthard.audit.judge.settings import Judge, JudgeSettings
from agenthard.audit.judge.templates import data, render
from agenthard.audit.judge.verify.verdict_parser import UnreadableVerdictError, answer_object
from agenthard.audit.readings.outcome import Ballot, ReadingsOutcome, ReadingVote, after_votes
from agenthard.audit.readings.records import Trial, shown_call
from agenthard.models.request import ChatMessage, OutputSchema, Request
from agenthard.models.structured import strict_schema
from agenthard.taxonomy.finding import Proof, Severity
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.task import AgentTask

OUTPUT = "votes"
"""What providers call the record that is asked for."""
_SHOWN: tuple[Part, ...] = ("user", "policy", "tools", "user_tools", "state")
"""Parts of the material that do not tell what the benchmark expects."""
_RIGHT = {"yes": True, "no": False, "cannot_tell": None}


class RunVote(Record):
    """What a reader says of one run."""

    run: str
    """Its letter."""
    right: Literal["yes", "no", "cannot_tell"]
    """Whether it does what user and policy want."""
    because: str
    """One sentence: which words or rule decide it."""


class Votes(Record):
    """What a reader says of all runs."""

    reasoning: str
    """What is wanted, and the runs one by one."""
    votes: tuple[RunVote, ...]
    """One for each run."""


def voters(settings: JudgeSettings, issue: PanelIssue) -> tuple[tuple[str, int], ...]:
    """Return who votes on the readings of an issue, as judge and number of its ballot.

    Judges that did not report the issue come first; the others, and further samples of all, fill the rest. Every
    ballot is a conversation of its own.
    """
    names = [judge.name for judge in settings.judges]
    order = [name for name in names if name not in issue.judges] + [name for name in names if name in issue.judges]
    return tuple((order[number % len(order)], number // len(order)) for number in range(settings.votes))


def to_vote_on(panel: PanelVerdict) -> tuple[PanelIssue, ...]:
    """Return the issues whose readings are put to the vote: those that their trials bear out."""
    return tuple(
        issue
        for issue in panel.issues
        if issue.best.standing == "verified" and issue.best.readings and issue.best.readings.standing == "holds"
    )


def letters(outcome: ReadingsOutcome, ballot: int) -> dict[str, Trial]:
    """Return the trials by the letters under which one ballot shows them.

    The order follows from the readings themselves and from the number of the ballot, so it tells nothing.
    """

    def place(trial: Trial) -> str:
        made = f"{ballot} {[[shown_call(call) for call in turn] for turn in trial.reading.turns]} {trial.reading.says}"
        return hashlib.sha256(made.encode("utf-8", "surrogatepass")).hexdigest()

    return dict(zip("ABCDEFGH", sorted(outcome.trials, key=place), strict=False))


def votes_request(
    judge: Judge, task: AgentTask, material: Material, outcome: ReadingsOutcome, ballot: int, sample: int = 0
) -> Request:
    """Return the request that puts readings to a reader.

    Args:
        judge: who is asked.
        task: the task.
        material: what a judge is shown; only what does not tell the ground truth is passed on.
        outcome: the readings.
        ballot: number of the ballot, from 0.
        sample: number of the request among equal ones.
    """
    blind = material.model_copy(
        update={
            "passages": tuple(passage for passage in material.passages if passage.part in _SHOWN),
            "omitted": tuple(each for each in material.omitted if not each.label.startswith(_TELLING)),
        }
    )
    runs = {letter: shown_run(trial) for letter, trial in letters(outcome, ballot).items()}
    left_out = "\n".join(one_line(f"{each.label}: {each.what}") for each in blind.omitted)
    code = fence_code(blind.passages, [left_out, *runs.values()])
    user = render(
        "readings_user.md.j2",
        code=code,
        omitted=blind.omitted,
        omissions=fenced_text(left_out, code, "left out"),
        parts=shown_parts(blind, code),
        runs=[fenced_text(text, code, f"run {letter}") for letter, text in runs.items()],
    )
    return Request(
        model=judge.model.name,
        messages=(
            ChatMessage(role="system", text=render("readings_system.md.j2", user=_user(task))),
            ChatMessage(role="user", text=user),
        ),
        output=OutputSchema(name=OUTPUT, json_schema=strict_schema(Votes)),
        sampling=judge.model.sampling,
        sample=sample,
    )


def _user(task: AgentTask) -> list[str]:
    """Say how the user speaks; the other conventions of a task would tell what its ground truth is like."""
    words = data("wording.yaml")["user"]
    if task.user.kind == "simulated":
        return [words["simulated"]]
    return [words["scripted_turns" if len(task.user.turns) > 1 else "scripted"]]


_TELLING = ("/ground_truth", "/evaluation", "replay", "checks", "run", "/metadata")
"""Beginnings of labels whose omission would tell what a reader is not to know."""


def shown_run(trial: Trial) -> str:
    """Write a reading as readers see it: calls and final words, nothing about where it comes from."""
    several = len(trial.reading.turns) > 1
    lines = [
        f"{f'turn {number}: ' if several else ''}{shown_call(call)}"
        for number, turn in enumerate(trial.reading.turns)
        for call in turn
    ]
    said = [] if trial.says_required else [f"says: {text}" for text in trial.reading.says]
    return "\n".join([*(lines or ["no call that changes anything"]), *said])


def read_votes(text: str) -> Votes:
    """Read the answer of a reader.

    Raises:
        UnreadableVerdictError: It is none; the rules are those of `agenthard.audit.judge.verify.verdict_parser`.
    """
    try:
        found = Votes.model_validate_json(answer_object(text), strict=True)
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, f['loc']))[:200]}: {f['msg'][:200]}" for f in error.errors()[:5])
        raise UnreadableVerdictError(f"the answer is not a list of votes: {faults}") from None
    except UnicodeEncodeError:
        raise UnreadableVerdictError("the answer holds half of a surrogate pair, which is not a character") from None
    runs = [vote.run for vote in found.votes]
    if len(set(runs)) < len(runs):
        raise UnreadableVerdictError(f"there are two votes on run {max(runs, key=runs.count)[:20]!r}")
    return found


def ballot_of(outcome: ReadingsOutcome, reader: str, ballot: int, votes: Votes) -> Ballot:
    """Translate the letters of an answer into the names of the readings; votes on other letters are left out.

    Args:
        outcome: the readings.
        reader: who voted.
        ballot: number of the ballot that was shown.
        votes: the answer.
    """
    known = letters(outcome, ballot)
    return Ballot(
        reader=reader,
        votes=tuple(
            ReadingVote(reading=known[vote.run].reading.name, right=_RIGHT[vote.right], because=vote.because)
            for vote in votes.votes
            if vote.run in known
        ),
    )


def apply_votes(panel: PanelVerdict, ballots: Mapping[str, Sequence[Ballot]]) -> PanelVerdict:
    """Apply the votes on readings to an aggregate verdict.

    An issue that readers bear out is proved, and makes the task flawed; one that they do not is lowered to a signal. A
    task whose issues are all lowered is uncertain, and goes to review.

    Args:
        panel: the aggregate verdict.
        ballots: votes by category of the issue.
    """
    issues = tuple(_voted(panel.task_id, issue, ballots.get(issue.category, ())) for issue in panel.issues)
    changed = panel.model_copy(update={"issues": issues})
    if any(issue.best.standing == "proved" for issue in issues):
        return changed.model_copy(update={"outcome": "flawed", "probability": 1.0, "reason": "", "stage": "proof"})
    if panel.outcome != "flawed" or not issues or not all(issue.best.lowered for issue in issues):
        return changed
    return changed.model_copy(update={"outcome": "uncertain", "reason": _reasons(issues), "stage": "votes on readings"})


def _reasons(issues: Iterable[PanelIssue]) -> str:
    return "; ".join(f"{issue.category}: {issue.best.reason}" for issue in issues)


def _voted(task_id: str, issue: PanelIssue, ballots: Sequence[Ballot]) -> PanelIssue:
    known = issue.best.readings
    if issue.best.standing != "verified" or known is None or not ballots:
        return issue
    outcome = after_votes(known, ballots)
    update: dict[str, object] = {"readings": outcome, "reason": outcome.reason}
    if outcome.standing == "lowered":
        update["lowered"] = True
    trial = outcome.trial
    if outcome.standing == "confirmed" and trial is not None:
        proof = Proof(
            task_id=task_id,
            kind="constructed",
            turns=trial.reading.turns,
            replies=trial.reading.says,
            passes=trial.passed,
            should_pass=not trial.passed,
            evaluator="",
        )
        update |= {"standing": "proved", "severity": Severity.AFFECTS_SCORE, "proof": proof}
    return issue.model_copy(update={"best": issue.best.model_copy(update=update)})
