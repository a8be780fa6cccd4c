"""A reading of a task as a concrete run, and its trial: documentation, replay, policy and evaluator.

A reading is what a person takes the user and the policy to want, written as calls and final words. Its trial asks four
things of code: could an agent make these calls from the documentation, does the environment carry them out from the
start state, does a rule of the policy forbid one, and what does the benchmark's evaluator say. Whether the reading is
what the user means, no trial can tell.
"""

from collections.abc import Iterator, Sequence

from agenthard.audit.detectors.ground_truth.call_schema import CallSchema
from agenthard.audit.execution.environment import Attempt, Environment
from agenthard.audit.execution.gold import environment_of, why_not_evaluated
from agenthard.audit.execution.policy.checker import check_calls, rules_for
from agenthard.audit.execution.policy.rule import CannotTell, RuleViolation
from agenthard.audit.execution.replay import Turns, gold_turns
from agenthard.audit.execution.state_diff import Difference, differences
from agenthard.audit.readings.records import GOLD, Reading, Trial, shown_call
from agenthard.taxonomy.finding import Severity
from agenthard.taxonomy.task import AgentTask

MOST_CHANGES = 40
"""Differing fields that a trial keeps."""


def gold_reading(task: AgentTask) -> Reading:
    """Return the ground truth as a reading."""
    return Reading(
        name=GOLD, meaning="the ground truth", turns=gold_turns(task), says=task.ground_truth.outputs, right=True
    )


def try_reading(task: AgentTask, reading: Reading) -> Trial:
    """Validate, replay, check and judge a reading.

    Raises:
        UnavailableError: the task or its evaluator cannot be executed here.
        ExecutionError: the environment broke.
    """
    environment = environment_of(task)
    required = reading.right and not reading.says and bool(task.ground_truth.outputs)
    if required:
        reading = reading.model_copy(update={"says": task.ground_truth.outputs})
    as_gold = with_gold(task, reading.turns)
    refused, changes, final = _replayed(task, environment, reading.turns)
    broken, undecided = _against_policy(as_gold, environment)
    verdict = environment.evaluate(task, Attempt(turns=reading.turns, replies=reading.says))
    return Trial(
        reading=reading,
        environment=environment.label(),
        undocumented=tuple(_undocumented(as_gold)),
        refused=refused,
        broken=broken,
        undecided=undecided,
        changes=tuple(changes[:MOST_CHANGES]),
        more=max(0, len(changes) - MOST_CHANGES),
        final=final,
        passed=verdict.passed,
        parts=verdict.parts,
        says_required=required,
    )


def why_no_trial(task: AgentTask) -> str | None:
    """Return why no reading of a task can be tried; None when one can.

    Raises:
        ExecutionError: the evaluator broke.
    """
    return why_not_evaluated(task)


def with_gold(task: AgentTask, turns: Turns) -> AgentTask:
    """Return a task whose ground truth are the calls of a reading, for what looks at ground truths only."""
    return task.model_copy(update={"ground_truth": task.ground_truth.model_copy(update={"turns": turns})})


def _undocumented(as_gold: AgentTask) -> Iterator[str]:
    if CallSchema().not_applicable(as_gold) is not None:
        return
    for hit in CallSchema().inspect(as_gold):
        if (hit.severity or CallSchema.severity) is not Severity.COSMETIC:
            yield hit.claim.replace("The gold call", "the call", 1).rstrip(".")


def _replayed(
    task: AgentTask, environment: Environment, turns: Turns
) -> tuple[tuple[str, ...], Sequence[Difference], str]:
    if task.ground_truth.call_matching != "state":
        return (), (), ""
    environment.reset(task)
    start = environment.snapshot()
    refused = []
    for call in (call for turn in turns for call in turn):
        response = environment.call(call)
        tool = task.tool(call.name, call.requestor)
        if response.error is not None and (tool is None or tool.effect != "read"):
            refused.append(f"{shown_call(call)}: {response.error[:200]}")
    return tuple(refused), differences(start, environment.snapshot(), task.environment.state), environment.state_hash()


def _against_policy(as_gold: AgentTask, environment: Environment) -> tuple[tuple[str, ...], tuple[str, ...]]:
    rules = rules_for(as_gold)
    if not rules or as_gold.ground_truth.call_matching != "state":
        return (), ()
    broken, undecided = [], []
    for step in check_calls(as_gold, environment, rules):
        for judgement in step.judgements:
            if isinstance(judgement.outcome, RuleViolation) and judgement.outcome.certain:
                broken.append(f"{judgement.rule}: {judgement.outcome.claim.replace('The ground truth', 'It')}")
            elif judgement.outcome is not None:
                because = judgement.outcome.reason if isinstance(judgement.outcome, CannotTell) else "not certain"
                undecided.append(f"{judgement.rule}: {because}")
    return tuple(broken), tuple(undecided)
