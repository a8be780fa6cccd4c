"""Why a judge is wrong: the audit paper's modes of false positives and false negatives, counted."""

from collections import Counter
from typing import Literal

from agenthard.audit.statistics.rates import wilson_interval
from agenthard.audit.statistics.result import Result
from agenthard.reports.alignment.answers import Answers
from agenthard.reports.alignment.measures import Labelled
from agenthard.reports.alignment.naming import slug
from agenthard.taxonomy.record import Record

Error = Literal["false positive", "false negative"]

FAILURE_MODES: dict[Error, dict[str, str]] = {
    "false positive": {
        "inference-failure": "The material decides it, and the judge concluded wrongly.",
        "partial-trajectory": "The judge took a path of the ground truth for the whole conversation.",
        "missing-context": "What the judge was given does not hold what decides it.",
        "misjudged-redundancy": "A call that is needed, or that costs nothing, was called redundant.",
    },
    "false negative": {
        "overlooked-malformed-call": "A call of the ground truth that does not fit its tool was not seen.",
        "overlooked-incorrect-call": "A call of the ground truth that is wrong was not seen.",
        "wrong-response": "A tool's wrong response was taken for right.",
        "ambiguity": "The second reading of the instruction was not seen.",
        "insufficient-toolset": "That no tool can do it was not seen.",
    },
}
"""Mode → what it says, for each kind of error."""


class ModeRow(Record):
    """One mode."""

    error: Error
    """Kind of error."""
    mode: str
    """Name; a name that is none of the paper's stands as annotators wrote it."""
    of_the_paper: bool
    """Whether it is one of the paper's modes."""
    share: Result
    """Share of the explained errors of this kind that have the mode; an error can have several."""


class FailureModes(Record):
    """The table of the paper, from the modes that annotators gave."""

    rows: tuple[ModeRow, ...]
    """The paper's modes in its order, each kind followed by other modes by name."""
    explained: dict[Error, int]
    """Errors of each kind with a mode (k)."""
    errors: dict[Error, int]
    """Errors of each kind (N)."""
    elsewhere: int
    """Modes given on tasks on which flags and labels agree, or without a verdict; they are not counted."""


def failure_modes(answers: Answers, labelled: Labelled) -> FailureModes:
    """Count why the judge was wrong.

    Args:
        answers: who flagged what.
        labelled: the labelled tasks with the modes that annotators gave.
    """
    counts: dict[Error, Counter[str]] = {error: Counter() for error in FAILURE_MODES}
    explained: dict[Error, int] = dict.fromkeys(FAILURE_MODES, 0)
    errors: dict[Error, int] = dict.fromkeys(FAILURE_MODES, 0)
    elsewhere = 0
    for task in labelled.truth:
        answer = answers.by_task.get(task.task_id)
        flagged = None if answer is None else answer.flagged
        if flagged is None or flagged == task.flawed:
            elsewhere += len(task.modes)
            continue
        error: Error = "false positive" if flagged else "false negative"
        errors[error] += 1
        explained[error] += bool(task.modes)
        counts[error].update({slug(mode) if slug(mode) in FAILURE_MODES[error] else mode for mode in task.modes})
    rows = [
        ModeRow(
            error=error,
            mode=mode,
            of_the_paper=mode in known,
            share=wilson_interval(counts[error][mode], explained[error], unit=f"explained {error}s"),
        )
        for error, known in FAILURE_MODES.items()
        if explained[error]
        for mode in (*known, *sorted(set(counts[error]) - set(known)))
    ]
    return FailureModes(rows=tuple(rows), explained=explained, errors=errors, elsewhere=elsewhere)
