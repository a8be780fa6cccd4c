"""Check: the same task with ground truths that exclude each other."""

from collections.abc import Iterator, Sequence
from typing import Any

from agenthard.audit.detectors.base import Conclusion, Hit, Observation, SuiteDetector, Undecided
from agenthard.audit.detectors.support.conflicts import conflict, named
from agenthard.audit.detectors.support.same_task import COMPARED, contradicts, group_cause, groups, observe_task
from agenthard.audit.execution.replay import concrete
from agenthard.audit.proof import declaration
from agenthard.taxonomy.finding import Proof, Severity, Tier
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

_BY_STATE = "which count only through the state they leave; whether the states differ shows when they are run"


class ConflictingGold(SuiteDetector):
    """The same task never has two ground truths that no run can meet both.

    Two tasks are the same when the user's words, the tools, the policy and the state are equal. Their ground truths
    exclude each other when one wants no call and the other wants one; when required calls cannot be paired so that
    each pair shares an accepted call (strings are compared without regard to case and punctuation, a value that may be
    left out agrees with its absence); or when no final answer is accepted by both.

    Flagged: the same request with the same tool, once with the gold ``unit="metric"``, once with ``unit="imperial"``.

    Confirmed where the evaluation that a task declares fails the run that the other's ground truth describes; where the
    benchmark has code of its own that decides, it is suspected.

    Not flagged: golds that differ but share an accepted call; variants of one base task, whose golds differ by design.
    Same tasks with different calls that count only through the state they leave are not decided here, because
    different calls can leave the same state.
    """

    id = "conflicting-gold"
    title = "The same task with incompatible ground truths"
    version = "2"
    category = "duplicate-or-conflicting-task"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.CONFIRMED
    why = "The agent sees the same input, so it cannot know which of the two ground truths is meant: one is wrong."

    def not_applicable(self, task: AgentTask) -> str | None:
        """A task without a word of the user, or without a ground truth, cannot be compared."""
        if next(task.user_texts(), None) is None:
            return "the user says nothing"
        truth = task.ground_truth
        if not any(truth.turns) and not truth.answers and not task.traits & {"expects_no_call", "expects_any_call"}:
            return "no ground truth to compare"
        return None

    def observe(self, task: AgentTask, runs: Iterator[Trajectory]) -> Iterator[Observation]:
        """Note what makes the task, and its ground truth."""
        known = declaration(task)
        for item in observe_task(task):
            yield item.model_copy(update={"declared": known})

    def shared_keys(self, observation: Observation) -> tuple[str, ...]:
        """Only same tasks are compared."""
        return (observation.key,)

    def conclude(self, observations: Sequence[Observation]) -> Iterator[Conclusion | Undecided]:
        """Yield a hit, or a note that it is undecided, per group of same tasks whose ground truths differ."""
        for members in groups(observations):
            yield from _conflict(members)
            yield from _undecided(members)


def _conflict(members: Sequence[Observation]) -> Iterator[Conclusion]:
    found = conflict(members, contradicts, *COMPARED)
    if found is None:
        return
    kept, first, second, why = found
    ids = tuple(member.task_id for member in kept)
    yield Conclusion(
        task_ids=ids,
        hit=Hit(
            claim=f"{named(ids)} are the same task with ground truths that exclude each other: {why}.",
            evidence=(*first.evidence, *second.evidence),
            fix="Decide which ground truth is right and use it for all, or change what one of the tasks asks.",
            cause=group_cause("conflict", kept),
            proof=_proof(first, second),
        ),
    )


def _proof(first: Observation, second: Observation) -> Proof | None:
    """Claim that the run that the one ground truth describes fails the other."""
    if first.declared is None:
        return None
    truth = first.declared.ground_truth
    turns = tuple(tuple(map(concrete, turn)) for turn in truth.turns)
    return Proof(
        task_id=second.task_id,
        kind="constructed",
        turns=turns,
        replies=(*truth.outputs, *truth.answers[:1]),
        passes=False,
        should_pass=True,
        evaluator="",
    )


def _undecided(members: Sequence[Observation]) -> Iterator[Undecided]:
    unlike = [member.task_id for member in members if _differs_by_state(member, members[0])]
    if unlike:
        ids = (members[0].task_id, *unlike)
        yield Undecided(task_ids=ids, reason=f"{named(ids)} are the same task with different gold calls, {_BY_STATE}")


def _differs_by_state(a: Observation, b: Observation) -> bool:
    one, other = a.value["ground_truth"], b.value["ground_truth"]
    by_state = {one["call_matching"], other["call_matching"]} == {"state"}
    return by_state and [_calls(turn) for turn in one["turns"]] != [_calls(turn) for turn in other["turns"]]


def _calls(turn: list[dict[str, Any]]) -> list[tuple[str, Any]]:
    return [(call["name"], call["arguments"]) for call in turn]
