"""Expected calls that are in the dialogue itself: in its last messages, or after each message of the user."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from agenthard.audit.sources.mapping.conversation import CALLERS, SPEAKER_KEYS, said_calls, speaker_role
from agenthard.audit.sources.mapping.infer.columns import Column, step
from agenthard.audit.sources.mapping.infer.roles import ROLES, Choice
from agenthard.audit.sources.mapping.paths import structured

_MOSTLY = 0.5
"""Share of the dialogues that must have calls."""


def gold_messages(column: Column) -> tuple[Choice, dict[str, Any]] | None:
    """Look for expected calls in a column of flat lists of messages.

    Args:
        column: what was chosen as what the user says.

    Returns:
        The choice for ``ground_truth.calls``, and what the mapping says about the user: the path of the messages
        without the gold, and whether each message of the user begins a turn, with the calls after it. None where the
        dialogues have no calls.
    """
    dialogues = [structured(value) for value in column.present]
    if not all(isinstance(each, list) and all(isinstance(item, Mapping) for item in each) for each in dialogues):
        return None
    called = [each for each in dialogues if any(map(said_calls, each))]
    key = next((key for key in SPEAKER_KEYS if called and key in called[0][0]), None)
    if key is None or len(called) <= _MOSTLY * len(dialogues):
        return None
    names = dict.fromkeys(str(item.get(key)) for each in dialogues for item in each)
    users = [name for name in names if speaker_role(name) == "user"]
    agents = [name for name in names if speaker_role(name) == "assistant" and name.lower() not in CALLERS]
    if not users:
        return None
    said, per_message = _one_of(key, users), False
    if any(sum(str(item.get(key)) in users for item in each) > 1 for each in dialogues):
        per_message = not all(_answers_once(each, key, users) for each in dialogues)
        if agents and not per_message:
            said = f"{said} || (({_one_of(key, agents)}) && !tool_calls && !function_call)"
    role = next(role for role in ROLES if role.key == "ground_truth.calls")
    calls = tuple(value if value and any(map(said_calls, structured(value))) else None for value in column.values)
    user: dict[str, Any] = {"turns": f"{column.path}[?{said}]"}
    if per_message:
        user["turn_per_user_message"] = True
    return Choice(role, Column(column.path, column.keys, calls), 1.0, ()), user


def _answers_once(dialogue: Sequence[Mapping[str, Any]], key: str, users: Sequence[str]) -> bool:
    """Tell whether all calls come after the last message of the user, and nothing else is said there."""
    last = max((i for i, item in enumerate(dialogue) if str(item.get(key)) in users), default=-1)
    after = [item for item in dialogue[last + 1 :] if speaker_role(str(item.get(key))) == "assistant"]
    return not any(map(said_calls, dialogue[: last + 1])) and all(map(said_calls, after))


def _one_of(key: str, names: Sequence[str]) -> str:
    return " || ".join(f"{step(key)}==`{json.dumps(name)}`" for name in names)
