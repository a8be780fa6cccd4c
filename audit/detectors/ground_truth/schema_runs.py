"""Runs that show what a gold call costs that an agent cannot make from the documentation."""

from agenthard.audit.detectors.support.minimal_fix import coerced, near_name, near_value
from agenthard.audit.detectors.support.schema_fit import Violation
from agenthard.audit.execution.attempts import OMITTED, attempt_of, gold_attempt, place_of, with_call, with_value
from agenthard.audit.execution.necessity import without
from agenthard.audit.execution.replay import gold_turns
from agenthard.audit.proof import wrongly_fails, wrongly_passes
from agenthard.taxonomy.finding import Proof
from agenthard.taxonomy.pointer import split
from agenthard.taxonomy.task import AgentTask


def without_call(task: AgentTask, pointer: str) -> Proof:
    """Claim that a run fails which makes every call of the ground truth but one that no agent can make."""
    return wrongly_fails(task, attempt_of(task, without(gold_turns(task), *place_of(pointer))))


def renamed(task: AgentTask, pointer: str, name: str) -> Proof:
    """Claim that a run fails which calls the tool that is meant by the name that it has."""
    return wrongly_fails(task, attempt_of(task, with_call(gold_turns(task), place_of(pointer), name=name)))


def moved(task: AgentTask, pointer: str, turn: int) -> Proof:
    """Claim that a run fails which makes a call as soon as its tool is there: first thing in a later turn."""
    turns, at = gold_turns(task), place_of(pointer)
    left = [*without(turns, *at), *((),) * (turn + 1 - len(turns))]
    left[turn] = (turns[at[0]][at[1]], *left[turn])
    return wrongly_fails(task, attempt_of(task, tuple(left)))


def as_documented(task: AgentTask, pointer: str, violation: Violation) -> Proof:
    """Claim that the run fails that differs from the ground truth in what the documentation demands.

    Where there is no one such run, because the right value cannot be told, the claim is that the ground truth passes
    itself, with a call that the documentation forbids.

    Args:
        task: the task.
        pointer: JSON Pointer to the gold value.
        violation: what breaks the documentation.
    """
    attempt = None
    if violation.keyword == "type" and (meant := coerced(violation.value, violation.expected)) is not None:
        attempt = with_value(task, pointer, meant)
    elif violation.keyword == "enum" and (named := near_value(violation.value, violation.expected)):
        attempt = with_value(task, pointer, named)
    elif violation.keyword == "additionalProperties":
        place = place_of(pointer)
        given = gold_turns(task)[place[0]][place[1]].arguments
        name = near_name(violation.name, [name for name in violation.expected if name not in given])
        if name and violation.name in given and len(split(violation.value_at)) == 1:
            named_right = {name if key == violation.name else key: value for key, value in given.items()}
            attempt = attempt_of(task, with_call(gold_turns(task), place, arguments=named_right))
        else:
            attempt = with_value(task, pointer, OMITTED)
    return wrongly_passes(task, gold_attempt(task)) if attempt is None else wrongly_fails(task, attempt)
