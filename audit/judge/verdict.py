"""The records of a judge's verdict: as the judge writes it, as the outcome of a question, and after verification."""

from typing import Any, Literal

from pydantic import Field, model_validator

from agenthard.audit.judge.context.material import Passage
from agenthard.audit.readings.outcome import ReadingsOutcome
from agenthard.models.request import Usage
from agenthard.taxonomy.finding import Evidence, Proof, Severity
from agenthard.taxonomy.record import Record

Outcome = Literal["flawed", "not_flawed", "cannot_tell"]


class Quote(Record):
    """Words of the material that an issue rests on."""

    passage: str
    """Label of the passage that holds the words, just as the material gives it."""
    quote: str
    """The words, copied exactly, as short as proves the point."""
    shows: str
    """What these words show."""


class Change(Record):
    """One operation of a JSON Patch (RFC 6902) against the task record."""

    op: Literal["add", "remove", "replace"]
    """What to do."""
    path: str
    """JSON Pointer into the task record, as the labels of passages give it."""
    value: str
    """The new value as JSON text; an empty string for remove."""


class WrittenCall(Record):
    """One call of a reading."""

    turn: int = Field(ge=0)
    """Turn of the user that it answers, from 0."""
    tool: str
    """Name of the tool."""
    requestor: Literal["assistant", "user"]
    """Who makes the call: the agent, or a user who has tools."""
    arguments: str
    """The arguments as a JSON object in text."""


class WrittenReading(Record):
    """One run that decides an issue, written so that programs can carry it out."""

    meaning: str
    """What it takes the user and the policy to want, or what is careless in it, in one sentence."""
    right: bool
    """Whether such a run does what the user and the policy want; false for a careless run."""
    calls: tuple[WrittenCall, ...]
    """All its calls in order, from the start state; none for a run that does nothing."""
    says: tuple[str, ...]
    """What the agent tells the user at the end, where the score depends on it."""


class WantedState(Record):
    """One field of a state that a request asks for."""

    pointer: str
    """JSON Pointer into the state, as labels of passages give it after `/environment/state` or `/initial_state`."""
    value: str
    """The value that it would have, as JSON text."""


class Issue(Record):
    """One flaw that a judge sees."""

    category: str
    """Id of the taxonomy category."""
    claim: str
    """What is wrong, in one sentence."""
    reasoning_summary: str
    """Why it is wrong and what it does to the score, in two or three sentences."""
    severity: Severity
    """What it does to the score."""
    confidence: float = Field(ge=0, le=1, allow_inf_nan=False)
    """Probability, in the judge's eyes, that a careful maintainer would agree."""
    evidence: tuple[Quote, ...]
    """Exact quotes; both sides of a contradiction."""
    fix: str
    """The smallest change that would mend it, in words; empty when there is no single one."""
    patch: tuple[Change, ...]
    """The same as JSON Patch, when it can be written down; else empty."""
    readings: tuple[WrittenReading, ...] = ()
    """The runs that decide it, as "Readings" says; else empty."""
    goal: tuple[WantedState, ...] = ()
    """The fields of the state that no tool reaches, where a tool is missing; else empty."""


class Verdict(Record):
    """Everything a judge says of one task. The audit paper's four fields follow from it (see `paper_fields`)."""

    reasoning: str
    """The way to the verdict, step by step."""
    outcome: Outcome
    """Whether the task is flawed; cannot_tell when the material does not decide it."""
    because: str
    """One sentence: why it is not flawed, or what is missing to tell; empty for a flawed task."""
    issues: tuple[Issue, ...]
    """The flaws; empty unless the outcome is flawed."""

    @model_validator(mode="after")
    def _issues_belong_to_flawed_tasks(self) -> "Verdict":
        if bool(self.issues) != (self.outcome == "flawed"):
            raise ValueError(f"the outcome is {self.outcome} with {len(self.issues)} issues")
        return self


ErrorKind = Literal["refusal", "timeout", "unreadable", "context_overflow", "provider", "prompt", "internal"]
"""Why a verdict is missing: the judge refused, was too late, answered with no verdict, could not read so much,
its provider failed, no prompt could be written, or our own code failed on the answer."""


class JudgeError(Record):
    """Why a verdict is missing."""

    kind: ErrorKind
    """What kind of failure."""
    message: str
    """What happened."""


class Judged(Record):
    """The outcome of one question. An error is never a verdict: it counts neither for nor against the task."""

    task_id: str
    """Task."""
    judge: str
    """Name of the judge in the settings."""
    sample: int = 0
    """Number of the repetition, from 0."""
    prompt_version: str
    """Version of the prompt: a hash of its text, the schema of the verdict and the taxonomy."""
    verdict: Verdict | None = None
    """What the judge said."""
    error: JudgeError | None = None
    """Why it said nothing."""
    lookups: tuple[Passage, ...] = ()
    """What an investigating judge fetched, as passages that its evidence may cite (``lookup/1`` ...)."""
    usage: Usage = Usage()
    """Tokens of all its requests."""
    cost: float | None = None
    """What they cost; None without a price."""

    @model_validator(mode="after")
    def _a_verdict_or_an_error(self) -> "Judged":
        if (self.verdict is None) == (self.error is None):
            raise ValueError("a question ends in a verdict or in an error, never in both or neither")
        return self


Standing = Literal["verified", "unverified", "refuted", "proved"]
"""verified: every quote it needs was found; unverified: one was not; refuted or proved: execution settled it."""


class CheckedQuote(Record):
    """A quote, and where it was found."""

    passage: str
    """Label that the judge gave."""
    quote: str
    """The words as they are there; the judge's own words when they were not found."""
    found: Literal["exact", "normalised", "elsewhere", "no"]
    """exact: as quoted; normalised: except for space and Unicode forms; elsewhere: in another passage; no: nowhere."""
    evidence: Evidence | None = None
    """The place in the task record; None for a quote that is nowhere, or outside the record (replay, look-ups)."""


class CheckedIssue(Record):
    """An issue with the result of its verification."""

    issue: Issue
    """What the judge said."""
    standing: Standing
    """The result of the verification."""
    quotes: tuple[CheckedQuote, ...]
    """Its quotes."""
    reason: str = ""
    """The reason for its standing: which quote failed, what execution showed, or why it could not settle it."""
    severity: Severity | None = None
    """What the flaw does to the score, where a check or execution showed it; None leaves it to the judge."""
    proof: Proof | None = None
    """A run that is scored wrongly, where a check found one."""
    patch: tuple[dict[str, Any], ...] = ()
    """Its JSON Patch, when it was re-checked and accepted; else empty."""
    patch_reason: str = ""
    """Why the patch was rejected; empty when there is none or it was accepted."""
    readings: ReadingsOutcome | None = None
    """What trials and votes made of its readings; None when it has none that were tried."""
    lowered: bool = False
    """Whether it counts as a signal only: its claim needs a run that it does not give, or that readers reject."""


class CheckedVerdict(Record):
    """A judge's verdict on one task after the gate."""

    task_id: str
    """Task."""
    judge: str
    """Judge."""
    sample: int = 0
    """Repetition, from 0."""
    outcome: Literal["flawed", "not_flawed", "cannot_tell", "error"]
    """The judge's outcome; a flawed verdict none of whose issues is verified is cannot_tell."""
    issues: tuple[CheckedIssue, ...] = ()
    """All its issues, those that failed included."""
    reason: str = ""
    """Why it cannot be told, or the error."""

    @property
    def standing(self) -> tuple[CheckedIssue, ...]:
        """Issues that count: verified or proved."""
        return tuple(issue for issue in self.issues if issue.standing in ("verified", "proved"))


_SEVERITIES = list(Severity)


class PaperFields(Record):
    """A verdict in the form of the audit paper."""

    reasoning: str
    """The way to the verdict."""
    reasoning_summary: str
    """What it rests on."""
    error_category: str | None
    """Category of the leading issue: the gravest, then the surest; None without an issue."""
    is_flawed: bool | None
    """Whether the task is flawed; None when the judge cannot tell."""


def paper_fields(verdict: Verdict) -> PaperFields:
    """Derive the paper's fields."""
    leading = min(verdict.issues, key=_rank, default=None)
    return PaperFields(
        reasoning=verdict.reasoning,
        reasoning_summary=leading.reasoning_summary if leading else verdict.because,
        error_category=leading.category if leading else None,
        is_flawed={"flawed": True, "not_flawed": False, "cannot_tell": None}[verdict.outcome],
    )


def _rank(issue: Issue) -> tuple[int, float]:
    return _SEVERITIES.index(issue.severity), -issue.confidence
