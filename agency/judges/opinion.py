"""One judge's opinion of one attempt: what is asked for, what comes back, and what of it is true of the workspace."""

import re
from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from agenthard.agency.judges.exhibit import Exhibit
from agenthard.taxonomy.record import Record

TOP_SCORE = 10.0
REPLY = "(reply)"
"""How the agent's last reply is called among the files."""
BANDS = (
    "10: every clause holds, with evidence for each.",
    "8 to 9: all clauses hold, apart from details that a user would not miss.",
    "6 to 7: most clauses hold; a minor one fails.",
    "4 to 5: about half of the clauses hold, or a central one fails.",
    "1 to 3: a beginning; little of what the clauses ask can be used.",
    "0: nothing that the clauses ask is there.",
)
JudgeKind = Literal["text", "vision"]
Problem = Literal["not_demonstrated", "unreadable", "unsupported", "provider"]
"""No image to look at; no reply that can be read; no place that it names is there; no reply at all."""


class Evidence(Record):
    """A place that a judge names."""

    file: str
    """The file, as the question names it; for an image its name."""
    line: int = Field(ge=0)
    """The line that the quote begins on; 0 for an image."""
    quote: str
    """The words there; for an image what is to be seen."""


class Marks(Record):
    """What a judge answers."""

    comment: str
    """What holds and what does not, clause by clause, in words for the one who did the work."""
    evidence: tuple[Evidence, ...]
    """The places that the comment rests on."""
    score: float = Field(ge=0, le=10, allow_inf_nan=False)
    """From 0 to 10, by the bands of the question."""
    confidence: float = Field(ge=0, le=1, allow_inf_nan=False)
    """From 0 to 1: how sure the judge is of the score."""


Found = Literal["found", "elsewhere", "other_words", "no_file"]


class CheckedEvidence(Record):
    """A place that a judge names, looked up in the workspace."""

    claim: Evidence
    """What it names."""
    found: Found
    """At that line; at another one; the file has no such words; no such file."""
    line: int | None = None
    """The line that the words are on."""

    @property
    def holds(self) -> bool:
        """Whether the words are in the file."""
        return self.found in ("found", "elsewhere")


class Opinion(Record):
    """What one judge says in one repetition."""

    judge: str
    """Label of the judge."""
    kind: JudgeKind
    """Whether it reads or sees."""
    repeat: int
    """Repetition, from 0."""
    score: float | None = None
    """From 0 to 10; None when there is none."""
    confidence: float | None = None
    """From 0 to 1."""
    comment: str = ""
    """What it says."""
    evidence: tuple[CheckedEvidence, ...] = ()
    """The places that it names, looked up."""
    problem: Problem | None = None
    """Why a score is missing."""
    reason: str = ""
    """The same in words."""
    shown: tuple[str, ...] = ()
    """Files or images that it was shown."""
    left_out: tuple[str, ...] = ()
    """What it was not shown, with the reason."""
    requests: int = 0
    """Requests that were answered."""
    cost: float | None = 0.0
    """What they cost; None when one has no price."""


def check_evidence(claims: Sequence[Evidence], exhibit: Exhibit, kind: JudgeKind) -> tuple[CheckedEvidence, ...]:
    """Look up each place in the workspace, which is read again; an image is looked up by its name only."""
    if kind == "vision":
        names = [name.split(" ")[0] for name, _ in exhibit.images]
        return tuple(
            CheckedEvidence(claim=claim, found="found" if claim.file.split(" ")[0] in names else "no_file")
            for claim in claims
        )
    return tuple(_look_up(claim, exhibit) for claim in claims)


def _look_up(claim: Evidence, exhibit: Exhibit) -> CheckedEvidence:
    lines = exhibit.reply.split("\n") if claim.file == REPLY else exhibit.lines(claim.file)
    if lines is None:
        return CheckedEvidence(claim=claim, found="no_file")
    wanted = _words(claim.quote)
    span = claim.quote.strip().count("\n") + 1
    if not wanted:
        return CheckedEvidence(claim=claim, found="other_words")
    places = [place for place in range(1, len(lines) + 1) if wanted in _words(" ".join(lines[place - 1 :][:span]))]
    if claim.line in places:
        return CheckedEvidence(claim=claim, found="found", line=claim.line)
    if places:
        nearest = min(places, key=lambda each: abs(each - claim.line))
        return CheckedEvidence(claim=claim, found="elsewhere", line=nearest)
    return CheckedEvidence(claim=claim, found="other_words")


def _words(text: str) -> str:
    """Leave out the numbers of lines that a judge copies, and differences of white space."""
    return " ".join(re.sub(r"(?m)^\s*\d+\| ?", "", text).split())
