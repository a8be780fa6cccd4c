"""Runs that ended in an error of the infrastructure or of the judge, and carry a score."""

from collections.abc import Iterable, Sequence

from agenthard.audit.detectors.support.recorded_runs import replaced
from agenthard.audit.detectors.support.run_tallies import Case, RunTally, Tally
from agenthard.audit.evidence import quote_run
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

_WORDS = {"infrastructure_error": "with an error of the infrastructure", "judge_error": "with an error of the judge"}


class InfrastructureErrorScored(RunTally):
    """Runs that could not be scored, because the infrastructure or the judge failed, and were scored.

    Rule: the run's status is infrastructure_error or judge_error, by what its log says, and the log carries a score. A
    run without a score is what such a run should be. There is one finding per model; it tells how many of the runs
    count, that is, were not replaced by a retry.

    Flagged: the sandbox timed out before a screenshot was taken, and the page scored (8 + 0) / 2.
    Not flagged: the same run, left out of the mean; an agent that ran into its step limit.

    When it is wrong: the agent caused the failure, such as a page that never finishes loading. The log cannot tell, and
    a score without a measurement behind it is wrong either way.
    """

    id = "infrastructure-error-scored"
    title = "errors of the infrastructure scored as results"
    version = "2"
    category = "suspicious-score-pattern"
    why = "The score says that the model failed where nothing was measured."
    fix = "Repeat these runs, or leave them out of the mean and report how many they are."
    nothing = "it has no runs"

    def cases(self, task: AgentTask, runs: Sequence[Trajectory]) -> Iterable[Case]:
        """Yield each run."""
        again = replaced(runs)
        for run in runs:
            word = _WORDS.get(run.status)
            if word is None or run.score is None:
                yield Case(run.model, run=run)
                continue
            counts = "replaced by a retry" if run.id in again else "counted in the result"
            evidence = [quote_run(run, "/status_reason", note="what failed")] if run.status_reason else []
            evidence.append(quote_run(run, "/score", note="the score that was logged nevertheless"))
            yield Case(run.model, (word, counts), tuple(evidence), run=run)

    def claim(self, tally: Tally) -> str:
        """State how many runs of a model were scored without a measurement."""
        return f"{tally.share} runs of {tally.group} failed outside the agent and were scored: {tally.listed}."
