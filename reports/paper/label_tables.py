"""Tables of the paper that rest on labels of people: agreement, judges, failure modes, the second look."""

from agenthard.reports.alignment.score import Alignment
from agenthard.reports.paper.record import PaperTable, table_of
from agenthard.reports.paper.stage_rows import plain

NO_LABELS = "It takes labels of people: give the file of `agenthard align score --json` with --alignment."


def alignment_table(alignment: Alignment | None) -> PaperTable:
    """Precision, recall and F1 against labels (Table 4)."""
    rows = []
    for row in alignment.rows if alignment else ():
        rows.append(
            {"compared": row.name}
            | plain("precision", row.precision)
            | plain("recall", row.recall)
            | plain("f1", row.f1)
        )
    return table_of(
        name="alignment",
        paper="Table 4 (precision, recall, F1)",
        ours="`agenthard align score`",
        title="Agreement with the labels of people",
        rows=rows,
        otherwise=NO_LABELS,
    )


def judges(alignment: Alignment | None) -> PaperTable:
    """Several judges on the same labelled tasks (Table 6)."""
    several = alignment.robustness if alignment else None
    rows = [
        {"judge": row.name} | plain("accuracy", row.accuracy) | plain("f1", row.f1)
        for row in (several.rows if several else ())
    ]
    return table_of(
        name="judges",
        paper="Table 6",
        ours="`agenthard align score --also RUN`",
        title="Several judges on the same labelled tasks",
        rows=rows,
        otherwise="It takes several judges on labelled tasks: `agenthard align score --also RUN --json`, "
        "whose output is given with --alignment.",
    )


def failure_modes(alignment: Alignment | None) -> PaperTable:
    """Why the judge was wrong (Table 8)."""
    found = alignment.failure_modes.rows if alignment else ()
    rows = [
        {"error": row.error, "mode": row.mode, "in_the_paper": row.of_the_paper, **plain("share", row.share)}
        for row in found
    ]
    return table_of(
        name="failure-modes",
        paper="Table 8",
        ours="`agenthard align score`, Why it was wrong",
        title="Why a judge was wrong",
        note="Shares of the errors that people explained.",
        rows=rows,
        otherwise="It takes labels whose second look names failure modes: `agenthard align score --json`, "
        "whose output is given with --alignment.",
    )


Disagreement = tuple[str, int]
"""What became of flags and labels that differ, and how many there are."""


def second_look_counts(alignment: Alignment) -> tuple[Disagreement, ...]:
    """Count the disagreements with the labels by what the second look found."""
    look = alignment.second_look
    return (
        ("flag that the second look confirms", look.confirmed),
        ("flag that the second look calls wrong", look.looked_again - look.confirmed),
        ("flag without a second look", look.wrong_at_first - look.looked_again),
        ("missed flaw", alignment.failure_modes.errors["false negative"]),
    )


def disagreements(alignment: Alignment | None) -> PaperTable:
    """What became of the disagreements with the labels after a second look (Figure 3)."""
    counts = second_look_counts(alignment) if alignment else ()
    total = sum(number for _, number in counts)
    return table_of(
        name="disagreements",
        paper="Figure 3",
        ours="`agenthard align score`, second look",
        title="Disagreements with the labels after a second look",
        note="Only flags are looked at again; flaws in tasks without a flag stay unknown.",
        rows=[
            {"disagreement": name, "tasks": number, "share": number / total if total else None}
            for name, number in counts
        ],
        otherwise=NO_LABELS,
    )
