"""An agent that is given the private part, and weaknesses of known size: each moves one diagnostic."""

from dataclasses import dataclass, fields
from math import exp
from typing import Any

from agenthard.escape.agents.explorer import Call, Explorer
from agenthard.escape.room import Instance


@dataclass(frozen=True, slots=True)
class Noise:
    """Weaknesses, each with a probability from 0 to 1 per use, unless it says otherwise."""

    forgetting: float = 0.0
    """Rate per call at which a value fades after it was last seen; another value is then used in its place."""
    wrong_wire: float = 0.0
    """Another known value of the same type is given to a parameter."""
    premature: float = 0.0
    """A part is used before what it depends on is resolved."""
    omit: float = 0.0
    """A parameter is left out."""
    wrong_type: float = 0.0
    """A parameter gets something that is not of its type."""
    invented: float = 0.0
    """The id of the part is misspelt."""
    malformed: float = 0.0
    """The parameters are not an object."""
    repeat: float = 0.0
    """A part that is resolved is used again."""
    give_up: float = 0.0
    """The agent gives up, in each turn."""
    stubborn: float = 0.0
    """A use that was not the right one is repeated as it was until the end."""


KNOBS = tuple(each.name for each in fields(Noise))


class Oracle:
    """Plays a room knowing its graph and values."""

    def __init__(self, explorer: Explorer, instance: Instance, noise: Noise) -> None:
        """Prepare to play.

        Args:
            explorer: The agent in the room.
            instance: The whole room.
            noise: The weaknesses.
        """
        self._explorer = explorer
        self._instance = instance
        self._noise = noise
        self._calls = 0
        self._seen: dict[str, int] = {}
        self._stuck: dict[str, Call] = {}
        self._types = {(part.id, param.name): param.type for part in instance.room.parts for param in part.params}

    def play(self) -> None:
        """Look at what is in sight, use what is ready, and submit."""
        explorer = self._explorer
        while True:
            explorer.submit_if_found()
            if self._happens(self._noise.give_up):
                explorer.turn([("give_up", {"reason": "that is enough"})])
            self._calls += sum(not part.looked for part in explorer.parts.values())
            looked = explorer.look_around()
            waiting = list(explorer.usable())
            ready = [id for id in waiting if all(map(self._resolved, self._sources(id)))]
            early = [id for id in waiting if id not in ready]
            calls = [call for id in ready for call in self._use(id)]
            calls += [self._plain(id) for id in early if self._happens(self._noise.premature)]
            tools = [id for id, part in explorer.parts.items() if part.resolved and part.kind != "item"]
            if tools and self._happens(self._noise.repeat):
                calls.append(self._plain(explorer.rng.choice(tools)))
            self._calls += len(calls)
            if not calls and not looked and not early:
                explorer.turn([("give_up", {"reason": "nothing can be used"})])
            explorer.turn(calls)

    def _resolved(self, id: str) -> bool:
        return id in self._explorer.parts and self._explorer.parts[id].resolved

    def _sources(self, id: str) -> list[str]:
        return [link.source for link in self._instance.feeds(id).values()]

    def _right(self, id: str) -> dict[str, Any]:
        return dict(self._instance.secret.mechanisms[id].inputs)

    def _plain(self, id: str) -> Call:
        """A use of a part with the values that belong to it as far as they are known, and others where they are not."""
        part, feeds = self._explorer.parts[id], self._instance.feeds(id)
        params = self._right(id)
        for name, link in feeds.items():
            if not self._resolved(link.source):
                params[name] = self._other(id, name, params[name])
        return part.call, {"node_id": id, "params": params}

    def _use(self, id: str) -> list[Call]:
        if id in self._stuck:
            return [self._stuck[id]]
        plain = self._explorer.parts[id].call, {"node_id": id, "params": self._right(id)}
        call = self._noisy(id)
        if call != plain and self._happens(self._noise.stubborn):
            self._stuck[id] = call
        return [call]

    def _noisy(self, id: str) -> Call:
        noise, params = self._noise, self._right(id)
        call = self._explorer.parts[id].call
        for name in list(params):
            faded = self._happens(1 - exp(-noise.forgetting * self._since(id, name)))
            if faded or self._happens(noise.wrong_wire):
                params[name] = self._other(id, name, params[name])
        chosen = self._explorer.rng.choice(sorted(params)) if params else ""
        if self._happens(noise.omit):
            params.pop(chosen)
        elif self._happens(noise.wrong_type):
            params[chosen] = None
        if self._happens(noise.malformed):
            return call, {"node_id": id, "params": list(params.values())}
        if self._happens(noise.invented):
            return call, {"node_id": f"{id}0", "params": params}
        return call, {"node_id": id, "params": params}

    def _since(self, id: str, name: str) -> int:
        """Calls since a value was last seen; having been looked at again, it is fresh."""
        key = f"{id}/{name}"
        last = self._seen.setdefault(key, max(0, self._calls - len(self._explorer.parts)))
        self._seen[key] = self._calls
        return self._calls - last

    def _other(self, id: str, name: str, value: str) -> str:
        type = next(
            p.type for part in self._instance.room.parts if part.id == id for p in part.params if p.name == name
        )
        others = [each for each in self._explorer.pool(type) if each != value]
        return self._explorer.rng.choice(others) if others else value

    def _happens(self, probability: float) -> bool:
        return probability > 0 and self._explorer.rng.random() < probability
