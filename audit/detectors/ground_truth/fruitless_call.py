"""Check: a search of the ground truth finds nothing, or a verification is refused."""

from collections.abc import Iterator
from typing import Any

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.gold_values import gold_values, name_words
from agenthard.audit.detectors.support.reach import parsed_response
from agenthard.audit.detectors.support.said_places import said_at
from agenthard.audit.detectors.support.sharing import shared_cause
from agenthard.audit.detectors.support.spoken_values import Spoken, spoken_in
from agenthard.audit.evidence import quote
from agenthard.audit.execution.gold import gold_replay, why_not_replayed
from agenthard.audit.execution.replay import Step
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.task import AgentTask

_SEARCHES = frozenset("grep find search filter match query lookup".split())
_VERIFIES = frozenset("verify verification authenticate authentication auth login validate".split())


class FruitlessCall(TaskDetector):
    """What the user wants to be found is there, and whom the user wants to be verified can be.

    The ground truth is replayed. Flagged is a call of

    * a tool that searches by its name (`grep`, `find`, `search`), with a text that the user says, whose response holds
      empty lists and nothing else;
    * a tool that verifies or logs in by its name, whose response holds False and, besides that, texts alone.

    Flagged: "find the lines with 'Progress'" in a file that the ground truth has just created.
    Not flagged: a listing of a folder; an answer to a question ("can I drive that far?"); an error, which `gold-fails`
    reports.

    When it is wrong: the user wants to know whether something is there, and it is not.
    """

    id = "fruitless-call"
    title = "A search of the ground truth finds nothing, or a verification is refused"
    version = "1"
    category = "incorrect-tool-call"
    severity = Severity.MAY_AFFECT_SCORE
    tier = Tier.SUSPECTED
    executes = True
    why = "The user's words do not fit the state; a run that notices it may go on otherwise than the gold."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why the ground truth cannot be replayed, or None."""
        return why_not_replayed(task)

    def inspect(self, task: AgentTask) -> Iterator[Hit]:
        """Yield one hit per call."""
        spoken = spoken_in(task)
        for step in gold_replay(task).steps:
            found = _comes_to_nothing(step, spoken)
            if found is not None:
                yield Hit(
                    claim=f"The gold call of {step.call.name!r} {found}: {step.observation.text}",
                    evidence=(quote(task, step.pointer, note="the gold call"),),
                    fix="Change what the user asks for, or the state.",
                    cause=shared_cause(task, "fruitless", step.call.name, step.call.arguments),
                )


def _comes_to_nothing(step: Step, spoken: Spoken) -> str | None:
    response, words = parsed_response(step.observation.text), set(name_words(step.call.name))
    if step.observation.error is not None or not isinstance(response, dict) or not response:
        return None
    if words & _VERIFIES and _is_refused(response, list(step.call.arguments.values())):
        return "is refused"
    if not words & _SEARCHES or any(item != [] for item in response.values()):
        return None
    scope = tuple(spoken.scope(step.turn))
    said = any(said_at(value, scope) for value in gold_values(step.call.arguments) if value.strings())
    return "finds nothing" if said else None


def _is_refused(response: dict[str, Any], given: list[Any]) -> bool:
    rest = [item for item in response.values() if item not in given]
    return False in rest and all(item is False or isinstance(item, str) for item in rest)
