"""What a room offers to choose from, in the neutral layout of the shortcut probes, and nothing that a hint says.

Two kinds of choices: which of the told values of one shape is needed (the others are decoys), and which of the parts
that give the right type feeds a parameter. A probe that finds either above chance has found a give-away.
"""

import re
from typing import Any

from agenthard.escape.narrative.read import QUOTED
from agenthard.escape.room import Clue, Instance
from agenthard.escape.templates import find_template


def value_choices(instance: Instance) -> dict[str, Any]:
    """Return the choices between told values: one for each parameter whose value a text tells.

    Args:
        instance: The room.

    Returns:
        An object with ``kind``, ``group``, ``pool`` and ``sets``, as ``agenthard.audit.probes.read_scene`` reads it.
    """
    order = _reading_order(instance)
    groups: dict[tuple[str, str], list[Clue]] = {}
    for clue in instance.secret.clues:
        groups.setdefault((clue.target, clue.input), []).append(clue)
    sets = []
    for (target, input), clues in sorted(groups.items()):
        true = [clue for clue in clues if clue.true]
        if len(true) == 1 and len(clues) > 1:
            told = sorted(clues, key=lambda clue: order.get(clue.cue, 0))
            candidates = [_told(clue, order, instance) for clue in told]
            sets.append({"id": f"{target}.{input}", "candidates": candidates, "truth": true[0].cue})
    return {"kind": "values", "group": _group(instance), "pool": sorted(order, key=order.__getitem__), "sets": sets}


def part_choices(instance: Instance) -> dict[str, Any]:
    """Return the choices between parts: for each parameter that a part feeds, the parts that give its type."""
    gives = [
        (part, port.type)
        for part in instance.room.parts
        for port in part.gives
        if part.kind not in ("terminal", "item", "lock")
    ]
    sets = []
    for link in instance.secret.links:
        template = find_template(instance.secret.mechanisms[link.source].template)
        assert template is not None, "rooms are checked before they are probed"
        if link.input == "trigger" or template.kind != "tool":
            continue
        type = template.output(link.output).type
        # The part itself is offered too, so that every part of a type is offered equally often.
        candidates = {part.id: part for part, given in gives if given == type}
        if len(candidates) > 1:
            offered = [_part(instance, part.id) for part in candidates.values()]
            sets.append({"id": f"{link.target}.{link.input}", "candidates": offered, "truth": link.source})
    pool = [part.id for part in instance.room.parts]
    return {"kind": "parts", "group": _group(instance), "pool": pool, "sets": sets}


def _group(instance: Instance) -> str:
    return f"n = {instance.room.nodes}"


def _reading_order(instance: Instance) -> dict[str, int]:
    """The signs of told values in the order in which their sentences are read: the story, then parts by id."""
    cues = {clue.cue for clue in instance.secret.clues}
    text = "\n".join([instance.room.story, *(part.detail for part in instance.room.parts)])
    bare = QUOTED.sub("«»", text)
    found = [match.group(1) for match in re.finditer(r"\bthe ([a-z]+ [a-z]+)\b[^\n]*«", bare) if match.group(1) in cues]
    return {cue: at for at, cue in enumerate(dict.fromkeys(found))}


def _told(clue: Clue, order: dict[str, int], instance: Instance) -> dict[str, Any]:
    places = ["", *(part.id for part in instance.room.parts)]
    adjective, _, noun = clue.cue.partition(" ")
    return {
        "id": clue.cue,
        "value": clue.value[:40],
        "length": len(clue.value),
        "digits": sum(character.isdigit() for character in clue.value),
        "place": "story" if not clue.place else "part",
        "place_number": places.index(clue.place),
        "own_part": str(clue.place == clue.target),
        "position": order.get(clue.cue, -1),
        "adjective": adjective,
        "noun": noun,
        "cue_length": len(clue.cue),
    }


def _part(instance: Instance, id: str) -> dict[str, Any]:
    part = next(each for each in instance.room.parts if each.id == id)
    return {
        "id": id,
        "number": int(id.rpartition("-")[2]),
        "position": [each.id for each in instance.room.parts].index(id),
        "brief_length": len(part.brief),
        "wording": part.detail.split("\n")[-1].split(" ")[0],
    }
