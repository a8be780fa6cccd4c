"""The correct value in place of a wrong gold value, and runs that prove what the wrong one costs."""

import re
from collections.abc import Iterable
from typing import Any

from rapidfuzz.distance import OSA

from agenthard.audit.detectors.support.schema import Violation
from agenthard.audit.detectors.support.text import squash
from agenthard.audit.execution.attempts import OMITTED, attempt_of, gold_attempt, place_of, with_call, with_value
from agenthard.audit.execution.necessity import without
from agenthard.audit.execution.replay import gold_turns
from agenthard.audit.proof import wrongly_fails, wrongly_passes
from agenthard.taxonomy.accepted import ANY_OF
from agenthard.taxonomy.finding import Proof
from agenthard.taxonomy.pointer import join, resolve, split
from agenthard.taxonomy.task import AgentTask

Patch = tuple[dict[str, Any], ...]
"""A JSON Patch against the record of a task; empty when no change or several changes would do."""

_INTEGER = re.compile(r"-?(?:0|[1-9]\d{0,15})")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,15})(?:\.\d{1,15})?")
_DIGIT = re.compile(r"\d")
_SHORTEST_NAME = 4
_LONG_NAME = 10


def replace(pointer: str, value: Any) -> Patch:
    """Write a patch that puts a value in the place of another."""
    return ({"op": "replace", "path": pointer, "value": value},)


def leave_out(task: AgentTask, pointer: str) -> Patch:
    """Write a patch that leaves a gold call out; a turn's only call stays, for an empty turn means something else."""
    turn = resolve(task, pointer.rpartition("/")[0])
    return ({"op": "remove", "path": pointer},) if len(turn) > 1 else ()


def only_choice(task: AgentTask, pointer: str) -> bool:
    """Tell whether a value is the only one that is accepted in its place, at every depth."""
    tokens = split(pointer)
    lists = (join("", *tokens[: i + 1]) for i, token in enumerate(tokens) if token == ANY_OF)
    return all(len(resolve(task, accepted)) == 1 for accepted in lists)


def coerced(value: Any, type_name: Any) -> Any | None:
    """Return the equivalent value of a JSON type, or None.

    >>> coerced("5", "integer"), coerced("five", "integer"), coerced("true", "boolean"), coerced(5, "string")
    (5, None, True, '5')
    """
    if isinstance(value, str):
        if type_name == "integer" and _INTEGER.fullmatch(value):
            return int(value)
        if type_name == "number" and _NUMBER.fullmatch(value):
            return float(value) if "." in value else int(value)
        if type_name == "boolean" and value.lower() in ("true", "false"):
            return value.lower() == "true"
    if isinstance(value, int) and not isinstance(value, bool) and type_name == "string":
        return str(value)
    return None


def near_name(word: str, names: Iterable[str]) -> str | None:
    """Return the one name that a word misspells, or None when there is none or several.

    A name is near when it differs in case, blanks and punctuation only, or, with four characters or more, in one
    character (two from ten characters on).

    >>> near_name("getUser", ["get_user", "get_users"]), near_name("send_mail0", ["send_mail", "read_mail"])
    ('get_user', 'send_mail')
    """
    known = list(dict.fromkeys(names))
    same = [name for name in known if squash(name) == squash(word) != ""]
    most = 2 if len(word) >= _LONG_NAME else 1
    near = same or [name for name in known if OSA.distance(name, word, score_cutoff=most) <= most]
    if len(near) != 1 or (not same and min(len(word), len(near[0])) < _SHORTEST_NAME):
        return None
    return near[0]


def near_value(value: Any, allowed: Iterable[Any]) -> str | None:
    """Return the one allowed value that a text misspells, or None; a digit is never a slip of the pen.

    >>> near_value("Miles", ["miles", "km"]), near_value("openai", ["openapi", "all"])
    ('miles', 'openapi')
    >>> near_value("5 minutes", ["45 minutes", "1 hour"])
    """
    if not isinstance(value, str):
        return None
    digits = _DIGIT.findall(value)
    return near_name(value, [a for a in allowed if isinstance(a, str) and _DIGIT.findall(a) == digits])


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

    Where the right value cannot be told, so that there are several such runs or none, the claim is that the ground
    truth passes itself, with a call that the documentation forbids.

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
