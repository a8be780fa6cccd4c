"""A run that does nothing: what each check makes of it, and why the ground truth may want it."""

import re
from dataclasses import dataclass
from enum import Enum
from typing import Literal

from agenthard.audit.detectors.support.task_texts import asked_figures, sentence_at
from agenthard.audit.evidence import canonical_json, quote
from agenthard.taxonomy.finding import Evidence
from agenthard.taxonomy.task import AgentTask, Check, ToolCall


class Outcome(Enum):
    """How a check judges a run that does nothing."""

    PASSES = "passes"
    FAILS = "fails"
    UNKNOWN = "unknown"


def outcome(task: AgentTask, check: Check) -> tuple[Outcome, str]:
    """Tell how ``check`` judges a run of ``task`` that does nothing, with the reason.

    A final state is reached by doing nothing when no gold call can change it. Where turns are scored one by one
    (trait ``unchecked_turns``), what the gold calls return is wanted as well, so a turn with gold calls is never
    passed without a call. Assertions on the state, rubrics and judges need a run.
    """
    if check.kind == "no_call":
        return Outcome.PASSES, "no call is wanted"
    if check.kind == "output_substring":
        return _output(check)
    if check.kind not in ("tool_calls", "final_state"):
        kind = check.kind.replace("_", " ")
        return Outcome.UNKNOWN, f"a scored {kind} can only be judged by running the environment"
    if check.kind == "tool_calls" and "expects_any_call" in task.traits:
        return Outcome.FAILS, "some call is wanted"
    calls = _gold(task, check)
    if not calls:
        return Outcome.PASSES, "the ground truth has no call"
    if check.kind == "tool_calls" or "unchecked_turns" in task.traits:
        return Outcome.FAILS, "the calls of the ground truth, or what they return, are wanted"
    effects = {call.name: _effect(task, call) for call in calls}
    if "write" in effects.values():
        return Outcome.FAILS, "the ground truth changes the state"
    unknown = sorted(name for name, effect in effects.items() if effect == "unknown")
    if unknown:
        return Outcome.UNKNOWN, f"it is not known whether {', '.join(unknown)} changes the state"
    return Outcome.PASSES, "no call of the ground truth changes the state"


def _output(check: Check) -> tuple[Outcome, str]:
    accepted = check.expected if isinstance(check.expected, list) else [check.expected]
    if any(isinstance(text, str) and not text.strip() for text in accepted):
        return Outcome.PASSES, "an empty text is part of any reply"
    return Outcome.FAILS, "a text is wanted that an empty reply does not contain"


def _gold(task: AgentTask, check: Check) -> list[ToolCall]:
    prefix = "/ground_truth/turns"
    within = check.pointer if check.pointer.startswith(prefix) else prefix
    return [call for pointer, call in task.gold_calls() if pointer == within or pointer.startswith(f"{within}/")]


def _effect(task: AgentTask, call: ToolCall) -> str:
    tool = task.tool(call.name, call.requestor)
    return "unknown" if tool is None else tool.effect


Reading = Literal["hand-over", "told not to", "figure", "own condition", "fallback", "refusal", "unclear"]

_HAND_OVER = re.compile(
    r"^(?:transfer|escalate|hand_?(?:over|off)).*(?:human|agent|operator|person|support|supervisor)", re.IGNORECASE
)
_NOT_DONE = re.compile(
    r"\b(?:(?:should|must|does|do|can|could|will) ?(?:not|n['’]t)|cannot|refus\w*|den(?:y|ies)|not (?:allowed|possible)"
    r"|isn['’]t allowed)\b",
    re.IGNORECASE,
)
_OWN_CONDITION = re.compile(
    r"\b(?:decide to (?:just )?keep|(?:do not|don['’]t) make any changes?|no cancell?ation at all"
    r"|only (?:go ahead|proceed)[^.\n]{0,80} if|(?:less|more) than \$\d+|up ?to \$\d+|budget of \$\d+)",
    re.IGNORECASE,
)
_FALLBACK = re.compile(
    r"(?<!even )\bif\b[^.\n]{0,80}\b(?:not|cannot|can['’]t|refuses?|isn['’]t|basic economy)\b[^.\n]{0,60},\s*(?:then )?"
    r"(?:you (?:want|are (?:willing|ok|okay|fine)|would)|try|ask to)\b",
    re.IGNORECASE,
)
_ACTS = ("compensat", "exchang", "cancel", "remov", "chang", "modif", "return", "upgrad", "refund", "add")
"""Stems of what customers ask for, the more telling first."""
_RESTRICTS = re.compile(
    r"\b(?:cannot|can ?not|can't|only if|can only|must not|may not|do(?:es)? not|not allowed|not possible|strict)\b",
    re.IGNORECASE,
)
_TOOLS = re.compile(r"\btools?\b", re.IGNORECASE)
_WORD = re.compile(r"[A-Za-z]{4,}")


@dataclass(frozen=True)
class Why:
    """One reason why nothing has to change, with its passages."""

    reading: Reading
    """Which reading."""
    evidence: tuple[Evidence, ...]
    """The passages that lead to it."""


def why_nothing_changes(task: AgentTask) -> Why:
    """Read from the task's own texts why its ground truth changes nothing."""
    for reading in (_hand_over, _figure, _told_not_to, _own_condition, _fallback, _refusal):
        found = reading(task)
        if found:
            return found
    return Why("unclear", _requests(task))


def _hand_over(task: AgentTask) -> Why | None:
    for pointer, call in task.gold_calls():
        if _HAND_OVER.search(call.name):
            return Why("hand-over", (quote(task, f"{pointer}/name", note="no check looks for this call"),))
    return None


def _told_not_to(task: AgentTask) -> Why | None:
    for i, check in enumerate(task.evaluation.checks):
        if not check.scored and isinstance(check.expected, str) and _NOT_DONE.search(check.expected):
            note = "a criterion of the task, which no code scores"
            return Why("told not to", (quote(task, f"/evaluation/checks/{i}/expected", note=note),))
    for key in ("description", "purpose"):
        text = canonical_json(task.metadata.get(key, ""))
        found = _NOT_DONE.search(text)
        if found:
            return Why("told not to", (quote(task, f"/metadata/{key}", note="what the task states as its purpose"),))
    return None


def _figure(task: AgentTask) -> Why | None:
    for pointer, text in task.user_texts():
        for sentence in asked_figures(text):
            return Why("figure", (quote(task, pointer, text=sentence, note="the user wants to be told"),))
    return None


def _own_condition(task: AgentTask) -> Why | None:
    return _passage(task, _OWN_CONDITION, "own condition", "the user's own condition")


def _fallback(task: AgentTask) -> Why | None:
    return _passage(task, _FALLBACK, "fallback", "what the user wants in case of a refusal")


def _passage(task: AgentTask, pattern: re.Pattern[str], reading: Reading, note: str) -> Why | None:
    for pointer, text in task.user_texts():
        found = pattern.search(text)
        if found:
            return Why(reading, (quote(task, pointer, text=sentence_at(text, found.start()), note=note),))
    return None


def _refusal(task: AgentTask) -> Why | None:
    policy = task.environment.policy.splitlines()
    lines = [line for line in policy if _RESTRICTS.search(line) and not _TOOLS.search(line)]
    for act in _ACTS:
        pattern = re.compile(rf"\b{act}", re.IGNORECASE)
        rules = [line.strip() for line in lines if pattern.search(line)]
        for pointer, text in task.user_texts():
            found = pattern.search(text)
            if rules and found:
                request = sentence_at(text, found.start())
                shared = [len(_stems(request) & _stems(rule)) for rule in rules]
                nearest = [rule for rule, count in zip(rules, shared, strict=True) if count == max(shared)]
                asked = quote(task, pointer, text=request, note="what the user asks for")
                restricting = [quote(task, "/environment/policy", text=r, note="what restricts it") for r in nearest]
                return Why("refusal", (asked, *restricting))
    return None


def _stems(text: str) -> set[str]:
    return {word[:5].lower() for word in _WORD.findall(text)}


def _requests(task: AgentTask) -> tuple[Evidence, ...]:
    pointer, text = next(task.user_texts(), ("/id", task.id))
    return (quote(task, pointer, text=text[:300], note="what the user is told to want"),)
