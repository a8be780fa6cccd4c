"""Makes all mutants of a task."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from random import Random
from typing import Any

from agenthard.audit.evidence import canonical_json, quote
from agenthard.audit.execution.environment import Attempt
from agenthard.audit.execution.gold import environment_of, gold_replay
from agenthard.audit.execution.mutation import operators
from agenthard.audit.execution.mutation.mutant import OMITTED, Change, Mutant, MutationSite, Truth
from agenthard.audit.execution.mutation.root_causes import ValueClass, classify
from agenthard.audit.execution.necessity import without
from agenthard.audit.execution.replay import Turns, gold_turns, replay
from agenthard.taxonomy.accepted import concrete_values
from agenthard.taxonomy.finding import Evidence
from agenthard.taxonomy.pointer import join, split
from agenthard.taxonomy.task import AgentTask, ToolCall

OPERATORS: tuple[Callable[[MutationSite, Random], Iterator[Change]], ...] = (
    operators.other_choice,
    operators.other_entity,
    operators.left_out,
    operators.other_number,
    operators.as_fraction,
    operators.lost_mark,
    operators.lost_power,
    operators.lost_slash,
    operators.other_day,
    operators.users_date,
    operators.users_case,
)
"""Operators that change one value."""

DEFAULT_SPELLED_OUT = "default-spelled-out"
"""Operator that gives an argument its documented default."""
MOST_ACCEPTED = 256
"""Arguments with more accepted values are not changed: comparing with all of them would take too long."""


def mutants(task: AgentTask) -> Iterator[Mutant]:
    """Yield the mutants of a task, the same ones in every run.

    Where only the final state and some texts are scored, a call that changes nothing is repeated instead of changed.

    Raises:
        UnavailableError: the ground truth is scored by the state it leaves, and cannot be executed here.
        ExecutionError: the environment broke.
    """
    turns = gold_turns(task)
    state = task.ground_truth.call_matching == "state"
    effects = _effects(task) if state and "unchecked_turns" not in task.traits else {}
    for i, turn in enumerate(turns):
        for j, _ in enumerate(turn):
            if effects.get((i, j), True):
                yield from _changed(task, turns, i, j)
            elif "redundant_calls_free" in task.traits:
                yield _repeated(task, turns, i, j)
            if not state:
                if not _is_made_twice(turns, i, j):
                    yield _dropped(task, turns, i, j)
                yield from _defaults_spelled_out(task, turns, i, j)
            elif "unchecked_turns" in task.traits:
                yield from _by_other_calls(task, turns, i, j)
        if task.ground_truth.call_matching == "any_order" and len(turn) > 1:
            yield _reversed(task, turns, i)
    yield from _said_otherwise(task, turns, task.ground_truth.outputs)


def _effects(task: AgentTask) -> dict[tuple[int, int], bool]:
    """Return whether each gold call changes the state."""
    return {(step.turn, step.index): step.changed for step in gold_replay(task).steps}


def _changed(task: AgentTask, turns: Turns, i: int, j: int) -> Iterator[Mutant]:
    gold, call = task.ground_truth.turns[i][j], turns[i][j]
    tool = task.tool(call.name, call.requestor)
    properties = tool.parameters.get("properties", {}) if tool else {}
    for name, value in call.arguments.items():
        accepted = concrete_values(gold.arguments[name], limit=MOST_ACCEPTED + 1)
        if len(accepted) > MOST_ACCEPTED:
            continue
        pointer = join(f"/ground_truth/turns/{i}/{j}/arguments", name)
        for path, inner, schema in _within((name,), value, properties.get(name, {})):
            place = MutationSite(task, gold, tool, pointer, path, inner, schema)
            for operator in OPERATORS:
                random = Random(f"{task.id} {pointer} {path} {operator.__name__}")
                for change in operator(place, random):
                    arguments = _with(call.arguments, path, change.value)
                    if change.truth is Truth.WRONG and any(_equal(arguments.get(name), one) for one in accepted):
                        continue
                    changed = _replaced(turns, i, j, call.model_copy(update={"arguments": arguments, "text": None}))
                    yield _mutant(task, place, change, changed)


def _within(
    path: tuple[str | int, ...], value: Any, schema: Any
) -> Iterator[tuple[tuple[str | int, ...], Any, dict[str, Any]]]:
    """Yield a value and the values inside it, with the documented schema of each."""
    known: dict[str, Any] = schema if isinstance(schema, dict) else {}
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _within((*path, key), item, (known.get("properties") or {}).get(key))
    elif isinstance(value, list):
        for position, item in enumerate(value):
            yield from _within((*path, position), item, known.get("items"))
    else:
        yield path, value, known


def _with(arguments: dict[str, Any], path: tuple[str | int, ...], value: Any) -> dict[str, Any]:
    changed = deepcopy(arguments)
    inside: Any = changed
    for part in path[:-1]:
        inside = inside[part]
    if value is OMITTED:
        del inside[path[-1]]
    else:
        inside[path[-1]] = value
    return changed


def _equal(one: Any, other: Any) -> bool:
    return canonical_json(one) == canonical_json(other) or bool(one == other)


def _mutant(task: AgentTask, place: MutationSite, change: Change, turns: Turns) -> Mutant:
    field = ".".join([place.call.name, *(part for part in place.path if isinstance(part, str))])
    new = "left out" if change.value is OMITTED else canonical_json(change.value)
    where = join(place.pointer, *place.path[1:])
    exact = task.ground_truth.call_matching != "state"
    return Mutant(
        id=f"{change.operator}:{where}",
        operator=change.operator,
        pointer=place.pointer,
        field=field,
        change=f"{canonical_json(place.value)} → {new}",
        truth=change.truth,
        why=change.why,
        shared="operator" if exact and change.truth is Truth.WRONG and change.shared == "field" else change.shared,
        certain=change.certain,
        kind=None if change.value is OMITTED else classify(place.path, place.value, change.value),
        attempt=Attempt(turns=turns, replies=task.ground_truth.outputs),
    )


def other_side(task: AgentTask, mutant: Mutant) -> Iterator[Evidence]:
    """Quote what a changed argument is judged by: its documentation, and the user's words where they are its value."""
    tokens = split(mutant.pointer)
    if mutant.operator == DEFAULT_SPELLED_OUT:
        tokens += ["arguments", mutant.field.rpartition(".")[2]]
    if tokens[4:5] != ["arguments"] or len(tokens) < 6:
        return
    i, j, name = int(tokens[2]), int(tokens[3]), tokens[5]
    call = task.ground_truth.turns[i][j]
    kind = "tools" if call.requestor == "assistant" else "user_tools"
    for number, tool in enumerate(getattr(task.environment, kind)):
        if tool.name == call.name and name in tool.parameters.get("properties", {}):
            documented = join("/environment", kind, number, "parameters", "properties", name)
            yield quote(task, documented, note="the documentation of the argument")
            break
    made = mutant.attempt.turns[i] if i < len(mutant.attempt.turns) else ()
    value = made[j].arguments.get(name) if j < len(made) else None
    if isinstance(value, str) and value:
        said = next((pointer for pointer, text in task.user_texts() if value in text), None)
        if said is not None:
            yield quote(task, said, text=value, note="the user's words")


def _replaced(turns: Turns, i: int, j: int, *calls: ToolCall) -> Turns:
    return (*turns[:i], (*turns[i][:j], *calls, *turns[i][j + 1 :]), *turns[i + 1 :])


def _on_call(task: AgentTask, i: int, j: int, operator: str, truth: Truth, why: str, turns: Turns) -> Mutant:
    pointer = f"/ground_truth/turns/{i}/{j}"
    name = task.ground_truth.turns[i][j].name
    return Mutant(
        id=f"{operator}:{pointer}",
        operator=operator,
        pointer=pointer,
        field=name,
        change=f"{name}: {operator.replace('-', ' ')}",
        truth=truth,
        why=why,
        shared="operator",
        attempt=Attempt(turns=turns, replies=task.ground_truth.outputs),
    )


def _dropped(task: AgentTask, turns: Turns, i: int, j: int) -> Mutant:
    why = "a call that is wanted is not made"
    dropped = _on_call(task, i, j, "dropped-call", Truth.WRONG, why, without(turns, i, j))
    return dropped.model_copy(update={"kind": ValueClass(type="call", place="call", relation="other")})


def _defaults_spelled_out(task: AgentTask, turns: Turns, i: int, j: int) -> Iterator[Mutant]:
    """Give an argument that the ground truth leaves out the value that it has anyway: the documented default."""
    call = turns[i][j]
    tool = task.tool(call.name, call.requestor)
    properties = (tool.parameters.get("properties") or {}) if tool else {}
    for name, schema in properties.items():
        default = schema.get("default") if isinstance(schema, dict) else None
        if name in call.arguments or (tool and name in tool.parameters.get("required", ())) or _is_nothing(default):
            continue
        arguments = {**call.arguments, name: default}
        changed = _replaced(turns, i, j, call.model_copy(update={"arguments": arguments, "text": None}))
        why = f"the documented default is {default!r}"
        made = _on_call(task, i, j, DEFAULT_SPELLED_OUT, Truth.EQUIVALENT, why, changed)
        own = {"id": f"{made.id}/{name}", "field": f"{call.name}.{name}", "shared": "field"}
        yield made.model_copy(update={**own, "change": f"left out → {canonical_json(default)}"})


def _is_nothing(default: Any) -> bool:
    """Tell whether a default says that nothing is given: whether one can spell that out is not documented."""
    return default is None or default in ([], {}) or str(default).casefold() in ("", "null", "none", "n/a")


def _is_made_twice(turns: Turns, i: int, j: int) -> bool:
    """Tell whether the ground truth has an equal call: whether both are wanted is then open."""
    call = turns[i][j]
    return sum((one.name, one.arguments) == (call.name, call.arguments) for turn in turns for one in turn) > 1


def _repeated(task: AgentTask, turns: Turns, i: int, j: int) -> Mutant:
    why = "it changes nothing, and further calls are free"
    changed = _replaced(turns, i, j, turns[i][j], turns[i][j])
    return _on_call(task, i, j, "repeated-call", Truth.EQUIVALENT, why, changed)


def _by_other_calls(task: AgentTask, turns: Turns, i: int, j: int) -> Iterator[Mutant]:
    other = copied_and_removed(task, turns[i][j])
    if other:
        changed = _replaced(turns, i, j, *other)
        if replay(environment_of(task), task, changed).final == gold_replay(task).final:
            why = "a file that is copied and then removed leaves the same state as one that is moved"
            yield _on_call(task, i, j, "copied-and-removed", Truth.EQUIVALENT, why, changed)


def _reversed(task: AgentTask, turns: Turns, i: int) -> Mutant:
    why = "the benchmark says that these calls may come in any order"
    return _on_call(task, i, 0, "other-order", Truth.EQUIVALENT, why, (*turns[:i], turns[i][::-1], *turns[i + 1 :]))


def _said_otherwise(task: AgentTask, turns: Turns, outputs: tuple[str, ...]) -> Iterator[Mutant]:
    for k, text in enumerate(outputs):
        for operator, spelled in operators.written_otherwise(text):
            pointer = f"/ground_truth/outputs/{k}"
            replies = (*outputs[:k], spelled, *outputs[k + 1 :])
            yield Mutant(
                id=f"{operator}:{pointer}",
                operator=operator,
                pointer=pointer,
                field="reply",
                change=f"{text} → {spelled}",
                truth=Truth.EQUIVALENT,
                why="it is the same number",
                shared="operator",
                certain=operator != "number-in-words",
                attempt=Attempt(turns=turns, replies=replies),
            )


def copied_and_removed(task: AgentTask, call: ToolCall) -> tuple[ToolCall, ...]:
    """Return a copy and a removal in place of a move, for file tools named and called as on Unix; else nothing.

    Whether they come to the same has to be tried: a removal may refuse what a move accepts.
    """
    copy, remove = task.tool("cp"), task.tool("rm")
    if call.name != "mv" or set(call.arguments) != {"source", "destination"} or copy is None or remove is None:
        return ()
    taken = list(remove.parameters.get("properties", {}))
    if set(copy.parameters.get("properties", {})) != {"source", "destination"} or len(taken) != 1:
        return ()
    return (
        ToolCall(name="cp", arguments=dict(call.arguments)),
        ToolCall(name="rm", arguments={taken[0]: call.arguments["source"]}),
    )
