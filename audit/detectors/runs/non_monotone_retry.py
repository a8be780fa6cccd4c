"""Retries with feedback that score lower and are what counts."""

from collections.abc import Iterable, Sequence

from agenthard.audit.detectors.support.recorded_runs import retries
from agenthard.audit.detectors.support.run_tallies import Case, RunTally, Tally
from agenthard.audit.evidence import quote_run
from agenthard.audit.idleness import idle_sign
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory


class NonMonotoneRetry(RunTally):
    """Retries with feedback that score lower than the attempt they were to improve, and that count.

    Rule: a run that tries another again, and is followed by none, has a lower score. There is one finding per model; it
    tells apart retries that hold no work, retries that something spoilt and others, of which some are the noise of
    the judge.

    Flagged: an attempt scored 9, whose retry is scored 4 and goes into the mean.
    Not flagged: a retry with the same score; independent trials of a task, which no feedback connects.

    When it is wrong: the benchmark counts the best attempt; then the finding only tells how feedback worked.
    """

    id = "non-monotone-retry"
    title = "retries that make the result worse"
    version = "3"
    category = "suspicious-score-pattern"
    why = "Where the last attempt counts, a working solution is replaced by a worse one, or to the judge's next draw."
    fix = "Count the best attempt, or report both readings."
    nothing = "none of its runs is a retry with a score"

    def cases(self, task: AgentTask, runs: Sequence[Trajectory]) -> Iterable[Case]:
        """Yield each last retry whose score and earlier score are logged."""
        for before, run, counts in retries(runs):
            if not counts or before.score is None or run.score is None:
                continue
            if run.score >= before.score:
                yield Case(run.model, run=run)
                continue
            kind = "in which the agent worked and was scored"
            if idle_sign(run) is not None:
                kind = "in which the agent did nothing"
            elif run.status != "ok":
                judged = run.status == "agent_error"
                kind = "whose reply could not be used" if judged else "in which the harness or the judge failed"
            lost = ("from a pass to a fail",) if before.passed and run.passed is False else ()
            evidence = (
                quote_run(before, "/score", note="score of the attempt before"),
                quote_run(run, "/score", note="score of the retry, which counts"),
            )
            yield Case(run.model, (kind, *lost), evidence, run=run)

    def claim(self, tally: Tally) -> str:
        """State how many retries of a model made the result worse."""
        return f"{tally.share} retries of {tally.group} that count score lower than the attempt before: {tally.listed}."
