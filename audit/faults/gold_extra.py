"""Redundant or ungrounded tool calls: a scored gold call, or a value of it, that follows from nothing."""

from random import Random
from typing import Any

from agenthard.audit.faults.editing import contains_word, known_text, peers, sites, with_gold, with_value
from agenthard.audit.faults.operator import Fault, Sound, operator
from agenthard.audit.faults.soundness import fits, replay_of_gold
from agenthard.taxonomy.task import ToolCall

_CATEGORY = "redundant-tool-call"
_ADDRESSES = ("kontor{}@example.org", "front.desk+{}@mail.example", "J.Abel{}@uni.example", "a_{}@posts.example")
_IDENTIFIERS = ("R{}", "Q-{}", "zz_{}", "{}/7", "#{}", "a0f{}be1")
_TRIES = 12
"""Other values that are tried per argument."""


@operator(_CATEGORY, "rules", "the replay shows that the state stays as it is", rule_known=True)
def repeated_write(sound: Sound, rng: Random) -> Fault | None:
    """Make a gold write twice, where the second changes nothing."""
    for site in [site for site in sites(sound.task, rng) if site.writes]:
        changed = with_gold(sound.task, site.turn, site.index, [site.call, site.call])
        after, twin = replay_of_gold(changed), f"/ground_truth/turns/{site.turn}/{site.index + 1}"
        if after and any(s.pointer == twin and not s.changed and not s.observation.error for s in after.steps):
            return Fault(
                task=changed,
                pointer=twin,
                after=site.call.model_dump(mode="json", exclude_defaults=True),
                claim=f"the second {site.call.name} changes nothing",
            )
    return None


@operator(_CATEGORY, "rules", "the replay without the call ends in the same state", rule_known=True)
def detour(sound: Sound, rng: Random) -> Fault | None:
    """Put another write before a gold write that overrules it."""
    task, before = sound.task, replay_of_gold(sound.task)
    if before is None:
        return None
    for site in [site for site in sites(task, rng) if site.writes]:
        for name, value in site.values():
            others = peers(task, value)
            for other in rng.sample(others, min(len(others), _TRIES)):
                first = site.call.model_copy(update={"arguments": {**site.call.arguments, name: other}})
                changed = with_gold(task, site.turn, site.index, [first, site.call])
                after = replay_of_gold(changed)
                if after is None or after.final != before.final or any(step.observation.error for step in after.steps):
                    continue
                if any(step.pointer == site.pointer and step.changed for step in after.steps):
                    return Fault(
                        task=changed,
                        pointer=site.pointer,
                        after=first.arguments,
                        claim=f"{site.call.name} is overruled by the call after it",
                    )
    return None


@operator(_CATEGORY, "rules", "no text, no tool and no state has the value", rule_known=True)
def value_from_nowhere(sound: Sound, rng: Random) -> Fault | None:
    """Fill an optional argument with an address or identifier that was not given."""
    task = sound.task
    for site in sites(task, rng):
        free = [name for name in site.properties if name not in site.call.arguments]
        for name in rng.sample(free, len(free)):
            value = _invented(name, site.properties[name], rng)
            if value is not None and fits(site.properties[name], value) and not contains_word(value, known_text(task)):
                return Fault(
                    task=with_value(task, site, name, value),
                    pointer=f"{site.pointer}/arguments/{name}",
                    after=value,
                    claim=f"{value} follows from nothing in the task",
                )
    return None


def _invented(name: str, schema: dict[str, Any], rng: Random) -> Any:
    number, words = rng.randrange(31_000, 97_000), name.lower().split("_")
    if schema.get("type") == "string" and not schema.keys() & {"enum", "pattern", "format"}:
        if "email" in words:
            return rng.choice(_ADDRESSES).format(number)
        if {"id", "code", "number", "reference", "password", "token"} & set(words):
            return rng.choice(_IDENTIFIERS).format(number)
    return None


@operator(_CATEGORY, "judge", "that the call was not asked for needs reading", rule_known=False)
def unasked_write(sound: Sound, rng: Random) -> Fault | None:
    """Add a gold write that the user did not ask for, made of values that other gold calls have."""
    task = sound.task
    found = sites(task, rng)
    values = {name: value for site in found for name, value in site.call.arguments.items()}
    used = {site.call.name for site in found}
    for tool in rng.sample(task.environment.tools, len(task.environment.tools)):
        required = tool.parameters.get("required", [])
        if tool.effect != "write" or tool.name in used or not required or not set(required) <= values.keys():
            continue
        site = max(found, key=lambda each: (each.turn, each.index))
        call = ToolCall(name=tool.name, arguments={name: values[name] for name in required})
        return Fault(
            task=with_gold(task, site.turn, site.index, [site.call, call]),
            pointer=f"/ground_truth/turns/{site.turn}/{site.index + 1}",
            after=call.model_dump(mode="json", exclude_defaults=True),
            claim=f"{tool.name} was not asked for",
        )
    return None
