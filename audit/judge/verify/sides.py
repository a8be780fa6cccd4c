"""What an issue of each category has to quote: one side of the task, or both sides of a contradiction."""

from collections.abc import Sequence
from itertools import permutations

from agenthard.audit.judge.context.material import Part

Side = frozenset[Part]
"""Parts of the material, any of which will do."""

_USER: Side = frozenset({"user"})
_USER_OR_RUN: Side = frozenset({"user", "run"})
_PROMPTS: Side = frozenset({"user", "policy"})
_NEED: Side = frozenset({"user", "policy", "ground_truth"})
_REQUIREMENT: Side = frozenset({"user", "policy", "evaluation"})
_SHOWN: Side = frozenset({"user", "policy", "tools", "user_tools", "state"})
_DOCUMENTED: Side = frozenset({"tools", "user_tools"})
_DEMANDED: Side = frozenset({"ground_truth", "evaluation"})
_GOLD: Side = frozenset({"ground_truth"})
_RESPONSE: Side = frozenset({"replay", "run"})
_AGAINST_RESPONSE: Side = frozenset({"tools", "user_tools", "state", "ground_truth", "run"})
_AGAINST_GOLD: Side = frozenset(
    {"user", "policy", "tools", "user_tools", "state", "evaluation", "ground_truth", "replay", "run", "about"}
)
_ANY: Side = _AGAINST_GOLD | {"checks"}

_NAMES: dict[Side, str] = {
    _USER: "the user's text",
    _USER_OR_RUN: "the user's text or a run",
    _PROMPTS: "the policy or the user's text",
    _NEED: "what is needed: the user's text, the policy or the ground truth",
    _REQUIREMENT: "the requirement: the user's text, the policy or the evaluation",
    _SHOWN: "what the agent sees",
    _DOCUMENTED: "the documentation of a tool",
    _DEMANDED: "the ground truth or the evaluation",
    _GOLD: "the ground truth",
    _RESPONSE: "the response of a tool, in the replay or a run",
    _AGAINST_RESPONSE: "what the response contradicts",
    _AGAINST_GOLD: "what it contradicts",
    _ANY: "the task",
}

_SIDES: dict[str, tuple[Side, ...]] = {
    "ambiguous-instruction": (_USER,),
    "user-role-confusion": (_USER_OR_RUN,),
    "incorrect-tool-response": (_RESPONSE, _AGAINST_RESPONSE),
    "insufficient-toolset": (_NEED,),
    "misleading-tool-design": (_DOCUMENTED,),
    "incorrect-system-prompt": (_PROMPTS,),
    "too-lenient": (_DEMANDED,),
    "too-strict": (_DEMANDED,),
    "answer-leakage": (_SHOWN, _DEMANDED),
    "unscored-requirement": (_REQUIREMENT,),
    "unreachable-score": (_DEMANDED,),
    "malformed-tool-call": (_GOLD,),
    "incorrect-tool-call": (_GOLD, _AGAINST_GOLD),
    "redundant-tool-call": (_GOLD,),
    "wrong-expected-output": (_DEMANDED, _AGAINST_GOLD),
}
"""Two sides where the rule of the category is that one text contradicts, or gives away, another. What is missing cannot
be quoted, and neither can the schema that a call of an unknown tool breaks, so one side is enough there."""


def missing_side(category: str, quoted: Sequence[Part], gold_is_empty: bool) -> str | None:
    """Say which side of an issue is not quoted.

    Every side needs a quote of its own. Where the ground truth is empty, nothing of it can be quoted, and its side is
    not asked for.

    Args:
        category: id of the category; any one quote will do for one that is not listed here.
        quoted: parts that the different quotes of the issue stand in, one entry per quote.
        gold_is_empty: whether the ground truth has neither calls nor texts.

    Returns:
        What is missing, in words; None when nothing is.
    """
    sides = _SIDES.get(category, (_ANY,))
    if gold_is_empty:
        sides = tuple(side for side in sides if not side <= _DEMANDED) or (_ANY,)
    chosen = permutations(quoted, len(sides))
    if any(all(part in side for part, side in zip(parts, sides, strict=True)) for parts in chosen):
        return None
    alone = [side for side in sides if not any(part in side for part in quoted)]
    if alone:
        return f"no quote is of {_NAMES[alone[0]]}"
    return "only one side of the contradiction is quoted"
