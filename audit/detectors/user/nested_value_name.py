"""Check: a choice among values that all carry the user's word, of which the gold takes the one without more words."""

import re
from collections.abc import Iterator

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.sharing import shared_cause
from agenthard.audit.evidence import quote
from agenthard.audit.execution.environment import Attempt, UnavailableError
from agenthard.audit.execution.gold import environment_of
from agenthard.audit.execution.replay import gold_turns
from agenthard.taxonomy.finding import Evidence, Severity, Tier
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.task import AgentTask, ToolCall

_SUPERLATIVES = (
    "cheapest|lowest|least expensive|most affordable|most expensive|priciest|highest|fastest|quickest|slowest|shortest|"
    "longest|earliest|latest|largest|biggest|smallest|newest|oldest|nearest|closest"
)
_BETWEEN = 3
"""Words that may be between the superlative and the value: "cheapest flight in economy"."""


class NestedValueName(TaskDetector):
    """The user asks for the extreme of a kind, and the word for the kind is part of the name of another kind.

    Looked at are gold arguments whose parameter lists its values. A rival is another listed value whose name has all
    words of the gold's value and more: *basic economy* and *economy*. It is flagged when the user puts a superlative
    before the word ("the cheapest economy flight", with up to three words between), so that all values which carry the
    word are candidates and the superlative picks one of them; when no text of the user has the rival's further words,
    which would tell the two apart; and when the rival is possible and fails: where the task can be executed, the ground
    truth with the rival in its place runs without an error and the evaluator rejects it.

    Flagged: "the cheapest economy flight", where fares are basic economy (cheaper) and economy, and the gold books
    economy.
    Not flagged: "I want to fly in economy", which names one value; "the cheapest economy (not basic economy) flight".

    It is wrong where a text that the user follows says that the word alone means the plain value.
    """

    id = "nested-value-name"
    title = "Superlatives over a word that names two values"
    version = "1"
    category = "ambiguous-instruction"
    severity = Severity.MAY_AFFECT_SCORE
    tier = Tier.SUSPECTED
    executes = True
    why = "A run that takes the other value serves the user's words as well, and fails."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Only gold calls can be checked."""
        return None if any(task.ground_truth.turns) else "the ground truth holds no calls"

    def inspect(self, task: AgentTask) -> Iterator[Hit]:
        """Yield one hit per parameter and value."""
        texts = list(task.user_texts())
        everything = " ".join(" ".join(_words(text)) for _, text in texts)
        seen = set()
        for pointer, call in task.gold_calls():
            for name, value, rival in _rivals(task, call):
                more = set(_words(rival)) - set(_words(value))
                if (name, value) in seen or any(re.search(rf"\b{word}\b", everything) for word in more):
                    continue
                said = next((found for at, text in texts if (found := _superlative(task, at, text, value))), None)
                if said is None or not _possible_and_rejected(task, call.name, name, value, rival):
                    continue
                seen.add((name, value))
                yield Hit(
                    claim=f"The user asks for {said.quote!r}; {name} of {call.name!r} can be {value!r} or {rival!r}, "
                    f"and the gold takes {value!r}.",
                    evidence=(said, quote(task, join(pointer, "arguments", name), note="what the gold takes")),
                    fix=f"Say in the request whether {rival!r} counts.",
                    cause=shared_cause(task, name, value, rival, said.quote),
                )


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.casefold())


def _rivals(task: AgentTask, call: ToolCall) -> Iterator[tuple[str, str, str]]:
    """Yield the parameter, the gold's value and a listed value that has all its words, in order, and more."""
    tool = task.tool(call.name, call.requestor)
    properties = tool.parameters.get("properties") if tool else None
    parameters = properties if isinstance(properties, dict) else {}
    for name, value in call.arguments.items():
        documented = parameters.get(name)
        listed = documented.get("enum") if isinstance(documented, dict) else None
        for other in listed if isinstance(listed, list) and isinstance(value, str) and _words(value) else ():
            if isinstance(other, str) and f" {' '.join(_words(value))} " in f" {' '.join(_words(other))} ":
                if len(_words(other)) > len(_words(value)):
                    yield name, value, other


def _superlative(task: AgentTask, pointer: str, text: str, value: str) -> Evidence | None:
    words = r"[\s_-]+".join(map(re.escape, _words(value)))
    between = rf"(?:[\s-]+[\w']+){{0,{_BETWEEN}}}"
    found = re.search(rf"\b(?:{_SUPERLATIVES}){between}[\s-]+{words}\b", text, re.IGNORECASE)
    return Evidence(task_id=task.id, pointer=pointer, quote=found[0], note="the user's words") if found else None


def _possible_and_rejected(task: AgentTask, tool: str, name: str, value: str, rival: str) -> bool:
    """Execute the ground truth with the rival; what cannot be executed is not held against the task's text."""
    turns = tuple(
        tuple(
            call.model_copy(update={"arguments": {**call.arguments, name: rival}})
            if call.name == tool and call.arguments.get(name) == value
            else call
            for call in turn
        )
        for turn in gold_turns(task)
    )
    try:
        environment = environment_of(task)
        environment.reset(task)
        if any(environment.call(call).error is not None for turn in turns for call in turn):
            return False
        return not environment.evaluate(task, Attempt(turns=turns, replies=task.ground_truth.outputs)).passed
    except UnavailableError:
        return True
