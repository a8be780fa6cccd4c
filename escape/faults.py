"""Seeded faults of escape rooms: one operator for each way in which a room that was proved can come to be wrong.

Each changes the room as a careless editor or another version of a library would, and makes the task again of it.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random
from typing import Any

from agenthard.audit.faults.operator import Fault, Sound, operator
from agenthard.escape.audit_task import INSTANCE, task_of
from agenthard.escape.narrative.read import mark_of
from agenthard.escape.narrative.themes import CUE_ADJECTIVES, CUE_NOUNS, THEMES
from agenthard.escape.room import Clue, Instance, Link, Mechanism, Part
from agenthard.escape.storage import from_data
from agenthard.escape.templates import find_template
from agenthard.taxonomy.pointer import join, resolve

_WRONG, _AMBIGUOUS, _LEAK = "incorrect-tool-call", "ambiguous-instruction", "answer-leakage"
_UNREACHABLE, _LENIENT, _DRIFT = "unreachable-score", "too-lenient", "environment-drift"
_RUN = "the room is executed from its sources"
_READ = "the hint of every parameter is followed through all texts"
_ROOM = f"/metadata/{INSTANCE}"


def _instance(sound: Sound) -> Instance | None:
    """Return the room of a task; None for a task without one."""
    return from_data(sound.task.metadata[INSTANCE]) if INSTANCE in sound.task.metadata else None


def _fault(sound: Sound, changed: Instance, pointer: str, claim: str) -> Fault:
    """Make the task again of a changed room, whose certificate would no longer be about it."""
    task = task_of(sound.task.benchmark, sound.task.id, replace(changed, certificate=None), dict(sound.task.origins))
    before, after = (_at(each, f"{_ROOM}{pointer}") for each in (sound.task, task))
    return Fault(task=task, pointer=f"{_ROOM}{pointer}", before=before, after=after, claim=claim)


def _at(task: Any, pointer: str) -> Any:
    try:
        return resolve(task, pointer)
    except (KeyError, IndexError, LookupError, ValueError):
        return None


@operator(_WRONG, "rules", _RUN, rule_known=True)
def room_wrong_gold(sound: Sound, rng: Random) -> Fault | None:
    """Record another answer of a room than its exit gives: one character is another."""
    instance = _instance(sound)
    if instance is None:
        return None
    answer = instance.secret.answer
    at = rng.randrange(len("ESC-"), len(answer))
    other = rng.choice([each for each in "0123456789abcdef" if each != answer[at].lower()])
    wrong = f"{answer[:at]}{other.upper() if answer[at].isupper() else other}{answer[at + 1 :]}"
    changed = replace(instance, secret=replace(instance.secret, answer=wrong))
    return _fault(sound, changed, "/secret/answer", "the recorded answer is not what the exit gives")


@operator(_AMBIGUOUS, "rules", _READ, rule_known=True)
def room_missing_hint(sound: Sound, rng: Random) -> Fault | None:
    """Take the hint of a parameter out of a room's texts."""
    instance = _instance(sound)
    if instance is None:
        return None
    part = rng.choice([each for each in instance.room.parts if each.params])
    param = rng.choice(part.params).name
    kept = [line for line in part.detail.split("\n") if f"`{param}`" not in line]
    changed = _with_part(instance, replace(part, detail="\n".join(kept)))
    return _fault(sound, changed, _detail(instance, part.id), f"no text says what {param} of {part.id} needs")


@operator(_AMBIGUOUS, "rules", _READ, rule_known=True)
def room_two_sources_for_one_hint(sound: Sound, rng: Random) -> Fault | None:
    """Write the sign of a needed value to another told value of the room as well."""
    instance = _instance(sound)
    clues = () if instance is None else instance.secret.clues
    needed = [clue for clue in clues if clue.true]
    others = [clue for clue in clues if not clue.true]
    if instance is None or not needed or not others:
        return None
    true, other = rng.choice(needed), rng.choice(others)
    changed = _rewritten(instance, lambda text: text.replace(f"the {other.cue}", f"the {true.cue}"))
    pointer = _detail(instance, other.place) if other.place else "/room/story"
    return _fault(sound, changed, pointer, f"two values are marked with the {true.cue}")


@operator(_UNREACHABLE, "rules", "nothing in the graph opens the part", rule_known=True, also=(_WRONG,))
def room_unreachable_part(sound: Sound, rng: Random) -> Fault | None:
    """Lose the link by which opening a container brings a hidden part of the room into sight."""
    instance = _instance(sound)
    triggers = [] if instance is None else [link for link in instance.secret.links if link.input == "trigger"]
    if instance is None or not triggers:
        return None
    lost = rng.choice(triggers)
    links = tuple(link for link in instance.secret.links if link != lost)
    changed = replace(instance, secret=replace(instance.secret, links=links))
    return _fault(sound, changed, _detail(instance, lost.target), f"nothing makes {lost.target} appear")


@operator(_LEAK, "rules", "a text has the value word by word", rule_known=True)
def room_leaked_value(sound: Sound, rng: Random) -> Fault | None:
    """Tell in a text of the room what one has to use a part to get: an output, or the answer itself."""
    instance = _instance(sound)
    if instance is None:
        return None
    given = [value for id in _tools(instance) for value in instance.secret.mechanisms[id].outputs.values()]
    value = rng.choice([*(value for value in given if len(value) > 2), instance.secret.answer])
    theme = next(each for each in THEMES if each.name == instance.room.theme)
    line = rng.choice(theme.clues).format(cue=_free_sign(instance, rng), value=value)
    seen = [part for part in instance.room.parts if part.id in instance.room.visible]
    if rng.random() < 0.5 or not seen:
        changed = replace(instance, room=replace(instance.room, story=f"{instance.room.story}\n{line}"))
        return _fault(sound, changed, "/room/story", f"a text tells {value}")
    part = rng.choice(seen)
    changed = _with_part(instance, replace(part, detail=f"{part.detail}\n{line}"))
    return _fault(sound, changed, _detail(instance, part.id), f"a text tells {value}")


@operator(_LENIENT, "rules", "parts of the room no longer lead to the exit", rule_known=True, also=(_WRONG,))
def room_lenient_exit(sound: Sound, rng: Random) -> Fault | None:
    """Tell everything that the exit of a room needs in the story, so that nothing has to be solved to get out."""
    instance = _instance(sound)
    if instance is None or not instance.feeds(instance.exit) or instance.exit in instance.hidden:
        return None
    exit = next(part for part in instance.room.parts if part.id == instance.exit)
    inputs = instance.secret.mechanisms[exit.id].inputs
    theme = next(each for each in THEMES if each.name == instance.room.theme)
    story, lines, clues = instance.room.story, exit.detail.split("\n"), list(instance.secret.clues)
    used: set[str] = set()
    for name in instance.feeds(exit.id):
        sign = _free_sign(instance, rng, used)
        used.add(sign)
        story += "\n" + rng.choice(theme.clues).format(cue=sign, value=inputs[name])
        hint = rng.choice(theme.hints).format(input=name, cue=sign)
        lines = [hint if f"`{name}`" in line else line for line in lines]
        type = next(param.type for param in exit.params if param.name == name)
        clues.append(Clue(sign, inputs[name], type, "", exit.id, name, true=True))
    links = tuple(link for link in instance.secret.links if link.target != exit.id)
    changed = _with_part(instance, replace(exit, detail="\n".join(lines)))
    changed = replace(changed, room=replace(changed.room, story=story))
    changed = replace(changed, secret=replace(changed.secret, links=links, clues=tuple(clues)))
    return _fault(sound, changed, "/secret/answer", "the exit opens without anything having been solved")


@operator(_DRIFT, "rules", _RUN, rule_known=True, also=(_WRONG,))
def room_drifted_value(sound: Sound, rng: Random) -> Fault | None:
    """Record what a tool gave under another version of its library, consistently wherever the value is used."""
    instance = _instance(sound)
    if instance is None:
        return None
    tools = [id for id in _tools(instance) if id != instance.exit]
    if not tools:
        return None
    id = rng.choice(tools)
    name = rng.choice(sorted(instance.secret.mechanisms[id].outputs))
    drifted = _drifted(instance.secret.mechanisms[id].outputs[name], rng)
    mechanisms = dict(instance.secret.mechanisms)
    mechanisms[id] = _with(mechanisms[id], "outputs", name, drifted)
    for link in _fed_by(instance, id, name):
        mechanisms[link.target] = _with(mechanisms[link.target], "inputs", link.input, drifted)
    changed = replace(instance, secret=replace(instance.secret, mechanisms=mechanisms))
    pointer = join("/secret/mechanisms", id, "outputs", name)
    return _fault(sound, changed, pointer, f"{id} does not give what is recorded when it is executed")


OPERATORS = (
    room_wrong_gold,
    room_missing_hint,
    room_two_sources_for_one_hint,
    room_unreachable_part,
    room_leaked_value,
    room_lenient_exit,
    room_drifted_value,
)
"""All of them."""


def _drifted(value: str, rng: Random) -> str:
    """Return a value of the same shape, another in one digit, or else in one letter."""
    digits = [at for at, character in enumerate(value) if character in "0123456789"]
    letters = [at for at, character in enumerate(value) if "a" <= character <= "z"]
    at = rng.choice(digits or letters or [len(value) - 1])
    pool = "123456789" if digits else "abcdef"
    return value[:at] + rng.choice([each for each in pool if each != value[at]]) + value[at + 1 :]


def _tools(instance: Instance) -> list[str]:
    """Return the parts whose function computes something."""
    return [
        id
        for id, mechanism in instance.secret.mechanisms.items()
        if (template := find_template(mechanism.template)) is not None and template.kind in ("tool", "terminal")
    ]


def _fed_by(instance: Instance, id: str, output: str) -> Iterator[Link]:
    for link in instance.secret.links:
        if (link.source, link.output) == (id, output) and link.input != "trigger":
            yield link


def _with(mechanism: Mechanism, side: str, name: str, value: str) -> Mechanism:
    values = {**(mechanism.inputs if side == "inputs" else mechanism.outputs), name: value}
    return replace(mechanism, inputs=values) if side == "inputs" else replace(mechanism, outputs=values)


def _with_part(instance: Instance, part: Part) -> Instance:
    parts = tuple(part if each.id == part.id else each for each in instance.room.parts)
    return replace(instance, room=replace(instance.room, parts=parts))


def _rewritten(instance: Instance, change: Callable[[str], str]) -> Instance:
    """Change all texts of a room in the same way."""
    parts = tuple(replace(part, detail=change(part.detail)) for part in instance.room.parts)
    return replace(instance, room=replace(instance.room, story=change(instance.room.story), parts=parts))


def _detail(instance: Instance, id: str) -> str:
    return f"/room/parts/{[part.id for part in instance.room.parts].index(id)}/detail"


def _free_sign(instance: Instance, rng: Random, used: frozenset[str] | set[str] = frozenset()) -> str:
    """Return a sign that nothing in the room bears."""
    taken = {clue.cue for clue in instance.secret.clues} | {mark_of(part.brief) for part in instance.room.parts} | used
    return rng.choice([s for a in CUE_ADJECTIVES for n in CUE_NOUNS if (s := f"{a} {n}") not in taken])
