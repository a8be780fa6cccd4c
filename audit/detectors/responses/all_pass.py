"""Tasks that every model passes."""

from agenthard.audit.detectors.support.score_matrix import Unanimous
from agenthard.taxonomy.finding import Severity


class AllPass(Unanimous):
    """Tasks that every model passes.

    Rule: at least five models have a scored run of the task, and every scored run passes. Runs that ended in an
    infrastructure or judge error are left out. The finding gives the number of models and runs, the 95 % Wilson
    interval of the pass rate over models, and ``chance``: how likely models of this strength would all pass if the
    task were like their other tasks.

    Flagged: sixteen models, all pass. Not flagged: sixteen models, one failure in one of four trials; four models.

    When it is wrong: easy tasks are passed by everyone as well. It is a signal for the review queue and removes
    nothing.
    """

    id = "all-pass"
    title = "Every model passes"
    severity = Severity.COSMETIC
    why = "A task that everybody passes tells no two models apart, and may be scored too leniently."
    passed = True
    fix = "Check that a run which does nothing, or the wrong thing, would fail."
