"""One episode in a room. State belongs to the episode; nothing that an agent sends raises an error."""

import json
from collections.abc import Mapping
from typing import Any

from agenthard.escape.environment.conditions import Conditions
from agenthard.escape.environment.tally import COUNTS, Tally
from agenthard.escape.environment.uses import Answer, Refusal, Uses, refused
from agenthard.escape.room import Instance, Part
from agenthard.play.ending import Ending
from agenthard.play.failures import Failures

CALLS = ("investigate", "use_tool", "use_item", "submit_answer", "give_up")


class Environment:
    """The room of one episode, its five calls and its score."""

    def __init__(
        self, instance: Instance, conditions: Conditions | None = None, *, failure_rate: float = 0.0, seed: int = 0
    ) -> None:
        """Start an episode.

        Args:
            instance: The room.
            conditions: How it is played; None for the paper's conditions.
            failure_rate: Probability that a call fails for no reason of the agent's.
            seed: Seed of the trial; it decides which calls fail.
        """
        self._instance = instance
        self.conditions = conditions or Conditions()
        self.budget = self.conditions.budget(instance.room.nodes)
        """Turns; None without a limit."""
        self.story = instance.room.story
        """The text at the start."""
        self.turn = 0
        """Turns begun."""
        self.solved = False
        """Whether the right answer was submitted."""
        self.gave_up = False
        """Whether the agent gave up."""
        self._parts: dict[str, Part] = {part.id: part for part in instance.room.parts}
        self._visible = dict.fromkeys(instance.room.visible)
        self._resolved: dict[str, Mapping[str, str]] = {}
        self._new: list[str] = []
        self._calls = self._failed = self._malformed = self._this_turn = 0
        self._tally = Tally()
        self._failures = Failures(failure_rate, seed, instance.id)
        self._uses = Uses(instance, self.conditions)

    @property
    def finished(self) -> bool:
        """Whether the episode is over: solved, given up, or out of turns or submissions."""
        return self.solved or self.gave_up or self._out_of_turns() or self._out_of_submissions()

    def begin_turn(self) -> None:
        """Begin a turn of the agent."""
        self.turn += 1
        self._this_turn = 0

    def start(self) -> dict[str, Any]:
        """Return what is in sight at the start."""
        return {"turns": self.budget, "visible": [self._seen(id) for id in self._visible]}

    def call(self, name: str, arguments: Any) -> Answer:
        """Carry out one call and say what is new."""
        self._calls += 1
        self._this_turn += 1
        if self._over():
            return refused("the episode is over")
        if self._this_turn > self.conditions.calls_per_turn:
            return refused(f"one turn has at most {self.conditions.calls_per_turn} calls; this one was not carried out")
        if self._failures.hit(self._calls - 1):
            self._failed += 1
            return refused("the call failed for no fault of yours; repeat it")
        answer = self._carry_out(name, arguments)
        if self._new:
            answer["new_entities"] = [self._seen(id) for id in self._new]
            self._new = []
        if self.budget is not None:
            answer["turns_left"] = max(0, self.budget - self.turn)
        return answer

    def message(self, name: str, arguments: str) -> str:
        """Carry out a call as a model wrote it, with JSON text as arguments."""
        try:
            parsed = json.loads(arguments or "{}")
        except (ValueError, RecursionError):
            parsed = None
        if not isinstance(parsed, dict):
            self._malformed += 1
        return as_text(self.call(name, parsed))

    def outcome(self, ending: Ending) -> tuple[Ending, dict[str, int]]:
        """Return how the episode ended, and its counts in the order of the tables."""
        if self.solved or self.gave_up:
            ending = Ending.DONE
        elif self._out_of_turns() or self._out_of_submissions():
            ending = Ending.MAX_STEPS
        counts = {"calls": self._calls, "malformed": self._malformed, "failed_calls": self._failed}
        return ending, counts | dict(zip(COUNTS, self._counts(), strict=True))

    def snapshot(self) -> dict[str, Any]:
        """Return the state: what is in sight, what is resolved and what that gave, and how the episode stands."""
        return {
            "visible": sorted(self._visible),
            "resolved": {id: dict(outputs) for id, outputs in sorted(self._resolved.items())},
            "solved": self.solved,
            "gave_up": self.gave_up,
        }

    def _carry_out(self, name: str, arguments: Any) -> Answer:
        if name == "investigate":
            self._tally.investigations += 1
            return self._investigate(arguments)
        if name in ("use_tool", "use_item"):
            self._tally.uses += 1
            return self._use(name, arguments)
        if name == "submit_answer":
            self._tally.submissions += 1
            given = arguments.get("answer") if isinstance(arguments, dict) else None
            self.solved = isinstance(given, str) and given.strip() == self._instance.secret.answer
            return {"ok": self.solved, **({} if self.solved else {"error": "incorrect", "message": "not the answer"})}
        if name == "give_up":
            self.gave_up = True
            return {"ok": True}
        return refused(f"no call has the name {name!r}" if len(name) < 50 else "no call has this name")

    def _investigate(self, arguments: Any) -> Answer:
        id = arguments.get("node_id") if isinstance(arguments, dict) else None
        part = self._parts.get(id) if isinstance(id, str) and id in self._visible else None
        if part is None:
            return refused("give the node_id of something in sight", "node_not_visible")
        answer: Answer = {"ok": True, "node_id": part.id, "kind": part.kind, "text": part.detail}
        if part.kind == "item":
            answer["outputs"] = self._resolve(part.id, self._instance.secret.mechanisms[part.id].outputs)
        else:
            answer["params"] = {each.name: f"{each.type}: {each.about}" for each in part.params}
            answer["gives"] = {each.name: f"{each.type}: {each.about}" for each in part.gives}
            if part.id in self._resolved:
                answer["outputs"] = dict(self._resolved[part.id])
        return answer

    def _use(self, name: str, arguments: Any) -> Answer:
        try:
            part, given = self._uses.target(name, arguments, self._parts, self._visible)
            self._observe(part.id, given)
            if part.id in self._resolved:
                raise Refusal("repeated_solved", "this is resolved already", outputs=dict(self._resolved[part.id]))
            values = self._uses.typed(part, given)
            right = self._uses.compare(part, values, self._resolved)
            outputs = self._uses.run(part, values)
        except Refusal as refusal:
            self._tally.errors[refusal.error] += 1
            if refusal.sub_code:
                self._tally.errors[refusal.sub_code] += 1
            return refusal.answer
        if not right:
            return {"ok": True, "node_id": part.id, "outputs": outputs, "resolved": False}
        return {"ok": True, "node_id": part.id, "outputs": self._resolve(part.id, outputs), "resolved": True}

    def _resolve(self, id: str, outputs: Mapping[str, str]) -> dict[str, str]:
        if id not in self._resolved:
            self._resolved[id] = outputs
            for appears in self._instance.drops(id):
                if appears not in self._visible:
                    self._visible[appears] = None
                    self._new.append(appears)
        return dict(outputs)

    def _observe(self, id: str, given: Mapping[str, Any]) -> None:
        """Count a use of a part that is not resolved, before it is carried out."""
        if id in self._resolved:
            return
        feeds, tally = self._instance.feeds(id), self._tally
        if not feeds:
            tally.first_calls[id] = tally.first_calls.get(id, 0) + 1
            return
        right = sum(
            link.source in self._resolved and self._uses.equal(id, input, given.get(input), link)
            for input, link in feeds.items()
        )
        tally.dependent += 1
        tally.premature += not all(link.source in self._resolved for link in feeds.values())
        tally.adherent += right == len(feeds)
        tally.wired += len(feeds)
        tally.wired_right += right

    def _counts(self) -> tuple[int, ...]:
        tally, parts = self._tally, self._parts.values()
        tools = {part.id for part in parts if part.kind != "item"}
        hidden = self._instance.hidden
        first = {part.id for part in parts if part.id in tools and not self._instance.feeds(part.id)}
        done = first & self._resolved.keys()
        return (
            *(len(self._resolved), len(tools & self._resolved.keys()), len(self._parts), len(tools)),
            *(len(hidden & self._visible.keys()), len(hidden)),
            *(tally.investigations, tally.uses, tally.submissions),
            *(tally.dependent, tally.premature, tally.adherent, tally.wired, tally.wired_right),
            *(len(first), len(done), sum(tally.first_calls.get(id, 0) for id in done)),
            sum(tally.first_calls.get(id, 0) for id in first - done),
            *tally.errors.values(),
        )

    def _seen(self, id: str) -> dict[str, str]:
        part = self._parts[id]
        return {"node_id": id, "kind": part.kind, "brief": part.brief}

    def _out_of_turns(self) -> bool:
        # The last turn is over when its calls are answered, so that its own calls still count.
        return self.budget is not None and self.turn >= self.budget

    def _out_of_submissions(self) -> bool:
        return 0 <= self.conditions.submits <= self._tally.submissions

    def _over(self) -> bool:
        beyond = self.budget is not None and self.turn > self.budget
        return self.solved or self.gave_up or beyond or self._out_of_submissions()


def as_text(answer: Answer) -> str:
    """Write an answer as an agent reads it: JSON, in which half a surrogate pair is escaped."""
    return json.dumps(answer, ensure_ascii=False).encode("utf-8", "backslashreplace").decode("utf-8")
