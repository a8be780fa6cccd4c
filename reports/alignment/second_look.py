"""Flags that the first labels call wrong and a second look finds right: both precisions, and what to look at."""

from typing import Any

import numpy as np

from agenthard.audit.statistics.result import Result
from agenthard.reports.alignment.answers import Answers
from agenthard.reports.alignment.measures import Labelled
from agenthard.taxonomy.record import Record


class SecondLook(Record):
    """Precision before and after somebody looked again at the flags that labels call wrong."""

    first: Result
    """Precision by the first labels."""
    later: Result
    """Precision with the confirmed flags counted as right; the rest of those not looked at again stays wrong."""
    wrong_at_first: int
    """Flags that the first labels call wrong (N)."""
    looked_again: int
    """Of these, those somebody looked at again (k)."""
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

    The line shows what was said; ``confirmed_later`` (for a flag), ``mode`` and ``note`` are to be filled in. Given
    beside the label files, the filled sheet adds what the second look found.
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
