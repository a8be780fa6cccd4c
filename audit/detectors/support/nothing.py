"""What a run that does nothing (no call, an empty reply) gets from each check."""

from enum import Enum

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
