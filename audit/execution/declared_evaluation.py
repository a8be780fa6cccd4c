"""Scoring an attempt by the evaluation that a task declares, for benchmarks without code to execute.

The verdict is given only where it follows from the declaration. The outcome of a final state, an assertion, a rubric, a
judge, or a comparison of calls with its own conventions (a note on the check) is unknown. A run passes only when all
scored checks pass, so one known check that fails decides the verdict all the same.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import product
from typing import Any

from agenthard.audit.execution.environment import Attempt, UnavailableError, Verdict
from agenthard.taxonomy.accepted import alternatives, is_any_of, is_optional
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.task import AgentTask, Check, EvaluationSpec, GroundTruth, ToolCall

DECLARED_EVALUATION = "the evaluation that the task declares"
"""Name of this evaluator in proofs."""
_TURN = re.compile(r"/ground_truth/turns/(\d+)")
_CALL = re.compile(r"/ground_truth/turns/(\d+)/(\d+)")


class DeclaredEvaluation(Record):
    """The evaluation that a task declares: all that is needed to score an attempt, and far smaller than the task."""

    task_id: str
    """The task."""
    evaluation: EvaluationSpec
    """Its checks."""
    ground_truth: GroundTruth
    """Its ground truth."""
    traits: tuple[str, ...] = ()
    """Its conventions, sorted."""
    reads: tuple[str, ...] = ()
    """Tools that are documented to change nothing, as REQUESTOR NAME."""

    @classmethod
    def of(cls, task: AgentTask) -> "DeclaredEvaluation":
        """Extract what scoring needs from a task."""
        tools = (("assistant", task.environment.tools), ("user", task.environment.user_tools))
        reads = sorted(f"{who} {tool.name}" for who, offered in tools for tool in offered if tool.effect == "read")
        return cls(
            task_id=task.id,
            evaluation=task.evaluation,
            ground_truth=task.ground_truth,
            traits=tuple(sorted(task.traits)),
            reads=tuple(dict.fromkeys(reads)),
        )


def score(declared: DeclaredEvaluation, attempt: Attempt) -> Verdict:
    """Score an attempt as declared.

    Raises:
        UnavailableError: the verdict does not follow from the declaration.
    """
    if not declared.evaluation.checks:
        raise UnavailableError("nothing is known about the evaluation")
    parts: dict[str, bool] = {}
    unknown = ""
    for i, check in enumerate(declared.evaluation.checks):
        if check.scored:
            outcome = _outcome(declared, check, attempt)
            if outcome is None:
                unknown = unknown or f"what a scored {check.kind.replace('_', ' ')} check says is not declared"
            else:
                parts[f"check {i}"] = outcome
    if unknown and all(parts.values()):
        raise UnavailableError(f"the benchmark has no code to execute, and {unknown}")
    return Verdict(passed=all(parts.values()) and not unknown, parts=parts)


def _outcome(declared: DeclaredEvaluation, check: Check, attempt: Attempt) -> bool | None:
    """Return the outcome of a check; None when it is unknown."""
    if check.kind == "no_call":
        return not any(attempt.turns)
    if check.kind == "output_substring":
        return _says(check, attempt.replies)
    if check.kind == "tool_calls":
        return _calls(declared, check, attempt)
    if check.kind == "final_state" and check.expected is None:
        return True if _same_state(declared, attempt) else None
    return None


def _calls(declared: DeclaredEvaluation, check: Check, attempt: Attempt) -> bool | None:
    made = [call for turn in attempt.turns for call in turn]
    if "expects_any_call" in declared.traits:
        return bool(made)
    if check.note or check.expected is not None or declared.ground_truth.call_matching not in ("exact", "any_order"):
        return None
    gold = declared.ground_truth.turns
    if place := _CALL.fullmatch(check.pointer):
        [wanted] = [gold[int(place[1])][int(place[2])]]
        return any(_accepts(wanted, call) for call in made)
    place = _TURN.fullmatch(check.pointer)
    turns = [int(place[1])] if place else range(max(len(gold), len(attempt.turns)))
    return all(_turn_matches(declared, _at(gold, i), _at(attempt.turns, i)) for i in turns)


def _at(turns: Sequence[tuple[ToolCall, ...]], index: int) -> tuple[ToolCall, ...]:
    return turns[index] if index < len(turns) else ()


def _turn_matches(declared: DeclaredEvaluation, gold: Sequence[ToolCall], made: Sequence[ToolCall]) -> bool:
    free = "redundant_calls_free" in declared.traits
    if len(made) < len(gold) or (len(made) > len(gold) and not free):
        return False
    if declared.ground_truth.call_matching == "any_order":
        return _pairs_up([[j for j, call in enumerate(made) if _accepts(wanted, call)] for wanted in gold])
    left = iter(made)
    return all(any(_accepts(wanted, call) for call in left) for wanted in gold)


def _pairs_up(fitting: Sequence[Sequence[int]]) -> bool:
    """Tell whether each wanted call can have a made call of its own (bipartite matching by augmenting paths)."""
    taken: dict[int, int] = {}

    def place(wanted: int, tried: set[int]) -> bool:
        for made in fitting[wanted]:
            if made not in tried:
                tried.add(made)
                if made not in taken or place(taken[made], tried):
                    taken[made] = wanted
                    return True
        return False

    return all(place(wanted, set()) for wanted in range(len(fitting)))


def _accepts(gold: ToolCall, made: ToolCall) -> bool:
    named = bool(gold.name) and (gold.name, gold.requestor) == (made.name, made.requestor)
    return named and accepts(gold.arguments, made.arguments)


def accepts(gold: Any, given: Any) -> bool:
    """Tell whether a value of a ground truth, which may hold any-of nodes, accepts a given JSON value.

    >>> accepts({"a": {"$any_of": [1, 2], "$optional": True}}, {"a": 2})
    True
    >>> accepts({"a": {"$any_of": [1, 2], "$optional": True}}, {})
    True
    >>> accepts(1, True)
    False
    """
    if is_any_of(gold):
        return any(accepts(choice, given) for _, choice in alternatives(gold))
    if isinstance(gold, dict) and isinstance(given, dict):
        if given.keys() - gold.keys():
            return False
        return all(accepts(item, given[key]) if key in given else is_optional(item) for key, item in gold.items())
    if isinstance(gold, list) and isinstance(given, list):
        return len(gold) == len(given) and all(map(accepts, gold, given))
    return isinstance(gold, bool) == isinstance(given, bool) and bool(gold == given)


def _says(check: Check, replies: Sequence[str]) -> bool | None:
    """Search for a required text under each convention that the note allows; None when the outcomes differ."""
    wanted = check.expected if isinstance(check.expected, list) else [check.expected]
    if not wanted or not all(isinstance(text, str) for text in wanted):
        return None
    looked = list(replies[-1:]) if "final answer" in check.note or "last reply" in check.note else list(replies)
    if "begin or end" in check.note:
        return None
    found = {
        any(_found(normal(text), normal(reply), check.note) for text in wanted for reply in looked or [""])
        for normal in _normal_forms(check.note)
    }
    return found.pop() if len(found) == 1 else None


def _normal_forms(note: str) -> Iterable[Callable[[str], str]]:
    lower = (True,) if "lower case" in note or "case-insensitive" in note else (False, True)
    without_commas = (True,) if "comma" in note else (False, True)
    return [partial(_normal, lower=case, without_commas=commas) for case, commas in product(lower, without_commas)]


def _normal(text: str, *, lower: bool, without_commas: bool) -> str:
    text = text.lower() if lower else text
    return (text.replace(",", "") if without_commas else text).strip()


def _found(text: str, reply: str, note: str) -> bool:
    if "equal" in note:
        return text == reply
    if "whole words" in note:
        return re.search(rf"(?<!\w){re.escape(text)}(?!\w)", reply) is not None
    return text in reply


def _same_state(declared: DeclaredEvaluation, attempt: Attempt) -> bool:
    """Tell whether an attempt certainly leaves the same state as the ground truth."""
    gold = declared.ground_truth.turns
    turns = range(max(len(gold), len(attempt.turns)))
    if all(_plain(_at(gold, i)) == _plain(_at(attempt.turns, i)) for i in turns):
        return True
    if "unchecked_turns" in declared.traits:
        return False
    calls = (call for turn in (*gold, *attempt.turns) for call in turn)
    return all(f"{call.requestor} {call.name}" in declared.reads for call in calls)


def _plain(turn: Sequence[ToolCall]) -> list[tuple[str, str, dict[str, Any]]]:
    return [(call.requestor, call.name, call.arguments) for call in turn]
