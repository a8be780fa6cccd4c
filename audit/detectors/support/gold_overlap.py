"""Whether two ground truths of the same task can both be met by one run."""

from collections.abc import Sequence
from typing import Any

from agenthard.audit.detectors.support.wording import squash
from agenthard.taxonomy.accepted import alternatives, is_any_of, is_optional
from agenthard.taxonomy.task import GroundTruth, ToolCall


def contradiction(a: GroundTruth, b: GroundTruth, traits_a: Sequence[str], traits_b: Sequence[str]) -> str | None:
    """Say why no run can meet both ground truths.

    Compared are: call against no call; required calls, paired so that each pair shares an accepted call; accepted
    final answers, of which one has to be shared. Calls that count only through the state they leave are not compared
    here: different calls can leave the same state.

    Args:
        a: one ground truth.
        b: the other.
        traits_a: traits of the one task.
        traits_b: traits of the other.

    Returns:
        The reason, or None when a run may meet both.
    """
    wants = (_wants(a, traits_a), _wants(b, traits_b))
    if "no call" in wants and set(wants) & {"a call", "calls"}:
        return "one wants no call at all, the other wants one"
    if wants == ("calls", "calls") and {a.call_matching, b.call_matching} <= {"exact", "any_order"}:
        return _calls_apart(_flat(a), _flat(b), ordered=a.call_matching == b.call_matching == "exact")
    if a.answers and b.answers and not {squash(text) for text in a.answers} & {squash(text) for text in b.answers}:
        return "no final answer is accepted by both"
    return None


def _wants(truth: GroundTruth, traits: Sequence[str]) -> str:
    if "expects_no_call" in traits:
        return "no call"
    if "expects_any_call" in traits:
        return "a call"
    return "calls" if truth.semantics == "required" and _flat(truth) else "nothing comparable"


def _flat(truth: GroundTruth) -> list[ToolCall]:
    return [call for turn in truth.turns for call in turn]


def _calls_apart(a: list[ToolCall], b: list[ToolCall], *, ordered: bool) -> str | None:
    if len(a) != len(b):
        return f"one wants {len(a)} calls, the other {len(b)}"
    if ordered:
        return next((reason for x, y in zip(a, b, strict=True) if (reason := _call_apart(x, y))), None)
    if sorted(call.name for call in a) != sorted(call.name for call in b):
        return "they call different tools"
    reasons = [[_call_apart(x, y) for y in b] for x in a]
    if _pairs_up(reasons):
        return None
    return next((row[0] for row in reasons if len(b) == 1), None) or "their calls cannot be paired"


def _pairs_up(reasons: list[list[str | None]]) -> bool:
    from scipy.optimize import linear_sum_assignment  # deferred: slow to import and rarely needed

    costs = [[0 if reason is None else 1 for reason in row] for row in reasons]
    rows, columns = linear_sum_assignment(costs)
    return all(costs[i][j] == 0 for i, j in zip(rows, columns, strict=True))


def _call_apart(a: ToolCall, b: ToolCall) -> str | None:
    if a.name != b.name:
        return f"one calls {a.name!r}, the other {b.name!r}"
    name = _member_apart(a.arguments, b.arguments)
    return None if name is None else f"no value of {name!r} of {a.name!r} is accepted by both"


def _member_apart(a: dict[str, Any], b: dict[str, Any]) -> str | None:
    for name in (*a, *(name for name in b if name not in a)):
        if name in a and name in b:
            if not _overlap(a[name], b[name]):
                return name
        elif not is_optional(a.get(name, b.get(name))):
            return name
    return None


def _overlap(a: Any, b: Any) -> bool:
    if is_any_of(a) or is_any_of(b):
        if is_optional(a) and is_optional(b):
            return True
        return any(_overlap(x, y) for _, x in alternatives(a) for _, y in alternatives(b))
    if isinstance(a, dict) and isinstance(b, dict):
        return _member_apart(a, b) is None
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(_overlap(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, str) and isinstance(b, str):
        return a == b or (squash(a) == squash(b) != "")
    return isinstance(a, bool) == isinstance(b, bool) and bool(a == b)
