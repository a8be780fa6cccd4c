"""The page of the progress: how far the review is, how well people agree, with each other and with checks."""

from agenthard.audit.statistics.result import Result
from agenthard.flows.review.figures import in_words
from agenthard.flows.review.web.footer import current_figures
from agenthard.flows.review.web.rendering import Visit, render

MOST_NEXT = 20
"""Tasks that are proposed as next."""
FORMATS = (
    ("events", "all events, as JSON Lines"),
    ("csv", "all events, as CSV"),
    ("labels", "a label per task and reviewer, for agenthard align"),
    ("truth", "a label per task, for agenthard score"),
)
"""What can be exported."""


def progress_page(visit: Visit) -> str:
    """Render the figures of the review, what to review next, and the exports."""
    run = visit.run
    figures = current_figures(run)
    left = [each for each in visit.listing.values if not run.item(("task", each.task_id)).reviewed]
    return render(
        "progress.html.j2",
        visit,
        shown=figures,
        agreement=_words(figures.agreement),
        agreement_blind=_words(figures.agreement_blind),
        precision=[(row.check, _words(row.findings), _words(row.tasks)) for row in figures.precision],
        after=left[:MOST_NEXT],
        formats=FORMATS,
    )


def _words(result: Result) -> str:
    return in_words(result, "").strip()
