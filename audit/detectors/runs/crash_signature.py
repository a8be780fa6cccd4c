"""Runs in which something failed."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from agenthard.audit.detectors.support.run_tallies import Case, RunTally, Tally
from agenthard.audit.evidence import quote_run
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

EXCEPTION = "with an exception in the words of the harness or the checker"
SIGNATURES = {
    "with a time-out of the harness": re.compile(
        r"\b(?:timed out|time-?out (?:after|of|exceeded|while)|TimeoutError)\b", re.I
    ),
    "whose reply could not be parsed": re.compile(
        r"plan application failed|failed to (?:locate|parse|extract|decode) (?:\w+ )?json", re.I
    ),
    "whose judge could not be read": re.compile(r"(?:unable|failed) to parse (?:the )?(?:judge|evaluator)", re.I),
    "with an error of a service": re.compile(
        r"\b(?:rate ?limit(?:ed|error)?|internal ?server ?error|service ?unavailable(?:error)?|bad ?gateway|"
        r"api ?connection ?error|connection (?:refused|reset|aborted)|overloaded(?:_error)?)\b",
        re.I,
    ),
    EXCEPTION: re.compile(
        r"Traceback \(most recent call last\)|\b(?!Assertion)[A-Z]\w+(?:Error|Exception)\b"
        r"|(?:'(?P<owner>\w+)' )?\bobject has no attribute '(?P<attribute>\w+)'|\bNo module named '(?P<module>[\w.]+)'"
        r"|\[Errno \d+\][^'\n]*(?:'(?P<file>[^'\n]+)')?"
    ),
}
"""Words that follow a number, and what a text of the harness or the judge holds then; the first match counts."""
CONTINUES = "continues_previous"
"""Trait of tasks that begin on what another task left."""
_STAND_IN = re.compile(r"_*(?:Mock|Fake|Stub|Dummy)")
_OPENING = re.compile(r"can't open file '(?P<file>[^'\n]+)': $")


class CrashSignature(RunTally):
    """Runs in which something failed, by the words of the harness, of the checker or of the judge.

    Rule: the reason of the run's status, what the harness reported while it collected evidence, or what a judge or a
    script said, names a time-out, a reply or a judge that could not be parsed, an error of a service, or an exception.
    An exception counts only where what it misses (a module, an attribute, a file) is not named in the task's text: else
    it is how the checker says that something asked for was not delivered. In a task that continues another one, which
    may have asked for it, only what a stand-in of the checker misses counts (a class named Mock, Fake, Stub or Dummy).
    The agent's own words and the output of its tools are not looked at: an exception on the way is part of the work.
    There is one finding per model, with the number of runs of each kind.

    Flagged: the feedback "storage check failed: 'MockResult' object has no attribute 'matched_count'", which the
    checker's own mock lacks; a reply without JSON, scored 0.
    Not flagged: "No module named 'app.http'" where the task asks for ``app/http``; a traceback in the output of a test
    that the agent ran.

    When it is wrong: the exception comes from code of the agent that is broken in a way the text does not name.
    """

    id = "crash-signature"
    title = "results of runs in which something failed"
    version = "3"
    category = "suspicious-score-pattern"
    why = "A crash and a wrong solution score alike, and only one of them tells something about the model."
    fix = "Find out what crashed; repeat the runs that the harness or the judge spoilt."
    nothing = "it has no runs"

    def cases(self, task: AgentTask, runs: Sequence[Trajectory]) -> Iterable[Case]:
        """Yield each run."""
        asked = " ".join(text for _, text in task.user_texts())
        later = CONTINUES in task.traits
        for run in runs:
            found = [
                (kind, place, words) for place, text in _texts(run) for kind, words in _signatures(text, asked, later)
            ]
            if not found:
                yield Case(run.model, run=run)
                continue
            kind, place, words = found[0]
            kinds = tuple(dict.fromkeys(kind for kind, _, _ in found))
            yield Case(run.model, kinds, (quote_run(run, place, text=words, note=f"a run {kind}"),), run=run)

    def claim(self, tally: Tally) -> str:
        """State in how many runs of a model something failed."""
        return f"Something failed in {tally.share} runs of {tally.group}: {tally.listed}."


def _texts(run: Trajectory) -> Iterator[tuple[str, str]]:
    for i, item in enumerate(run.judgements):
        yield from ((f"/judgements/{i}/diagnostics/{j}", text) for j, text in enumerate(item.diagnostics))
    yield from chain(
        ((f"/judgements/{i}/reason", item.reason) for i, item in enumerate(run.judgements)),
        (("/status_reason", run.status_reason),),
    )


def _signatures(text: str, asked: str, later: bool) -> Iterator[tuple[str, str]]:
    for kind, pattern in SIGNATURES.items():
        for match in pattern.finditer(text):
            if kind != EXCEPTION or not _is_asked_for(match, asked, later):
                yield kind, match[0]
                return


def _is_asked_for(match: re.Match[str], asked: str, later: bool) -> bool:
    """Tell whether the task's text names what an exception misses, or an earlier task of its chain may name it."""
    if later and any(match.groupdict().values()) and not _STAND_IN.match(match["owner"] or ""):
        return True
    opening = _OPENING.search(match.string, 0, match.start())
    missed = (opening or match).groupdict()
    names = [missed.get("attribute"), (missed.get("module") or "").replace(".", "/"), _file_name(missed.get("file"))]
    return any(name and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", asked) for name in names)


def _file_name(path: str | None) -> str:
    return (path or "").rstrip("/").rsplit("/", 1)[-1]
