"""Judges that score what they were not shown."""

import re
from collections.abc import Iterable, Sequence

from agenthard.audit.detectors.support.run_tallies import Case, RunTally, Tally
from agenthard.audit.evidence import quote_run
from agenthard.audit.idleness import idle_sign
from agenthard.taxonomy.finding import Evidence
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Judgement, Trajectory

_BLIND = re.compile(
    r"\b(?:can ?not|can't|could not|unable to) (?:see|view|access|open) (?:any |the )?"
    r"(?:screenshots?|images?|videos?|visuals?|media|files?|attachments?)"
    r"|\bno (?:screenshots?|images?|videos?|visuals?|media)(?: \w+)? (?:was|were|is|are|has been|have been)? ?"
    r"(?:provided|captured|available|attached|shown|given)"
    r"|\bwithout (?:any |the )?(?:visual evidence|screenshots?|images?|videos?|media|rendered output)\b",
    re.I,
)
_NOT_ASKED = re.compile(r"\W*(?:skipped|not (?:run|evaluated|asked))\b", re.I)


class VerdictWithoutEvidence(RunTally):
    """Verdicts of a judge on something that it was not shown.

    Rule: a judge that is to see was given no image and no video, by the log, and gave a score; or, where the log does
    not tell what it was given, its own words say that it sees none ("I cannot see any screenshot", "no images were
    provided") and its score is above zero. A judge that was not asked ("Skipped"), and one that looks at a run without
    any work, are skipped. There is one finding per judge and model, which tells how many scores are above zero.

    Flagged: a score of 6 for the looks of a page of which no screenshot was taken; a score of 0 for the same reason,
    which reads like a page that is worthless.
    Not flagged: a script's verdict; a judge that reads code and was given the code.

    When it is wrong: the image was inside the prompt and the log lists only attached files.
    """

    id = "verdict-without-evidence"
    title = "scores for what the judge was not shown"
    version = "2"
    category = "too-lenient"
    why = "What was not shown is not known; any score for it, also 0, is made up and goes into the mean."
    fix = "Give no score where the evidence is missing, capture it again, and leave the run out until then."
    nothing = "none of its runs logs a judge that looks at images, or a judge's words"

    def cases(self, task: AgentTask, runs: Sequence[Trajectory]) -> Iterable[Case]:
        """Yield each verdict of a judge that was asked and had something to look at."""
        for run in runs:
            idle = idle_sign(run) is not None
            for i, item in enumerate(run.judgements):
                if idle or item.kind == "script" or item.score is None or _NOT_ASKED.match(item.reason):
                    continue
                group = f"{item.judge} judging {run.model}"
                if item.kind == "vision" and item.shown == ():
                    yield Case(group, ("with no image or video", _height(item)), _proof(run, i, None), run)
                elif item.shown is None and item.score > 0 and (match := _BLIND.search(item.reason)):
                    yield Case(group, ("by its own words", _height(item)), _proof(run, i, match[0]), run)
                else:
                    yield Case(group, run=run)

    def claim(self, tally: Tally) -> str:
        """State how many verdicts of a judge rest on nothing."""
        return f"{tally.share} verdicts of {tally.group} score what was not shown: {tally.listed}."


def _height(item: Judgement) -> str:
    return "scored above zero" if item.score else "scored zero"


def _proof(run: Trajectory, index: int, words: str | None) -> tuple[Evidence, ...]:
    place = f"/judgements/{index}"
    proof = [quote_run(run, f"{place}/score", note="the score")]
    if words is None:
        proof.append(quote_run(run, f"{place}/shown", note="what the judge was given"))
    if run.judgements[index].reason:
        proof.append(quote_run(run, f"{place}/reason", text=words, note="what the judge said"))
    return tuple(proof)
