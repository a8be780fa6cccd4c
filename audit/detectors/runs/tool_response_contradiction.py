"""Tool responses that contradict their call, one another, or the environment."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from agenthard.audit.detectors.base import Conclusion, Hit, Observation, SuiteDetector, Undecided
from agenthard.audit.detectors.support.recorded_runs import Compared, Memory, answered, other_than_replayed
from agenthard.audit.evidence import quote_run
from agenthard.audit.statistics.intervals import wilson
from agenthard.taxonomy.finding import Evidence, Level, Severity, Tier
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.task import AgentTask, ToolSpec
from agenthard.taxonomy.trajectory import Trajectory


class ToolResponseContradiction(SuiteDetector):
    """Tool responses that contradict their call, one another, or the environment as it is now.

    Rule: a response of a recorded run is compared with what it can be compared with.

    * argument: a call that may change something is answered by a JSON object that has a member named as one of the
      arguments, both texts or both truth values, and they differ in more than case and punctuation.
    * repetition: the same read, made again with nothing written in between, is answered differently.
    * record: a read showed a record filed under its own identifier (``{"7": {"id": "7", "price": 5}}``, a catalogue);
      a later call that may change something names that identifier, and an object inside its response gives the record
      another value that the call did not ask for.
    * replay: the run's own calls, carried out again in our environment of the benchmark, are answered by another text.
      Then the log was recorded with another release: the finding is about the log (environment drift).

    One finding per tool and kind (and argument), with the share of compared responses, the runs and the models. Tasks
    whose ground truth calls the tool are affected; other tasks on which it happened are named next to them.

    Flagged: ``update_trip(cabin="business")`` answered by ``{"cabin": "economy", ...}``.
    Not flagged: ``get_trip`` answered differently after the trip was changed; an object with the member ``error``.

    When it is wrong: a tool that answers with the value before the change, or translates what it is given ("CA",
    "California"); a read whose answer depends on the clock or on chance; a change by someone outside the run.
    """

    id = "tool-response-contradiction"
    title = "Tool response contradicts its call or an earlier response"
    version = "2"
    category = "incorrect-tool-response"
    severity = Severity.MAY_AFFECT_SCORE
    tier = Tier.SUSPECTED
    level = Level.ENVIRONMENT
    why = "An agent that is told that its change did not happen makes it again, or tells the user so."
    needs_runs = True

    def observe(self, task: AgentTask, runs: Iterator[Trajectory]) -> Iterable[Observation]:
        """Count, per tool and thing compared, the responses that could be compared and those that contradict."""
        cells: dict[tuple[str, str, str], _Cell] = defaultdict(_Cell)
        tools = {("assistant", tool.name): tool for tool in task.environment.tools}
        tools |= {("user", tool.name): tool for tool in task.environment.user_tools}
        for run in runs:
            memory = Memory()
            for now in answered(run.messages):
                tool = tools.get((now.call.requestor, now.call.name))
                for found in memory.compare(tool, now) if tool else ():
                    evidence = _quotes(run, now.position, found) if found.wrong else ()
                    cells[_name(task, tool), found.kind, found.field].add(run, evidence)
            for now, differs in other_than_replayed(task, run):
                tool = tools.get((now.call.requestor, now.call.name))
                cell = cells[_name(task, tool) if tool else now.call.name, "replay", ""]
                cell.add(run, (_quote(run, now.position, differs),) if differs else ())
        for (name, kind, field), cell in sorted(cells.items()):
            called = any(call.name == name.rpartition("/")[2] for _, call in task.gold_calls())
            value = {"tool": name, "kind": kind, "field": field, "in_gold": called, **cell.value()}
            yield Observation(task_id=task.id, key=f"{name} {kind} {field}", value=value, evidence=cell.evidence)
        if not cells:
            yield Observation(task_id=task.id, key=_NOTHING)

    def conclude(self, observations: Sequence[Observation]) -> Iterable[Conclusion | Undecided]:
        """Yield one finding per tool and thing that is contradicted."""
        nothing = tuple(item.task_id for item in observations if item.key == _NOTHING)
        if nothing:
            yield Undecided(task_ids=nothing, reason="no tool response of its runs can be compared with anything")
        groups: dict[str, list[Observation]] = defaultdict(list)
        for item in observations:
            if item.key != _NOTHING:
                groups[item.key].append(item)
        for _, items in sorted(groups.items()):
            touched = [item for item in items if item.value["wrong"]]
            if touched:
                drift = touched[0].value["kind"] == "replay"
                affected = tuple(item.task_id for item in touched if item.value["in_gold"] and not drift)
                touched_only = tuple(item.task_id for item in touched if item.task_id not in affected)
                yield Conclusion(task_ids=affected, also_in=touched_only, hit=_hit(items, touched))


_NOTHING = ""
_CLAIMS = {
    "argument": "The tool {tool} is asked for one value of {field} and answers with another",
    "repetition": "The tool {tool} answers the same question differently although nothing was written in between",
    "record": "The tool {tool} answers with another value of a record than was read before, without being asked to "
    "change it",
    "replay": "The tool {tool} answered otherwise when the runs were recorded than it does now",
}
_FIXES = {
    "argument": "Store and return what the call asks for, or say in an error that it was not done.",
    "repetition": "Make the tool answer from the state alone.",
    "record": "Take the value from the record that the call names.",
    "replay": "Audit the runs with the release that they were recorded with, or record them again.",
}


class _Cell:
    """Counts of one tool and thing compared, on one task."""

    def __init__(self) -> None:
        self.compared, self.wrong = 0, 0
        self.runs: set[str] = set()
        self.models: set[str] = set()
        self.evidence: tuple[Evidence, ...] = ()

    def add(self, run: Trajectory, evidence: tuple[Evidence, ...]) -> None:
        """Count one comparison; it is wrong when there is evidence."""
        self.compared += 1
        if evidence:
            self.wrong += 1
            self.runs.add(run.id)
            self.models.add(run.model)
            self.evidence = self.evidence or evidence

    def value(self) -> dict[str, Any]:
        """Return the counts as JSON data."""
        counts = {"compared": self.compared, "wrong": self.wrong, "runs": len(self.runs)}
        return counts | {"models": sorted(self.models)}


def _name(task: AgentTask, tool: ToolSpec | None) -> str:
    return "" if tool is None else f"{tool.group or task.subtask}/{tool.name}"


def _quotes(run: Trajectory, position: int, found: Compared) -> tuple[Evidence, ...]:
    now = _quote(run, position, found.now)
    if found.kind == "argument":
        place = join(found.before.place, "arguments", found.field)
        asked = quote_run(run, place, note=f"{found.field} that was asked for")
        return asked, now
    return _quote(run, found.before.position, found.said), now


def _quote(run: Trajectory, position: int, text: str) -> Evidence:
    return quote_run(run, f"/messages/{position}/content", text=text or None, note=f"{run.model}, the tool's response")


def _hit(items: Sequence[Observation], touched: Sequence[Observation]) -> Hit:
    first = touched[0].value
    compared, wrong = (sum(item.value[name] for item in items) for name in ("compared", "wrong"))
    runs, models = sum(item.value["runs"] for item in touched), {m for item in touched for m in item.value["models"]}
    low, high = wilson(wrong, compared)
    return Hit(
        claim=f"{_CLAIMS[first['kind']].format(**first)}: {wrong} of the {compared} responses that can be compared, in "
        f"{runs} runs (models: {len(models)}, tasks: {len(touched)}).",
        fix=_FIXES[first["kind"]],
        category="environment-drift" if first["kind"] == "replay" else None,
        cause=f"tool {touched[0].key}".strip(),
        evidence=touched[0].evidence,
        measures={
            "responses": compared,
            "wrong": wrong,
            "rate": wrong / compared,
            "low": low,
            "high": high,
            "runs": runs,
            "models": len(models),
        },
    )
