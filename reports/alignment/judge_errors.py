"""Where flags and labels differ: failure modes of the judge, and second looks that find a flag right after all."""

from collections import Counter
from typing import Any, Literal

import numpy as np

from agenthard.audit.statistics.rates import wilson_interval
from agenthard.audit.statistics.result import Result
from agenthard.reports.alignment.answers import Answers
from agenthard.reports.alignment.measures import Labelled
from agenthard.reports.kit.text import slug
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
"""Mode → its meaning, for each kind of error."""


class ModeRow(Record):
    """One mode."""

    error: Error
    """Kind of error."""
    mode: str
    """Name; one that the paper does not have is kept as annotators wrote it."""
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


class SecondLook(Record):
    """Precision before and after a second look at the flags that labels call wrong."""

    first: Result
    """Precision by the first labels."""
    later: Result
    """Precision with the confirmed flags counted as right; the rest of those not looked at again stays wrong."""
    wrong_at_first: int
    """Flags that the first labels call wrong (N)."""
    looked_again: int
    """Of these, those that had a second look (k)."""
    confirmed: int
    """Of these, those that were found right."""


def second_look(answers: Answers, labelled: Labelled) -> SecondLook:
    """Give the precision of flags by the first labels, and post hoc with the newly found flaws.

    Only flags were looked at again, so recall and F1 may not be corrected in this way: flaws in tasks without a flag
    stay unknown.

    Args:
        answers: who flagged what.
        labelled: the labelled tasks.
    """
    flagged, _ = labelled.answered(answers)
    flawed = labelled.flawed
    again = np.array([task.looked_again for task in labelled.truth], dtype=np.bool_)
    confirmed = np.array([task.confirmed_later for task in labelled.truth], dtype=np.bool_)
    wrong = flagged & ~flawed
    return SecondLook(
        first=labelled.frame.rate(flawed, flagged, "flagged tasks"),
        later=labelled.frame.rate(flawed | confirmed, flagged, "flagged tasks"),
        wrong_at_first=int(wrong.sum()),
        looked_again=int((wrong & again).sum()),
        confirmed=int((wrong & confirmed).sum()),
    )


def disagreements(answers: Answers, labelled: Labelled) -> list[dict[str, Any]]:
    """List the tasks on which flags and labels differ, as lines of a sheet for the second look.

    The line shows the verdict; ``confirmed_later`` (for a flag), ``mode`` and ``note`` are to be filled in. Given
    with the label files, the filled sheet adds what the second look found.
    """
    lines = []
    for task in labelled.truth:
        answer = answers.by_task.get(task.task_id)
        if answer is None or answer.flagged is None or answer.flagged == task.flawed:
            continue
        lines.append(
            {
                "task_id": task.task_id,
                "error": "false positive" if answer.flagged else "false negative",
                "said": answer.reason,
                "said_categories": list(answer.categories),
                "labelled": list(task.categories) or ("flawed" if task.flawed else "sound"),
                "confirmed_later": None,
                "mode": None,
                "note": "",
            }
        )
    return lines
