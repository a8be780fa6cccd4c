"""A reader without a key: it knows neither the signs nor the sentences that rooms are told with, only words.

A hint is the sentence that names a parameter. It is taken to mean the told value, or the part in sight, whose own
sentence shares the rarest words with it. The reader may be wrong, and does not search: it has one reading of each
hint, which changes only with what it reads later.
"""

import re
from collections import Counter
from collections.abc import Iterable

from agenthard.escape.agents.explorer import Call, Explorer
from agenthard.escape.ports import PortType, WrongTypeError, canonical

_TOLD = re.compile(r"«(.*?)»", re.DOTALL)
_WORD = re.compile(r"[a-z]+")


class Reader:
    """One reader in one room."""

    def __init__(self, explorer: Explorer) -> None:
        """Begin with the story."""
        self._explorer = explorer
        self._read: set[str] = set()
        self._told: list[tuple[frozenset[str], str]] = []
        self._frequency: Counter[str] = Counter()

    def play(self) -> None:
        """Look at everything, use what every hint has a reading for, and stop when reading leads no further."""
        explorer = self._explorer
        made: set[tuple[str, tuple[str, ...]]] = set()
        while True:
            explorer.submit_if_found()
            looked = explorer.look_around()
            self._take_in(explorer.texts())
            calls: list[Call] = []
            for id in explorer.usable():
                params = self._reading(id)
                key = id, tuple(params.values())
                if params.keys() == explorer.parts[id].params.keys() and key not in made:
                    made.add(key)
                    calls.append((explorer.parts[id].call, {"node_id": id, "params": params}))
            if not calls and not looked:
                explorer.turn([("give_up", {"reason": "the hints lead no further"})])
            explorer.turn(calls)

    def _take_in(self, texts: Iterable[str]) -> None:
        for text in texts:
            if text in self._read:
                continue
            self._read.add(text)
            for line in _TOLD.sub(lambda found: found[0].replace("\n", " "), text).split("\n"):
                words = _words(_TOLD.sub(" ", line))
                self._frequency.update(words)
                self._told += [(words, value) for value in _TOLD.findall(line)]

    def _reading(self, id: str) -> dict[str, str]:
        """Return what the hints of a part are taken to mean, as far as that is known."""
        part = self._explorer.parts[id]
        found = {}
        for name, type in part.params.items():
            lines = _TOLD.sub(" ", part.text).split("\n")
            hints = [line for line in lines if re.search(rf"\b{re.escape(name)}\b", line)]
            words = frozenset[str]().union(*map(_words, hints)) - {name}
            value = self._best(id, words, type)
            if value is not None:
                found[name] = value
        return found

    def _best(self, id: str, hint: frozenset[str], type: PortType) -> str | None:
        """Return the value whose sentence is nearest to a hint; None when that is a part that gave nothing yet."""
        told = ((words, _fits(type, value)) for words, value in self._told)
        offers: list[tuple[float, str | None]] = []
        offers += [(self._shared(hint, words), fitting) for words, fitting in told if fitting is not None]
        for other, part in self._explorer.parts.items():
            values = [fitting for value in part.outputs.values() if (fitting := _fits(type, value))]
            if other != id and (values or not part.resolved):
                offers.append((self._shared(hint, _words(part.brief)), values[0] if values else None))
        best = max(offers, key=lambda offer: offer[0], default=(0.0, None))
        return best[1] if best[0] > 0 else None

    def _shared(self, hint: frozenset[str], words: frozenset[str]) -> float:
        return sum(1 / self._frequency[word] for word in hint & words)


def read_story(explorer: Explorer) -> None:
    """Reads texts by their words and follows the hints as it understands them; never searches, and may be wrong."""
    Reader(explorer).play()


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))


def _fits(type: PortType, value: str) -> str | None:
    try:
        return canonical(type, value)
    except WrongTypeError:
        return None
