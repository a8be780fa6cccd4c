"""Check: ground truths that break the policy that the agent has to follow."""

from collections.abc import Iterator, Sequence

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.evidence import quote
from agenthard.audit.execution.attempts import gold_attempt
from agenthard.audit.execution.environment import UnavailableError
from agenthard.audit.execution.gold import environment_of
from agenthard.audit.execution.policy.checker import CheckedCall, RuleJudgement, check_calls, rules_for
from agenthard.audit.execution.policy.rule import CannotTell, RuleViolation
from agenthard.audit.proof import wrongly_passes
from agenthard.taxonomy.finding import Evidence, Severity, Tier
from agenthard.taxonomy.task import AgentTask

HAND_OVER = "transfer_to_human_agents"


class PolicyViolation(TaskDetector):
    """A call of the ground truth does what the agent's own policy forbids.

    The ground truth is carried out call by call, and the rules of the task's domain look at each call with the state
    that it meets. A rule is a short function that encodes sentences of the policy; where the policy does not hold these
    very sentences, the rule says nothing. ``docs/policy-rules.md`` lists the rules and shows how to write one.

    Flagged: the ground truth cancels a reservation of which a flight has landed, while the policy says "If any portion
    of the flight has already been flown, the agent cannot help". Not flagged: it cancels a business reservation.

    A forbidden call that its tool refuses changes nothing: it may affect the score; it is cosmetic where the ground
    truth continues with another call for the same reservation or order, or hands the user over to a human.

    A rule that needs more than the files tell (whether the insurance covers what the user says) cannot tell; a task
    without a violation of which a rule cannot tell is not checked. A violation that rests on what the user's text does
    not say is only suspected.

    A violation that affects the score is confirmed where the evaluator passes the run that makes the gold calls.

    The check is wrong when a rule misreads its sentence, which is why every hit quotes it.
    """

    id = "gold-breaks-policy"
    title = "Ground truths that the policy forbids"
    version = "3"
    category = "incorrect-tool-call"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.CONFIRMED
    deciding = "execution"
    why = "An agent that follows its policy ends in another state than the ground truth, and fails."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Nothing can be checked without rules, without an environment, or where a rule cannot tell."""
        if not any(task.ground_truth.turns):
            return "the ground truth holds no calls"
        if not rules_for(task):
            return "no rule is written for what this policy says"
        try:
            outcomes = [(item.rule, item.outcome) for step in _judged(task) for item in step.judgements]
        except UnavailableError as error:
            return str(error)
        if not outcomes:
            return "no rule looks at the calls of the ground truth"
        if any(isinstance(outcome, RuleViolation) for _, outcome in outcomes):
            return None
        unsure = (f"{rule}: {outcome.reason}" for rule, outcome in outcomes if isinstance(outcome, CannotTell))
        return next(unsure, None)

    def inspect(self, task: AgentTask) -> Iterator[Hit]:
        """Yield one hit per call and rule that it breaks."""
        steps = _judged(task)
        for i, step in enumerate(steps):
            for judgement in step.judgements:
                outcome = judgement.outcome
                if isinstance(outcome, RuleViolation):
                    refused = f"; the tool refuses it: {step.refused}" if step.refused else "."
                    yield Hit(
                        claim=outcome.claim.rstrip(".") + refused,
                        evidence=tuple(_evidence(task, step, judgement, outcome)),
                        fix="Leave out the call, or replace it by one that the policy allows.",
                        cause=f"{task.id} | {judgement.rule} | {step.pointer}",
                        severity=_effect(step, steps[i + 1 :]) or outcome.severity,
                        tier=None if outcome.certain else Tier.SUSPECTED,
                        proof=wrongly_passes(task, gold_attempt(task)),
                    )


def _judged(task: AgentTask) -> list[CheckedCall]:
    return list(check_calls(task, environment_of(task), rules_for(task)))


def _effect(step: CheckedCall, later: Sequence[CheckedCall]) -> Severity | None:
    """Tell what a call does to the score when its tool refuses it."""
    if step.refused is None:
        return None
    carried_out = [other for other in later if other.refused is None]
    subject = _subject(step)
    goes_on = any(other.call.name == HAND_OVER or (subject and _subject(other) == subject) for other in carried_out)
    return Severity.COSMETIC if goes_on else Severity.MAY_AFFECT_SCORE


def _subject(step: CheckedCall) -> str | None:
    """Return the reservation or order that a call changes, if any."""
    arguments = step.call.arguments
    return (arguments.get("reservation_id") or arguments.get("order_id")) if step.judgements else None


def _evidence(
    task: AgentTask, step: CheckedCall, judgement: RuleJudgement, outcome: RuleViolation
) -> Iterator[Evidence]:
    yield quote(task, step.pointer, note="the gold call")
    for sentence in judgement.cited:
        yield quote(task, "/environment/policy", text=sentence, note="the policy")
    yield from outcome.facts
