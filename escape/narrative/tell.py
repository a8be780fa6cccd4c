"""Writes the texts of a room: every source has a clue, every parameter a hint, and nothing else tells them apart.

Where a clue stands is drawn without regard to what needs it, decoys are told in the same sentences, and no text names
a part that is out of sight: hints go by signs, which a part bears when it is seen.
"""

from dataclasses import dataclass
from random import Random

from agenthard.escape.graph.skeleton import Skeleton
from agenthard.escape.narrative.themes import CUE_ADJECTIVES, CUE_NOUNS, THEMES, Theme
from agenthard.escape.ports import PHYSICAL
from agenthard.escape.room import Clue, Link, Mechanism, Param, Part, Room, Secret
from agenthard.escape.templates.template import Template
from agenthard.escape.templates.terminals import flag
from agenthard.escape.values import Filled

RATTLE = "Something rattles inside."
"""What a container with an item says of it."""


@dataclass(frozen=True)
class _Names:
    ids: tuple[str, ...]
    titles: tuple[str, ...]
    cues: tuple[str, ...]
    """One for each part, then one for each value that is told."""


def tell(skeleton: Skeleton, filled: Filled, id: str, theme: Theme, rng: Random) -> tuple[Room, Secret]:
    """Write a room.

    Args:
        skeleton: The graph.
        filled: Its values.
        id: Id of the room.
        theme: The theme.
        rng: Chance of names, places and wording.

    Returns:
        The public part and the private one.
    """
    nodes = range(len(skeleton.templates))
    names = _named(skeleton, len(filled.told), theme, rng)
    visible = [node for node in nodes if skeleton.template(node).trigger is None]
    clues = _placed(skeleton, filled, names, visible, rng)
    links = tuple(Link(names.ids[e.source], e.output, names.ids[e.target], e.input) for e in skeleton.edges)
    parts = [_part(skeleton, node, names, clues, links, theme, rng) for node in nodes]
    story = [theme.opening, *(_clue_sentence(clue, theme, rng) for clue in clues if not clue.place)]
    room = Room(
        id=id,
        nodes=len(parts),
        theme=theme.name,
        story="\n".join(story),
        parts=tuple(sorted(parts, key=lambda part: part.id)),
        visible=tuple(sorted(names.ids[node] for node in visible)),
    )
    mechanisms = {
        names.ids[node]: Mechanism(
            skeleton.templates[node], filled.inputs[node], filled.outputs[node], names.cues[node]
        )
        for node in nodes
    }
    answer = flag({**filled.inputs[0], "salt": filled.salt})
    return room, Secret(
        mechanisms=dict(sorted(mechanisms.items())),
        links=tuple(sorted(links, key=lambda link: (link.target, link.input))),
        clues=tuple(clues),
        files=filled.files.stored(),
        salt=filled.salt,
        answer=answer,
    )


def _named(skeleton: Skeleton, told: int, theme: Theme, rng: Random) -> _Names:
    count = len(skeleton.templates)
    numbers = rng.sample(range(1, max(count, 50) + 50), count)
    adjectives = rng.sample(theme.adjectives, len(theme.adjectives))
    titles: list[str] = []
    taken: set[str] = set()
    for node in range(count):
        noun = _noun(skeleton.template(node), theme, rng)
        title = next(t for a in (*adjectives, *CUE_ADJECTIVES) if (t := f"{a} {noun}") not in taken)
        taken.add(title)
        adjectives.append(adjectives.pop(0))
        titles.append(title)
    pairs = rng.sample(range(len(CUE_ADJECTIVES) * len(CUE_NOUNS)), count + told)
    cues = [f"{CUE_ADJECTIVES[at // len(CUE_NOUNS)]} {CUE_NOUNS[at % len(CUE_NOUNS)]}" for at in pairs]
    return _Names(tuple(f"part-{number:03d}" for number in numbers), tuple(titles), tuple(cues))


def _noun(template: Template, theme: Theme, rng: Random) -> str:
    if template.kind == "tool":
        return rng.choice(theme.machines)
    return rng.choice(theme.exits) if template.kind == "terminal" else template.base.replace("_", " ")


def _placed(skeleton: Skeleton, filled: Filled, names: _Names, visible: list[int], rng: Random) -> list[Clue]:
    """Draw for every value where it is told, from the same places with the same chance, and put them in any order."""
    places = ["", *(names.ids[node] for node in visible)]
    cues = names.cues[len(skeleton.templates) :]
    clues = [
        Clue(
            cue=cue,
            value=told.value,
            type=skeleton.template(told.node).input(told.input).type,
            place=rng.choice(places),
            target=names.ids[told.node],
            input=told.input,
            true=told.true,
        )
        for told, cue in zip(filled.told, cues, strict=True)
    ]
    rng.shuffle(clues)
    return clues


def _part(
    skeleton: Skeleton, node: int, names: _Names, clues: list[Clue], links: tuple[Link, ...], theme: Theme, rng: Random
) -> Part:
    template, id = skeleton.template(node), names.ids[node]
    feeds = {link.input: link for link in links if link.target == id}
    cues = {clue.input: clue.cue for clue in clues if clue.target == id and clue.true}
    cues |= {name: names.cues[names.ids.index(link.source)] for name, link in feeds.items()}
    lines = [f"It {template.about}."]
    for port in template.params:
        lines.append(rng.choice(theme.hints).format(input=port.name, cue=cues[port.name]))
    if any(port.type == "Item" for port in template.outputs):
        lines.append(RATTLE)
    lines += [_clue_sentence(clue, theme, rng) for clue in clues if clue.place == id]
    title = names.titles[node]
    article = "An" if title[0] in "aeiou" else "A"
    return Part(
        id=id,
        kind=template.kind,
        brief=f"{article} {title}, marked with the {names.cues[node]}.",
        detail="\n".join(lines),
        params=tuple(Param(port.name, port.type, port.about) for port in template.params),
        gives=tuple(Param(port.name, port.type, port.about) for port in template.outputs if port.type not in PHYSICAL),
    )


def _clue_sentence(clue: Clue, theme: Theme, rng: Random) -> str:
    return rng.choice(theme.clues).format(cue=clue.cue, value=clue.value)


def theme_for(index: int) -> Theme:
    """Return the theme of a room, so that themes are balanced within a size."""
    return THEMES[index % len(THEMES)]
