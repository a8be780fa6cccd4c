"""What agents without a model share: calls in turns, and a memory of what they were shown."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from agenthard.escape.narrative.read import cues_of, hints_in, mark_of, notes_in
from agenthard.escape.ports import PortType, WrongTypeError, canonical
from agenthard.play.episode import Episode
from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.task import ToolCall

Call = tuple[str, dict[str, Any]]
"""A call to make: its name and its arguments."""
_RETRIES = 5


class EpisodeOverError(AgentHardError):
    """The episode is over: solved, given up, or out of submissions."""

    code = "AH625"
    remedy = "Nothing: the episode is over, and further calls are not carried out."


@dataclass
class Seen:
    """What an agent knows of a part."""

    kind: str
    """What it is."""
    brief: str
    """Its line in the list."""
    text: str = ""
    """What it told when it was looked at."""
    params: dict[str, PortType] = field(default_factory=dict)
    """Types of its parameters; empty until it is looked at."""
    hints: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Signs by parameter."""
    looked: bool = False
    """Whether it was looked at."""
    resolved: bool = False
    """Whether it gave what it has."""
    outputs: dict[str, str] = field(default_factory=dict)
    """What it gave."""

    @property
    def usable(self) -> bool:
        """Whether it can be used and has not been resolved."""
        return self.kind != "item" and self.looked and not self.resolved

    @property
    def call(self) -> str:
        """The call that uses it."""
        return "use_tool" if self.kind in ("tool", "terminal") else "use_item"


class Explorer:
    """One agent in one room. It knows what it was told, and nothing else."""

    def __init__(self, episode: Episode, rng: Random) -> None:
        """Read the story and the list of parts in sight."""
        self.rng = rng
        """Its chance."""
        self.parts: dict[str, Seen] = {}
        """What it has seen, by id."""
        self.told: list[str] = []
        """Values that texts told, in the order in which they were read."""
        self.cues: dict[str, list[str]] = {}
        """Told values by sign."""
        self._episode = episode
        self._calls = 0
        self._gives: dict[str, dict[str, str]] = {}
        stated = re.search(r"in one turn, up to (\d+)", episode.prompt[0].content)
        self.per_turn = int(stated[1]) if stated else 1
        """Calls that one turn carries out."""
        self.story, _, start = episode.prompt[1].content.rpartition("\n\n{")
        """The text at the start."""
        self._read(self.story)
        self._appear(json.loads("{" + start)["visible"])

    def turn(self, calls: Sequence[Call]) -> list[dict[str, Any]]:
        """Make calls in as many turns as they need, those that failed for no fault again; return the answers.

        Raises:
            EpisodeOverError: The episode is over.
            agenthard.play.episode.OutOfTurnsError: No turn is left.
        """
        answers: list[dict[str, Any]] = []
        for start in range(0, len(calls), self.per_turn):
            some = list(calls[start : start + self.per_turn])
            found = self._one_turn(some)
            for _ in range(_RETRIES):
                lost = [at for at, answer in enumerate(found) if "no fault" in answer.get("message", "")]
                if not lost:
                    break
                for at, answer in zip(lost, self._one_turn([some[at] for at in lost]), strict=True):
                    found[at] = answer
            answers += found
        return answers

    def look_around(self) -> bool:
        """Look at everything that is in sight and was not looked at; return whether there was anything."""
        fresh = [id for id, part in self.parts.items() if not part.looked]
        self.turn([("investigate", {"node_id": id}) for id in fresh])
        return bool(fresh)

    def use(self, id: str, params: dict[str, Any]) -> dict[str, Any]:
        """Use one part in a turn of its own."""
        return self.turn([(self.parts[id].call, {"node_id": id, "params": params})])[0]

    def usable(self) -> Iterator[str]:
        """Yield the ids of parts that can be used."""
        yield from (id for id, part in self.parts.items() if part.usable)

    def submit_if_found(self) -> None:
        """Submit what the exit gave."""
        for part in self.parts.values():
            if part.kind == "terminal" and part.resolved:
                self.turn([("submit_answer", {"answer": next(iter(part.outputs.values()))})])
                raise EpisodeOverError

    def texts(self) -> Iterator[str]:
        """Yield every text that was shown: the story, and of each part its line and what it told."""
        yield self.story
        yield from (text for part in self.parts.values() for text in (part.brief, part.text) if text)

    def pool(self, type: PortType) -> list[str]:
        """Return every known value that a parameter of a type takes, each once."""
        found: dict[str, None] = {}
        for value in (*self.told, *(value for part in self.parts.values() for value in part.outputs.values())):
            try:
                found[canonical(type, value)] = None
            except WrongTypeError:
                continue
        return list(found)

    def bearer(self, cue: str) -> str | None:
        """Return the id of the part in sight that bears a sign."""
        return next((id for id, part in self.parts.items() if mark_of(part.brief) == cue), None)

    def hinted(self, id: str) -> dict[str, str]:
        """Return the values that the hints of a part lead to, as far as they are known."""
        found = {}
        for name, cues in self.parts[id].hints.items():
            for cue in cues:
                values = list(self.cues.get(cue, ()))
                source = self.bearer(cue)
                if source is not None:
                    values += self._fitting(source, self.parts[id].params.get(name))
                if values:
                    found[name] = values[0]
        return found

    def _fitting(self, source: str, type: PortType | None) -> list[str]:
        gives = self._gives.get(source, {})
        outputs = self.parts[source].outputs
        return [value for name, value in outputs.items() if type is None or gives.get(name, type) == type]

    def _one_turn(self, calls: Sequence[Call]) -> list[dict[str, Any]]:
        made = [
            ToolCall(name=name, arguments=given, id=f"call_{self._calls + at}")
            for at, (name, given) in enumerate(calls)
        ]
        self._calls += len(made)
        self._episode.say(calls=made)
        answers = []
        for call in made:
            text, _ = self._episode.session.call(call.name, call.arguments)
            self._episode.hear(text, call)
            answers.append(json.loads(text))
            self._learn(call, answers[-1])
        if self._episode.session.finished:
            raise EpisodeOverError
        return answers

    def _learn(self, call: ToolCall, answer: dict[str, Any]) -> None:
        self._appear(answer.get("new_entities", ()))
        part = self.parts.get(str(call.arguments.get("node_id")))
        if part is None or not answer["ok"]:
            return
        if call.name == "investigate":
            self._look(str(call.arguments["node_id"]), part, answer)
        if "outputs" in answer and answer.get("resolved", True):
            part.outputs, part.resolved = answer["outputs"], True

    def _look(self, id: str, part: Seen, answer: dict[str, Any]) -> None:
        part.looked, part.text = True, answer["text"]
        self._read(answer["text"])
        part.hints = hints_in(answer["text"])
        types: dict[str, Any] = {name: text.partition(":")[0] for name, text in answer.get("params", {}).items()}
        part.params = types
        self._gives[id] = {name: text.partition(":")[0] for name, text in answer.get("gives", {}).items()}

    def _read(self, text: str) -> None:
        notes = notes_in(text)
        self.told += [note.value for note in notes]
        for cue, values in cues_of(notes).items():
            self.cues.setdefault(cue, []).extend(values)

    def _appear(self, entities: Any) -> None:
        for each in entities:
            self.parts.setdefault(each["node_id"], Seen(each["kind"], each["brief"]))
