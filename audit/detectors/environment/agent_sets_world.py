"""Tools that let the agent tell the environment what only the environment can know."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.evidence import quote
from agenthard.audit.execution.gold import environment_of, gold_replay, why_not_replayed
from agenthard.audit.execution.replay import Step, Turns, gold_turns, replay
from agenthard.taxonomy.finding import Level, Severity, Tier
from agenthard.taxonomy.task import AgentTask, ToolSpec

_CURRENT = re.compile(r"(?:the )?current\b", re.IGNORECASE)
_HALF_DAY = re.compile(r"\b(AM|PM)\b", re.IGNORECASE)
_SWAPPED = {"AM": "PM", "PM": "AM", "am": "pm", "pm": "am"}


class AgentSetsWorld(TaskDetector):
    """A gold call states a current fact of the world to the environment, which accepts any value.

    The parameter's name or documentation begins with "current" (the current time, say); and the same call with another
    value, replayed at the same place, leaves another state. So the agent does not learn how the world is but decides
    it: an agent that tells another time opens a closed market.

    Flagged: ``update_market_status(current_time_str="10:30 AM")``, where "10:30 PM" closes the market.
    Not flagged: a current password or address of the user, which the environment checks or the user knows; values for
    which no other value of the same kind is known to the check (it knows numbers, and times of day with AM or PM).

    It is wrong where the agent is the environment's only clock by design, and the task says so.
    """

    id = "agent-sets-world"
    title = "a tool believes what the agent says the world is like"
    version = "1"
    category = "misleading-tool-design"
    severity = Severity.MAY_AFFECT_SCORE
    tier = Tier.SUSPECTED
    executes = True
    level = Level.ENVIRONMENT
    why = "A run passes or fails by what the agent claims, and asking for the state looks like changing it."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why the ground truth cannot be replayed, or None."""
        return why_not_replayed(task)

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield one hit per parameter; the same parameter in several tasks is one finding."""
        for step in gold_replay(task).steps:
            tool = task.tool(step.call.name, step.call.requestor)
            for name, value, other in _stated(tool, step) if tool is not None else ():
                state = _state_with(task, step, name, other)
                if state == step.after:
                    continue
                yield Hit(
                    claim=(
                        f"{step.call.name} sets the state of the environment by what the agent says {name} is: "
                        f"{other!r} instead of {value!r} leaves another state"
                    ),
                    evidence=(quote(task, f"{step.pointer}/arguments", note=f"the response: {step.observation.text}"),),
                    fix="Let the environment look the fact up itself.",
                    cause=f"{step.call.name}.{name}",
                )


def _stated(tool: ToolSpec, step: Step) -> Iterator[tuple[str, Any, Any]]:
    """Arguments that state a current fact: name, value, another value of the same kind."""
    properties = tool.parameters.get("properties")
    for name, value in step.call.arguments.items():
        documented = properties.get(name) if isinstance(properties, dict) else None
        words = str(documented.get("description", "")) if isinstance(documented, dict) else ""
        other = _other(value)
        if other is not None and (_CURRENT.match(words) or _CURRENT.match(name.replace("_", " "))):
            yield name, value, other


def _other(value: Any) -> Any:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value + 1
    if isinstance(value, str) and _HALF_DAY.search(value):
        return _HALF_DAY.sub(lambda found: _SWAPPED.get(found[0], "PM"), value)
    return None


def _state_with(task: AgentTask, step: Step, name: str, other: Any) -> str:
    """Hash of the state right after the call, when the argument has another value."""
    changed = step.call.model_copy(update={"arguments": {**step.call.arguments, name: other}})
    gold: Turns = gold_turns(task)
    turns = (*gold[: step.turn], (*gold[step.turn][: step.index], changed))
    return replay(environment_of(task), task, turns).final
