"""Milestones that lead elsewhere than the final state that is expected of the same run."""

from collections.abc import Iterable, Iterator
from typing import Any

from rapidfuzz import process

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.milestone_values import Missed, missed_arguments, missed_quotes
from agenthard.audit.detectors.support.moved_amounts import Payment, unpaid
from agenthard.audit.evidence import quote
from agenthard.audit.execution.environment import Attempt, UnavailableError
from agenthard.audit.execution.gold import environment_of
from agenthard.audit.execution.replay import gold_turns
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.task import AgentTask


class MilestonesMissState(TaskDetector):
    """The parts of one answer agree: the milestones of a run, and the state that it has to leave.

    A benchmark may score a run by milestones, calls that it has to make in their order, and by its final state. The
    milestones are carried out as calls, from the initial state. Rules:

    1. every object that the expected state names is one that the environment has. A misnamed one is compared with
       nothing, so that whatever a run does there is right, or it is never met;
    2. where every milestone is carried out without an error, the evaluator accepts the state that they leave. A run
       that makes these calls and no others would be told that it passes all milestones and fails;
    3. where the expected state has a lower balance than the initial one, and new records with a total that name its
       owner, the balance has fallen by the sum of these totals;
    4. a text that a milestone gives, other than one that reads, is in the expected state where this has fields of that
       name, and what the user dictates in quotation marks is in the milestones or in the expected state.

    Flagged: milestones that delete the earliest message, where the expected state lacks the latest. An expected state
    of "ReminderAPI" where the class is called "ReminderApi". A balance that falls from 150 to 92 by an order of 68.
    Not flagged: milestones that leave out a login or a switch, without which one of them fails: they are not a whole
    path, and prove nothing.

    Wrong where the milestones leave out a call that changes the state and that none of them needs.
    """

    id = "milestones-miss-state"
    title = "milestones lead elsewhere than the expected state"
    version = "3"
    category = "incorrect-tool-call"
    severity = Severity.MAY_AFFECT_SCORE
    tier = Tier.SUSPECTED
    executes = True
    why = "Whoever follows the one part of the answer fails by the other."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why there is nothing to hold against each other, or why nothing can be executed; None when it can."""
        if task.ground_truth.semantics != "milestones" or not any(True for _ in task.gold_calls()):
            return "the ground truth is not a list of milestones"
        if _expected(task) is None:
            return "no final state is compared"
        try:
            environment_of(task)
        except UnavailableError as error:
            return str(error)
        return None

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield one hit per object that does not exist, and one when the milestones lead to another state."""
        environment, turns = environment_of(task), gold_turns(task)
        environment.reset(task)
        start = environment.snapshot()
        yield from (_unpaid(task, payment) for payment in unpaid(start, _expected(task)))
        yield from (_other_value(task, missed) for missed in missed_arguments(task, _expected(task)))
        yield from (_other_value(task, missed) for missed in missed_quotes(task, _expected(task)))
        done = environment.trace(task, [call for calls in turns for call in calls])
        misnamed = list(_misnamed(task, environment.snapshot()))
        yield from misnamed
        if misnamed or any(response.error is not None for response, _ in done.steps):
            return
        verdict = environment.evaluate(task, Attempt(turns=turns, replies=task.ground_truth.outputs))
        if not verdict.passed:
            differs = f": {verdict.reason}" if verdict.reason else ""
            yield Hit(
                claim="All milestones are carried out without an error, and the state that they leave is not the one "
                f"that is expected{differs}.",
                evidence=(
                    quote(task, "/ground_truth/turns", note="the milestones"),
                    quote(task, _place(task), note="the expected state"),
                ),
                fix="Correct the milestones or the expected state.",
            )


def _unpaid(task: AgentTask, payment: Payment) -> Hit:
    return Hit(
        claim=f"The expected state lowers the balance of {payment.owner!r} by {payment.fallen:g}, from "
        f"{payment.before:g} to {payment.after:g}, and its new records for {payment.owner!r} cost {payment.cost:g}.",
        evidence=(quote(task, _place(task), note="the expected state"),),
        fix="Correct the balance or the records.",
        category="unreachable-score",
    )


def _other_value(task: AgentTask, missed: Missed) -> Hit:
    claim = (
        f"The user dictates {missed.value!r}, which neither the milestones nor the expected state have."
        if missed.text
        else f"A milestone gives {missed.value!r}, and the expected state has other values in all fields of that name."
    )
    return Hit(
        claim=claim,
        evidence=(
            quote(task, missed.at, text=missed.text or None, note="the value"),
            quote(task, _place(task), note="the expected state"),
        ),
        fix="Let the parts of the answer agree.",
    )


def _place(task: AgentTask) -> str:
    checks = enumerate(task.evaluation.checks)
    return next((f"/evaluation/checks/{i}/expected" for i, check in checks if check.kind == "final_state"), "")


def _expected(task: AgentTask) -> Any:
    return next((check.expected for check in task.evaluation.checks if check.kind == "final_state"), None)


def _misnamed(task: AgentTask, snapshot: Any) -> Iterator[Hit]:
    expected = _expected(task)
    parts = expected if isinstance(expected, list) else [expected]
    named = [name for part in parts if isinstance(part, dict) for name in part]
    for name in dict.fromkeys(named):
        if isinstance(snapshot, dict) and snapshot and name not in snapshot:
            near = process.extractOne(name, list(snapshot))
            yield Hit(
                claim=f"The expected state names {name!r}, and the environment has no such object, only "
                f"{near[0]!r}: it is compared with nothing, or no run meets it.",
                evidence=(quote(task, _place(task), text=f'"{name}"', note="the expected state"),),
                fix=f"Write {near[0]!r}.",
                category="too-lenient",
            )
