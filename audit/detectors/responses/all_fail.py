"""Tasks that no model passes."""

from agenthard.audit.detectors.support.score_matrix import Unanimous
from agenthard.taxonomy.finding import Severity


class AllFail(Unanimous):
    """Tasks that no model passes.

    Rule: at least five models have a scored run of the task, and every scored run fails. Runs that ended in an
    infrastructure or judge error are left out, never counted as failures. The finding gives the number of models and
    runs, the 95 % Wilson interval of the pass rate over models, and ``chance``: how likely models of this strength
    would all fail if the task were like their other tasks.

    Flagged: sixteen models, no pass. Not flagged: sixteen models, one pass in one of four trials; four models, no pass.

    When it is wrong: hard tasks are failed by everyone as well. It is a signal and drops nothing; the policy that ships
    sends its tasks to review (docs/policy.md has the figures).
    """

    id = "all-fail"
    title = "No model passes"
    severity = Severity.MAY_AFFECT_SCORE
    why = "A task that no model passes is hard or broken, and tells no two models apart; wrong golds gather here."
    passed = False
    fix = "Check the gold, what the evaluator wants, and whether the task can be solved with its tools and policy."
