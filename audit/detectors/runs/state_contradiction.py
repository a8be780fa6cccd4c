"""Look-ups that give a record another value than the state that the run started from."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from agenthard.audit.detectors.base import Conclusion, Hit, Observation, SuiteDetector, Undecided
from agenthard.audit.detectors.support.recorded_runs import Answered, answered, parsed
from agenthard.audit.detectors.support.state_records import Told, records_of, told
from agenthard.audit.evidence import quote_run
from agenthard.audit.statistics.intervals import wilson
from agenthard.taxonomy.finding import Evidence, Level, Severity, Tier
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory


class StateContradiction(SuiteDetector):
    """Look-ups that give a record another value than it has in the state that the run started from.

    Rule: up to the first call of a run that may change something, a tool that only reads can answer nothing but what
    the initial state holds. Its response is searched for records of the state: objects filed under the identifier of a
    record, objects with it as their ``id``, and the whole response of a call that names one; three quarters of the
    fields that the object fills have to be fields of the record. Then every text, number and truth value that both
    have, nested ones too, has to be equal, up to case, spaces, rounding to hundredths and texts cut with dots. Where
    several records share an identifier, the one that agrees best counts.

    A field that a tool gives otherwise in most of its responses is one that it computes or formats, and is left out. So
    are the order of lists of mere names, lists of another length, and tasks with a state that actions still change
    before the run starts. Calls that may change something are those of all tools that are not documented as reads.

    One finding per tool, with the share of the compared values of the fields that it tells wrong.

    Flagged: the first call ``get_book(id="B7")`` answered by ``{"id": "B7", "title": "Tides", "copies": 5}`` where the
    state has two copies.
    Not flagged: the same after ``return_book``; ``{"copies_free": 5}``, which the state does not have.

    When it is wrong: the log was recorded with another release of the data, then the finding is about the log; a change
    by someone outside the run; a read that really writes.
    """

    id = "state-contradiction"
    title = "Look-up gives another value than the state"
    version = "1"
    experimental = True
    category = "incorrect-tool-response"
    severity = Severity.MAY_AFFECT_SCORE
    tier = Tier.SUSPECTED
    level = Level.ENVIRONMENT
    why = "An agent that is told a wrong value acts on it, and the score is computed from the right one."
    needs_runs = True

    def observe(self, task: AgentTask, runs: Iterator[Trajectory]) -> Iterable[Observation]:
        """Count, per tool and field, the responses that report it, and those that contradict the state."""
        stored = records_of(task)
        compared: dict[tuple[str, str], int] = defaultdict(int)
        wrong: dict[tuple[str, str], int] = defaultdict(int)
        quotes: dict[tuple[str, str], tuple[Evidence, ...]] = {}
        values: dict[tuple[str, str], Any] = {}
        for run in runs if stored else ():
            for now in _untouched(task, run):
                fields: dict[str, Told] = {}
                for item in told(now.call, parsed(now.text), stored):
                    if item.field not in fields or item.differs:
                        fields[item.field] = item
                for field, item in fields.items():
                    key = (_name(task, now), field)
                    compared[key] += 1
                    wrong[key] += item.differs
                    if item.differs and key not in quotes:
                        quotes[key], values[key] = _quotes(run, now, item), [item.identifier, item.value, item.stored]
        for (tool, field), number in sorted(compared.items()):
            key = (tool, field)
            value = {"tool": tool, "field": field, "compared": number, "wrong": wrong[key], "first": values.get(key)}
            yield Observation(task_id=task.id, key=f"{tool} {field}", value=value, evidence=quotes.get(key, ()))
        if not compared:
            yield Observation(task_id=task.id, key=_NOTHING)

    def conclude(self, observations: Sequence[Observation]) -> Iterable[Conclusion | Undecided]:
        """Yield one finding per tool of which some responses give a field otherwise."""
        nothing = tuple(item.task_id for item in observations if item.key == _NOTHING)
        if nothing:
            yield Undecided(
                task_ids=nothing,
                reason="no look-up of its runs shows a record of the state before something is written",
            )
        fields: dict[tuple[str, str], list[Observation]] = defaultdict(list)
        for item in observations:
            if item.key != _NOTHING:
                fields[item.value["tool"], item.value["field"]].append(item)
        tools: dict[str, list[Observation]] = defaultdict(list)
        for (tool, _), items in sorted(fields.items()):
            if 0 < sum(item.value["wrong"] for item in items) <= sum(item.value["compared"] for item in items) / 2:
                tools[tool] += items
        for tool, items in tools.items():
            touched = [item for item in items if item.value["wrong"]]
            yield Conclusion(task_ids=tuple(dict.fromkeys(o.task_id for o in touched)), hit=_hit(tool, items, touched))


_NOTHING = ""


def _untouched(task: AgentTask, run: Trajectory) -> Iterator[Answered]:
    """Yield the calls that are answered before a message makes a call that may change something."""
    effects = {("assistant", tool.name): tool.effect for tool in task.environment.tools}
    effects |= {("user", tool.name): tool.effect for tool in task.environment.user_tools}
    end = len(run.messages)
    for index, message in enumerate(run.messages):
        if any(effects.get((call.requestor, call.name)) != "read" for call in message.tool_calls):
            end = index
            break
    return answered(run.messages[:end])


def _name(task: AgentTask, now: Answered) -> str:
    tool = task.tool(now.call.name, now.call.requestor)
    return f"{(tool.group if tool else None) or task.subtask}/{now.call.name}"


def _quotes(run: Trajectory, now: Answered, item: Told) -> tuple[Evidence, ...]:
    written = f"{json.dumps(item.field)}: {json.dumps(item.value)}"
    return (
        quote_run(run, join(now.place, "arguments"), note=f"what {now.call.name} was asked"),
        quote_run(
            run,
            f"/messages/{now.position}/content",
            text=written if written in now.text else None,
            note=f"{item.field} of {item.identifier} in the response",
        ),
    )


def _hit(tool: str, items: Sequence[Observation], touched: Sequence[Observation]) -> Hit:
    first = touched[0].value
    identifier, value, stored = (json.dumps(item, ensure_ascii=False)[:120] for item in first["first"])
    compared, wrong = (sum(item.value[name] for item in items) for name in ("compared", "wrong"))
    low, high = wilson(wrong, compared)
    names = sorted({item.value["field"] for item in touched})
    return Hit(
        claim=f"The tool {tool} tells {first['field']} = {value} of {identifier}, which is {stored} in the initial "
        f"state, although nothing was written before; {wrong} of the {compared} values of {', '.join(names)} that can "
        "be compared differ.",
        fix="Fix the tool, or record the runs again with the data that the benchmark has now.",
        cause=f"tool {tool}",
        evidence=touched[0].evidence,
        measures={"values": compared, "wrong": wrong, "rate": wrong / compared, "low": low, "high": high},
    )
