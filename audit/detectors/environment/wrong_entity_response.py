"""Tool responses about another entity than the one that was asked for."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from agenthard.audit.detectors.base import Conclusion, Hit, Observation, SuiteDetector, Undecided
from agenthard.audit.detectors.support.state_records import IDENTIFIER, in_one_table
from agenthard.audit.evidence import canonical_json, quote_run
from agenthard.audit.statistics.intervals import wilson
from agenthard.taxonomy.finding import Evidence, Level, Severity, Tier
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.task import AgentTask, Message, ToolCall
from agenthard.taxonomy.trajectory import Trajectory

OTHER_BY_DESIGN = re.compile(
    r"search|similar|related|recommend|suggest|alternativ|compar|next|previous|parent|child|replac|nearest|random|swap",
    re.IGNORECASE,
)
"""Names of tools whose response may well be about another entity than the argument."""
SHORTEST_SUFFIX = 4
"""Identifiers that differ by a prefix ("#W123456", "W123456") are the same from this many common characters on."""


class WrongEntityResponse(SuiteDetector):
    """Tool responses about another entity than the call asked for.

    Rule: a call gives an identifier (``*_id``, ``flight_number``, ``phone_number``, ``email`` ...), the response is a
    JSON object with the same key, and the two values, of one type, differ in more than case, punctuation and a prefix.
    The key is at the top level, or in the one object inside a mere envelope (``{"status": true, "data": {...}}``).
    When a call gives several identifiers, one that agrees clears the response: an order that
    was asked for may name another user as its owner.

    Calls and responses are paired by call id, and without ids when just one call is open. Not compared are: lists and
    text; objects with an ``error``; tools named after a search, a comparison or a neighbour (similar, next,
    replacement); and a value that appears elsewhere in the same call (a transfer answers about the target). A tool that
    is not documented as a read may create an entity with a new identifier, so there the other value counts only when
    it was seen earlier in the run, or when the benchmark's data hold both values as records of one table.

    One finding per tool, with the share of compared responses that are wrong.

    Flagged: ``get_order(order_id="#W1")`` answered by ``{"order_id": "#W2", ...}``; ``cancel_order(order_id="#W1")``
    answered by ``{"order_id": "#W2"}`` where the database has an order #W2.
    Not flagged: ``get_order(order_id="W1")`` answered by ``{"order_id": "#W1", ...}``.

    When it is wrong: a tool that resolves an alias or a merged record answers with its canonical identifier.
    """

    id = "wrong-entity-response"
    title = "Tool response about another entity than asked for"
    version = "2"
    experimental = True
    category = "incorrect-tool-response"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    level = Level.ENVIRONMENT
    why = "An agent that trusts the response acts on the wrong entity and fails through no fault of its own."
    needs_runs = True

    def observe(self, task: AgentTask, runs: Iterator[Trajectory]) -> Iterable[Observation]:
        """Count, per tool, the responses that could be compared and those about something else."""
        compared: dict[str, int] = defaultdict(int)
        wrong: dict[str, int] = defaultdict(int)
        quotes: dict[str, tuple[Evidence, ...]] = {}
        for run in runs:
            for answered in _answered(run.messages):
                verdict = _compare(task, run, answered)
                if verdict is None:
                    continue
                tool = _tool_name(task, answered.call)
                compared[tool] += 1
                if verdict:
                    wrong[tool] += 1
                    quotes.setdefault(tool, _quotes(run, answered, verdict))
        for tool, number in sorted(compared.items()):
            value = {"compared": number, "wrong": wrong[tool]}
            yield Observation(task_id=task.id, key=tool, value=value, evidence=quotes.get(tool, ()))
        if not compared:
            yield Observation(task_id=task.id, key=_NOTHING)

    def conclude(self, observations: Sequence[Observation]) -> Iterable[Conclusion | Undecided]:
        """Yield one finding per tool with a wrong response."""
        nothing = tuple(item.task_id for item in observations if item.key == _NOTHING)
        if nothing:
            yield Undecided(task_ids=nothing, reason="no tool response of its runs repeats an identifier of its call")
        by_tool: dict[str, list[Observation]] = defaultdict(list)
        for item in observations:
            if item.key != _NOTHING:
                by_tool[item.key].append(item)
        for tool, items in sorted(by_tool.items()):
            touched = [item for item in items if item.value["wrong"]]
            if touched:
                yield Conclusion(task_ids=tuple(item.task_id for item in touched), hit=_hit(tool, items, touched))


_NOTHING = ""


class _Answered(NamedTuple):
    """A call with its response, and their positions."""

    call: ToolCall
    place: str
    response: Message
    position: int


def _answered(messages: Sequence[Message]) -> Iterator[_Answered]:
    """Pair calls with responses; what cannot be told apart is left out."""
    waiting: list[tuple[ToolCall, str]] = []
    for i, message in enumerate(messages):
        if message.role != "tool":
            waiting.extend((call, f"/messages/{i}/tool_calls/{j}") for j, call in enumerate(message.tool_calls))
            continue
        wanted = message.tool_call_id
        candidates = [item for item in waiting if wanted is None or item[0].id in (None, wanted)]
        if len(candidates) == 1 and message.tool_name in (None, candidates[0][0].name):
            yield _Answered(*candidates[0], message, i)
        if candidates:
            waiting.remove(candidates[0])


def _compare(task: AgentTask, run: Trajectory, answered: _Answered) -> str | None:
    """Return the argument that the response contradicts, "" when it agrees, None when nothing can be compared."""
    call = answered.call
    response = _told(answered.response.content)
    if OTHER_BY_DESIGN.search(call.name) or "error" in response:
        return None
    keys = [key for key, value in call.arguments.items() if _comparable(key, value, response.get(key))]
    if not keys:
        return None
    if any(_same(call.arguments[key], response[key]) for key in keys):
        return ""
    told = response[keys[0]]
    if any(key != keys[0] and canonical_json(told) in canonical_json(value) for key, value in call.arguments.items()):
        return None
    tool = task.tool(call.name, call.requestor)
    if tool is not None and tool.effect == "read":
        return keys[0]
    before = run.messages[: answered.position]
    existed = _seen(told, before) or in_one_table(task, call.arguments[keys[0]], told)
    return keys[0] if existed else None


def _told(content: str) -> dict[str, Any]:
    """Return the object that a response is about: itself, or the one inside an envelope that names no entity."""
    response = _object(content)
    inside = [key for key, value in response.items() if isinstance(value, dict | list)]
    if len(inside) == 1 and not any(IDENTIFIER.search(key) for key in response) and "error" not in response:
        value = response[inside[0]]
        if isinstance(value, dict) and not OTHER_BY_DESIGN.search(inside[0]):
            return value
    return response


def _object(content: str) -> dict[str, Any]:
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _comparable(key: str, asked: Any, told: Any) -> bool:
    return bool(IDENTIFIER.search(key)) and type(asked) is type(told) and type(asked) in (str, int) and asked != ""


def _same(asked: Any, told: Any) -> bool:
    if isinstance(asked, int):
        return bool(asked == told)
    first, second = sorted((_plain(asked), _plain(told)), key=len)
    return first == second or (len(first) >= SHORTEST_SUFFIX and second.endswith(first))


def _plain(identifier: str) -> str:
    return re.sub(r"[\W_]+", "", identifier).casefold()


def _seen(value: Any, messages: Sequence[Message]) -> bool:
    text = str(value)
    return any(
        text in message.content or any(text in canonical_json(call.arguments) for call in message.tool_calls)
        for message in messages
    )


def _tool_name(task: AgentTask, call: ToolCall) -> str:
    tool = task.tool(call.name, call.requestor)
    return f"{(tool.group if tool else None) or task.subtask}/{call.name}"


def _quotes(run: Trajectory, answered: _Answered, key: str) -> tuple[Evidence, Evidence]:
    value = _told(answered.response.content)[key]
    member = re.search(rf'"{re.escape(key)}"\s*:\s*{re.escape(json.dumps(value))}', answered.response.content)
    return (
        quote_run(run, join(answered.place, "arguments", key), note=f"{key} that {answered.call.name} was asked for"),
        quote_run(
            run,
            f"/messages/{answered.position}/content",
            text=member[0] if member else None,
            note=f"{key} that the response is about",
        ),
    )


def _hit(tool: str, items: Sequence[Observation], touched: Sequence[Observation]) -> Hit:
    compared, wrong = (sum(item.value[name] for item in items) for name in ("compared", "wrong"))
    low, high = wilson(wrong, compared)
    asked, told = touched[0].evidence
    return Hit(
        claim=f"The tool {tool} was asked about {asked.quote} and answered {told.quote[:200]}; so did {wrong} of the "
        f"{compared} responses that can be compared.",
        fix="Fix the tool, or drop the runs if the log mixed up its responses.",
        cause=f"tool {tool}",
        evidence=touched[0].evidence,
        measures={"responses": compared, "wrong": wrong, "rate": wrong / compared, "low": low, "high": high},
    )
