"""What trials of readings, and the votes of independent readers, say about a claim of ambiguity or strictness.

========================  ===========================================  ===============================================
kind of claim             its readings                                 confirmed where readers who saw neither the
                                                                       ground truth as such nor the evaluator's answer
========================  ===========================================  ===============================================
ambiguous                 two or more that are said to be right        find at least two right, of which the evaluator
                                                                       accepts one and rejects another
strict                    another path that is said to be right        find a rejected one and the ground truth right
lenient                   a careless run                               find an accepted one wrong
better-gold               the run that the ground truth should be      find it right and the ground truth wrong; the
                                                                       evaluator rejects it
========================  ===========================================  ===============================================

The ground truth is one of the readings that readers see. A reading that fails its trial is withdrawn, and the claim
with it where too few are left.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field

from agenthard.audit.readings.records import GOLD, Trial, shown_trial
from agenthard.taxonomy.record import Record

Kind = Literal["ambiguous", "strict", "lenient", "better-gold"]
KINDS: dict[str, Kind] = {
    "ambiguous-instruction": "ambiguous",
    "too-strict": "strict",
    "too-lenient": "lenient",
    "incorrect-tool-call": "better-gold",
    "redundant-tool-call": "better-gold",
    "malformed-tool-call": "better-gold",
    "wrong-expected-output": "better-gold",
}
"""What the readings of an issue are to show, by its category."""
FEWEST_VOTES = 2
"""Readers that have to agree on a reading."""


class ReadingVote(Record):
    """What one independent reader says of one reading."""

    reading: str
    """Name of the reading."""
    right: bool | None
    """Whether a run that does this does what user and policy want; None when the reader cannot tell."""
    because: str
    """Why, in a sentence."""


class Ballot(Record):
    """The votes of one reader on all readings of an issue."""

    reader: str
    """Judge and sample, or the model of recorded runs."""
    votes: tuple[ReadingVote, ...]
    """One per reading."""


class ReadingsOutcome(Record):
    """Readings of an issue, what code found out about them, and what independent readers say."""

    kind: Kind
    """What they are to show."""
    trials: tuple[Trial, ...]
    """Their trials; the ground truth comes last where it is a path that can be followed."""
    ballots: tuple[Ballot, ...] = ()
    """Votes of independent readers."""
    standing: Literal["open", "holds", "withdrawn", "lowered", "confirmed"]
    """open: could not be tried; holds: the trials say what the claim needs, and readers were not asked, or too few
    answered; withdrawn: a trial refutes the claim; lowered: readers do not bear it out; confirmed: they do."""
    reason: str = Field(max_length=20_000)
    """Why."""
    wrong: str = ""
    """Name of the reading that the evaluator judges wrongly, if confirmed."""

    @property
    def trial(self) -> Trial | None:
        """The trial of the reading that the evaluator judges wrongly."""
        return next((trial for trial in self.trials if trial.reading.name == self.wrong), None)

    @property
    def shown(self) -> str:
        """Every trial in a sentence or two, for a person."""
        return " ".join(shown_trial(trial) for trial in self.trials)


def after_trials(kind: Kind, trials: Sequence[Trial]) -> ReadingsOutcome:
    """Say what the trials alone make of a claim.

    Args:
        kind: the kind of claim.
        trials: of its readings, and of the ground truth, which comes last.
    """
    standing, reason = _claim(kind, trials)
    return ReadingsOutcome.model_validate(
        {"kind": kind, "trials": tuple(trials), "standing": standing, "reason": reason}
    )


def _claim(kind: Kind, trials: Sequence[Trial]) -> tuple[str, str]:
    written = [trial for trial in trials if trial.reading.name != GOLD]
    wanted = [trial for trial in written if trial.reading.right == (kind != "lenient")]
    if not wanted:
        sort = "careless" if kind == "lenient" else "right"
        return "withdrawn", f"no {sort} run is written besides the ground truth"
    if kind == "lenient":
        passing = [trial for trial in wanted if trial.passed]
        if passing:
            return "holds", f"the evaluator accepts reading {_names(passing)}"
        return "withdrawn", f"the evaluator rejects reading {_names(wanted)}"
    sound = [trial for trial in wanted if not trial.defect]
    if not sound:
        return "withdrawn", "; ".join(f"reading {trial.reading.name} {trial.defect}" for trial in wanted)
    rejected = [trial for trial in sound if not trial.passed]
    if kind != "ambiguous":
        if rejected:
            return "holds", f"reading {_names(rejected)} replays, breaks no rule, and the evaluator rejects it"
        return "withdrawn", f"the evaluator accepts reading {_names(sound)} already"
    gold = [trial for trial in trials if trial.reading.name == GOLD and not trial.defect]
    if len({_outcome(trial) for trial in (*sound, *gold)}) < 2:
        gone = "; ".join(f"reading {each.reading.name} {each.defect}" for each in wanted if each.defect)
        return "withdrawn", gone or "its readings end in the same state"
    if not rejected:
        return "withdrawn", f"the evaluator accepts reading {_names(sound)} alike"
    if not any(trial.passed for trial in (*sound, *gold)):
        return "open", "the evaluator accepts none of the readings, nor the ground truth"
    return "holds", f"reading {_names(rejected)} replays, breaks no rule, and the evaluator rejects it"


def _outcome(trial: Trial) -> tuple[str, bool, str]:
    compared = "" if trial.final else str([call for turn in trial.reading.turns for call in turn])
    return trial.final, trial.passed, compared


def _names(trials: Sequence[Trial]) -> str:
    return " and ".join(trial.reading.name for trial in trials)


def after_votes(outcome: ReadingsOutcome, ballots: Sequence[Ballot], fewest: int = FEWEST_VOTES) -> ReadingsOutcome:
    """Say what the votes of independent readers make of a claim that its trials bear out.

    A reading is right, or wrong, when at least two readers say so and they are more than half of those who can tell.

    Args:
        outcome: what the trials say; one that does not hold is returned as it is.
        ballots: the votes.
        fewest: readers that have to say so.
    """
    if outcome.standing != "holds" or not ballots:
        return outcome
    found = {trial.reading.name: _agreed(ballots, trial.reading.name, fewest) for trial in outcome.trials}
    tally = ", ".join(f"{name} {_tally(ballots, name)}" for name in found)
    told = {"ballots": tuple(ballots)}
    if sum(any(vote.right is not None for vote in ballot.votes) for ballot in ballots) < fewest:
        reason = f"{outcome.reason}; fewer than {fewest} readers can tell (found right: {tally})"
        return outcome.model_copy(update={**told, "reason": reason})
    wrong = _wrongly_judged(outcome, found)
    if wrong is None:
        reason = f"{outcome.reason}, but independent readers do not bear it out (found right: {tally})"
        return outcome.model_copy(update={**told, "standing": "lowered", "reason": reason})
    said = "accepts" if wrong.passed else "rejects"
    reason = f"found right by independent readers: {tally}; the evaluator {said} reading {wrong.reading.name}"
    return outcome.model_copy(update={**told, "standing": "confirmed", "reason": reason, "wrong": wrong.reading.name})


def _wrongly_judged(outcome: ReadingsOutcome, found: Mapping[str, bool | None]) -> Trial | None:
    """Return the reading that the evaluator judges wrongly, if the votes bear the claim out."""
    gold = found.get(GOLD, True)  # milestones are not a run that readers could judge
    sound = [trial for trial in outcome.trials if found[trial.reading.name] and not trial.defect]
    rejected = [trial for trial in sound if not trial.passed]
    if outcome.kind == "ambiguous":
        holds = len({_outcome(trial) for trial in sound}) > 1 and any(trial.passed for trial in sound)
        return rejected[0] if rejected and holds else None
    if outcome.kind == "strict":
        return rejected[0] if rejected and gold else None
    if outcome.kind == "better-gold":
        return rejected[0] if rejected and gold is False else None
    passing = (t for t in outcome.trials if t.passed and not t.reading.right and found[t.reading.name] is False)
    return next(passing, None)


def _agreed(ballots: Sequence[Ballot], name: str, fewest: int) -> bool | None:
    votes = _votes(ballots, name)
    for said in (True, False):
        if votes.count(said) >= fewest and 2 * votes.count(said) > len(votes):
            return said
    return None


def _votes(ballots: Sequence[Ballot], name: str) -> list[bool]:
    said = (vote.right for ballot in ballots for vote in ballot.votes if vote.reading == name)
    return [right for right in said if right is not None]


def _tally(ballots: Sequence[Ballot], name: str) -> str:
    votes = _votes(ballots, name)
    return f"{sum(votes)} of {len(votes)}"
