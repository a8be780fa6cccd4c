"""Judges that are told whose work they judge."""

import re
from collections.abc import Iterable, Sequence

from agenthard.audit.detectors.support.run_tallies import Case, RunTally, Tally
from agenthard.audit.evidence import quote_run
from agenthard.taxonomy.finding import Severity
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

_SHORTEST = 4
"""Fewest characters of a name; shorter ones occur in other words."""
_AROUND = 60
"""Characters quoted on either side of the name."""
_PATH = re.compile(r"[/\\]")


class JudgeSeesModel(RunTally):
    """The prompt of a judging model names the model whose work is judged.

    Rule: the log has the prompt of a judge that is a model, and the name of the judged model stands in it as a word of
    its own or as a part of a path, without regard to case. There is one finding per judge and model, which tells in how
    many prompts it does, and in how many of them within a path. Prompts that are empty are skipped, names of fewer than
    four characters, and a name that the judge has too.

    Flagged: "Workspace root: /bench/model-x-4.5/subtask1/attempt_02" in a prompt that asks for the score of a run of
    model-x-4.5. Not flagged: the same prompt with "/bench/run-17/subtask1".

    When it is wrong: the task itself is about that model, and its text names it.
    """

    id = "judge-sees-model"
    title = "a judge is told whose work it judges"
    version = "1"
    category = "suspicious-score-pattern"
    severity = Severity.MAY_AFFECT_SCORE
    why = "Judging models prefer names that they know, their own family first; a score has to rest on the work alone."
    fix = "Name folders and runs by something that tells nothing, and judge again."
    nothing = "none of its runs logs the prompt of a judging model"

    def cases(self, task: AgentTask, runs: Sequence[Trajectory]) -> Iterable[Case]:
        """Yield each prompt of a judging model."""
        for run in runs:
            named = re.compile(rf"(?<![A-Za-z0-9]){re.escape(run.model)}(?![A-Za-z0-9]|\.\d)", re.IGNORECASE)
            for i, item in enumerate(run.judgements):
                if item.kind == "script" or not item.prompt or _unclear(run.model, item.judge):
                    continue
                group = f"{item.judge} judging {run.model}"
                match = named.search(item.prompt)
                if match is None:
                    yield Case(group, run=run)
                    continue
                piece = item.prompt[max(0, match.start() - _AROUND) : match.end() + _AROUND]
                word = item.prompt[match.start() - 1 : match.start()] + item.prompt[match.end() : match.end() + 1]
                where = "in a path" if _PATH.search(word) else "in words"
                shown = quote_run(run, f"/judgements/{i}/prompt", text=piece, note="what the judge was asked")
                yield Case(group, (where,), (shown,), run)

    def claim(self, tally: Tally) -> str:
        """State how many prompts name the judged model."""
        return f"{tally.share} prompts of {tally.group} name the judged model: {tally.listed}."


def _unclear(model: str, judge: str) -> bool:
    return len(model) < _SHORTEST or model.casefold() in judge.casefold()
