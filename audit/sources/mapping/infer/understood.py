"""What a proposed mapping makes of the rows: counts, one task as an example, and what looks wrong."""

from collections import Counter
from dataclasses import dataclass, field

from agenthard.audit.sources.base import Quarantine, first_reasons
from agenthard.audit.sources.mapping.source import Reader
from agenthard.taxonomy.task import AgentTask, ToolCall, ToolSpec

_WIDTH = 100
_MOST_LINES = 12
_MOSTLY = 0.5
"""Of rows that parse, of calls that name a documented tool, and of their arguments, fewer mean a wrong mapping."""
_UNREADABLE = 0.2
"""Share of calls that cannot be read from which the notation is one that nothing here knows."""
_FEWEST = 3
"""In fewer rows, equal requests say nothing."""


@dataclass
class Understood:
    """What the rows become under a mapping."""

    rows: int = 0
    """Rows that were tried."""
    parsed: int = 0
    """Rows that became a task."""
    turns: int = 0
    """Turns of users in them."""
    calls: int = 0
    """Expected calls in them."""
    tools: int = 0
    """Different tools, by name."""
    others: int = 0
    """Tasks with an accepted answer, a required text, a rubric or a stated final state."""
    example: list[str] = field(default_factory=list)
    """One task, rendered."""
    problems: list[str] = field(default_factory=list)
    """Deciding parts that are missing or look wrong: the mapping should not be used as it is."""

    @property
    def counted(self) -> str:
        """The counts in one line."""
        return (
            f"{self.parsed:,} of {self.rows:,} rows parse: {self.turns:,} turns of users, {self.tools:,} tools, "
            f"{self.calls:,} expected calls"
        )


def understand(reader: Reader, quarantine: Quarantine) -> Understood:
    """Read all rows under a mapping, and judge the result.

    Args:
        reader: the mapping and its files.
        quarantine: collects the rows that do not parse.
    """
    found, tools, said = Understood(), set[str](), set[str]()
    unknown, unreadable, misfits = Counter[str](), list[str](), Counter[str]()
    example: AgentTask | None = None
    as_text = 0
    for _, task in reader.tasks(quarantine):
        found.parsed += 1
        found.turns += max(1, len(task.user.turns))
        said.add("\n".join(text for _, text in task.user_texts()))
        known = {tool.name: tool for tool in (*task.environment.tools, *task.environment.user_tools)}
        tools |= set(known)
        truth = task.ground_truth
        named = any(name in text for text in (*truth.answers, *truth.outputs) for name in known)
        as_text += named and not any(truth.turns)
        found.others += bool(truth.answers or truth.outputs or any(c.expected for c in task.evaluation.checks))
        for _, call in task.gold_calls():
            found.calls += 1
            if not call.name:
                unreadable.append(call.text or "")
            elif call.name not in known:
                unknown[call.name] += 1
            elif not _fits(call, known[call.name]):
                misfits[call.name] += 1
        if example is None or (not any(example.ground_truth.turns) and any(truth.turns)):
            example = task
    found.tools = len(tools)
    found.rows = found.parsed + len(quarantine.items)
    found.example = rendered(example) if example else []
    found.problems = [*_missing(found, said, quarantine), *_wrong(found, unknown, unreadable, misfits)]
    if as_text > _MOSTLY * found.parsed:
        found.problems.append(
            f"0 expected calls in {found.parsed:,} rows, though {as_text:,} answers name tools: calls in an unknown "
            "notation are read as texts"
        )
    return found


def _fits(call: ToolCall, tool: ToolSpec) -> bool:
    required = tool.parameters.get("required")
    return set(call.arguments) <= set(tool.parameters.get("properties", {})) and bool(call.arguments or not required)


def _missing(found: Understood, said: set[str], quarantine: Quarantine) -> list[str]:
    problems = []
    if found.parsed <= _MOSTLY * found.rows:
        reasons = "; ".join(first_reasons(quarantine.items))
        problems.append(f"only {found.parsed:,} of {found.rows:,} rows parse ({reasons})")
    repeated = sum("occurs twice" in item.reason for item in quarantine.items)
    if repeated:
        problems.append(
            f"{repeated:,} joined rows have a key that an earlier one has, and are not read: put what belongs to one "
            "task into one row"
        )
    if found.parsed and not found.calls and not found.others:
        problems.append(
            f"0 expected calls in {found.parsed:,} rows, and no answers, required texts or criteria: map ground_truth"
        )
    if found.calls and not found.tools:
        problems.append(f"no documentation of tools for {found.calls:,} expected calls: map environment.tools")
    if found.parsed >= _FEWEST and len(said) == 1:
        problems.append(f"the user says the same in all {found.parsed:,} rows: map user.turns to another column")
    return problems


def _wrong(found: Understood, unknown: Counter[str], unreadable: list[str], misfits: Counter[str]) -> list[str]:
    problems = []
    if len(unreadable) > _UNREADABLE * found.calls:
        problems.append(f"{len(unreadable):,} of {found.calls:,} calls cannot be read, such as {unreadable[0][:80]!r}")
    if found.tools and unknown.total() > _MOSTLY * found.calls:
        name = unknown.most_common(1)[0][0]
        problems.append(f"{unknown.total():,} of {found.calls:,} calls name no documented tool, such as {name!r}")
    if misfits.total() > _MOSTLY * found.calls:
        name = misfits.most_common(1)[0][0]
        problems.append(
            f"{misfits.total():,} of {found.calls:,} calls do not have the arguments of their tools, such as {name!r}"
        )
    return problems


def rendered(task: AgentTask) -> list[str]:
    """Write one task as a few lines: what the agent gets, and what is expected of it."""
    lines = [f"task {task.id}" + (f" ({task.subtask})" if task.subtask else "")]
    if task.environment.policy:
        lines.append(_line("policy", task.environment.policy))
    if task.user.instruction:
        lines.append(_line("user is told", task.user.instruction))
    for number, turn in enumerate(task.user.turns, 1):
        several = f" {number}" if len(task.user.turns) > 1 else ""
        lines += [_line(f"{message.role}{several}", message.content) for message in turn]
    if task.environment.tools:
        lines.append(_line(f"{len(task.environment.tools)} tools", ", ".join(map(_signature, task.environment.tools))))
    for name, state in (("shared state", task.environment.state), ("state", task.initial_state)):
        if state is not None:
            lines.append(_line(name, ", ".join(map(str, state)) if isinstance(state, dict) else str(state)))
    for number, calls in enumerate(task.ground_truth.turns, 1):
        several = f" {number}" if len(task.ground_truth.turns) > 1 else ""
        lines += [_line(f"expects{several}", _called(call)) for call in calls]
    lines += [_line("answer", text) for text in task.ground_truth.answers]
    lines += [_line("has to say", text) for text in task.ground_truth.outputs]
    shown = lines[:_MOST_LINES]
    return [*shown, f"  and {len(lines) - _MOST_LINES} lines more"] if len(lines) > _MOST_LINES else shown


def _signature(tool: ToolSpec) -> str:
    required = tool.parameters.get("required") or ()
    names = (name if name in required else f"{name}?" for name in tool.parameters.get("properties", {}))
    return f"{tool.name}({', '.join(names)})"


def _called(call: ToolCall) -> str:
    if not call.name:
        return f"cannot be read: {call.text}"
    return f"{call.name}({', '.join(f'{name}={value!r}' for name, value in call.arguments.items())})"


def _line(label: str, text: str) -> str:
    flat = " ".join(text.split())
    return f"  {label:<12} {flat if len(flat) <= _WIDTH else flat[: _WIDTH - 3] + '...'}"
