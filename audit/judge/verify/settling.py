"""What execution and deterministic checks can decide is decided by them, whatever the judge thinks.

A verified issue is proved or refuted by the first rule of its category that can, and else stays verified, with the
reason why it could not be settled. A rule decides only what it observed: an opinion about what the user meant is never
refuted by a replay, nor proved.

========================  =====================================================  =====================================
category                  proved                                                 refuted
========================  =====================================================  =====================================
any                       a confirmed finding of the audit in this category
                          quotes the same place
malformed-tool-call       `call-schema` flags the cited call                     the check ran and flags nothing of the
                                                                                 call, which runs; only where the claim
                                                                                 is about the schema, and no prose of
                                                                                 the documentation is quoted
redundant-tool-call       replayed without the cited call: the evaluator         it is a read that is not scored; a
                          passes, the state is the same, no later call lacks     later call has a value that only its
                          a value; or `gold-changes-nothing` flags it            response tells; or it is said to have
                                                                                 no effect, and the state differs
                                                                                 without it. Never where it is said
                                                                                 that nobody wants the call
incorrect-tool-call       `gold-fails` flags the cited call                      it says that the call fails, and the
                                                                                 call succeeds in the replay
insufficient-toolset      `call-schema`: the gold names a tool nobody offers     it names a missing tool: it is offered
environment-drift         `gold-nondeterministic`: two replays differ
unreachable-score         `gold-rejected`: the evaluator rejects the gold        it says so, and the evaluator accepts
too-lenient               it says that doing nothing passes, and the evaluator   it says so, and the evaluator does not
                          passes it; it may affect the score                     pass it, or no call is expected
too-strict                `right-answer-rejected` at the cited place             its patch accepts another answer, and
                                                                                 the evaluator passes that already
========================  =====================================================  =====================================

What a check proved is as severe as the check says.
"""

from collections.abc import Callable, Sequence

from agenthard.audit.execution.environment import ExecutionError, UnavailableError
from agenthard.audit.judge.verify.agreement import agreement
from agenthard.audit.judge.verify.call_rulings import call_fails, named_tool, needed, schema
from agenthard.audit.judge.verify.case import Case, Ruling
from agenthard.audit.judge.verify.checked import CheckedIssue
from agenthard.audit.judge.verify.score_rulings import alternative_passes, doing_nothing, gold_accepted
from agenthard.taxonomy.finding import Coverage, Finding
from agenthard.taxonomy.task import AgentTask

Rule = Callable[[Case], Ruling | None]
"""Rules on a case; None when it has nothing to say of it."""

RULES: dict[str, tuple[Rule, ...]] = {
    "malformed-tool-call": (schema,),
    "redundant-tool-call": (needed,),
    "incorrect-tool-call": (call_fails,),
    "insufficient-toolset": (named_tool,),
    "unreachable-score": (gold_accepted,),
    "too-lenient": (doing_nothing,),
    "too-strict": (alternative_passes,),
}


def settle(
    task: AgentTask, issue: CheckedIssue, findings: Sequence[Finding] = (), coverage: Sequence[Coverage] = ()
) -> CheckedIssue:
    """Let checks and execution decide an issue whose evidence stands.

    Args:
        task: the task.
        issue: an issue after the evidence gate; one that is not verified is returned as it is.
        findings: what the audit found.
        coverage: what each check did.

    Returns:
        The issue, proved or refuted with what was observed, or verified with the reason why it is not settled.
    """
    if issue.standing != "verified":
        return issue
    case = Case(task, issue)
    left_open = []
    for rule in (lambda each: agreement(each, findings, coverage), *RULES.get(issue.issue.category, ())):
        try:
            ruling = rule(case)
        except (UnavailableError, ExecutionError) as error:
            ruling = Ruling("open", str(error))
        if ruling is None:
            continue
        if ruling.standing != "open":
            known = {"severity": ruling.severity, "proof": ruling.proof}
            return issue.model_copy(update={"standing": ruling.standing, "reason": ruling.reason, **known})
        left_open.append(ruling.reason)
    return issue.model_copy(update={"reason": f"not settled: {left_open[-1]}"}) if left_open else issue
