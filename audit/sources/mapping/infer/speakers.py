"""Who speaks in a dialogue: system prompts apart from what is said, and speakers under names of the benchmark's own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agenthard.audit.sources.mapping.conversation import ROLES, SPEAKER_KEYS, TEXT_KEYS
from agenthard.audit.sources.mapping.infer.columns import Column, step
from agenthard.audit.sources.mapping.paths import structured

_CHAT = ("system", "developer", "user", "assistant", "tool", "function")
_SYSTEM = ("system", "developer")


@dataclass
class Speakers:
    """What the messages of a column say about who speaks."""

    turns: str | None = None
    """Path of the messages without those of the system; None when the column can be used as it is."""
    policy: str | None = None
    """Path of the first message of the system."""
    roles: dict[str, str] = field(default_factory=dict)
    """Roles of speakers that are not known by name."""


def speakers_of(column: Column) -> Speakers | None:
    """Look at who speaks in a column of flat lists of messages; None for any other column."""
    lists = [structured(value) for value in column.present]
    if not lists or not all(_is_flat(each) for each in lists):
        return None
    found = Speakers()
    items = [item for each in lists for item in each]
    key = next((key for key in SPEAKER_KEYS if key in items[0]), None)
    if key is None:
        return None
    names = list(dict.fromkeys(str(item.get(key)) for item in items))
    system = [name for name in names if name.lower() in _SYSTEM]
    first = all(str(item.get(key)) not in system for each in lists for item in each[1:])
    if system and len(names) > len(system) and first:
        text = next((key for key in TEXT_KEYS if key in items[0]), "content")
        which = " || ".join(f"{step(key)}=='{name}'" for name in system)
        found.turns = f"{column.path} | [?!({which})]"
        found.policy = f"{column.path} | [?{which}].{step(text)} | [0]"
    found.roles = _roles([name for name in names if name not in system])
    return found


def _is_flat(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, Mapping) for item in value)


def _role(name: str) -> str | None:
    lower = name.lower()
    return lower if lower in _CHAT else ROLES.get(lower)


def _roles(names: Sequence[str]) -> dict[str, str]:
    """Give unknown speakers the role that is left: the first who speaks is the user, everybody else the agent."""
    unknown = [name for name in names if _role(name) is None]
    # A role of chat completions in other letters (``User``) is not read by itself.
    roles: dict[str, str] = {name: name.lower() for name in names if name not in _CHAT and name.lower() in _CHAT}
    known = {_role(name) for name in names}
    for name in unknown:
        roles[name] = "user" if "user" not in known else "assistant"
        known.add(roles[name])
    return roles
