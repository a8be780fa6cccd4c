"""Check: the user states a value by the name of its parameter, and the ground truth gives another."""

import re
from collections.abc import Iterator
from typing import Any

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.directions import Direction, Ends, backward, directions, ends_of, is_point, means
from agenthard.audit.detectors.support.gold_values import GoldValue
from agenthard.audit.detectors.support.knowledge import scalars_in
from agenthard.audit.detectors.support.labelled_values import (
    Place,
    Slot,
    descriptions,
    left_empty,
    mixed_percent,
    other_half,
    places,
    stated_for,
)
from agenthard.audit.detectors.support.left_over_texts import other_text, repeated_text
from agenthard.audit.detectors.support.listed_values import GoldList, gold_lists, other_numbers, replaced_member
from agenthard.audit.detectors.support.mentions import mentions
from agenthard.audit.detectors.support.number_relations import follows, is_same, numbers_of, unit_factors
from agenthard.audit.detectors.support.sharing import shared_cause
from agenthard.audit.detectors.support.spoken_values import Spoken, Statement, atoms_of, spoken_in
from agenthard.audit.detectors.support.switches import stated_switch
from agenthard.audit.detectors.support.task_texts import sentence_at
from agenthard.audit.evidence import quote
from agenthard.audit.execution.environment import ExecutionError
from agenthard.audit.execution.gold import gold_replay, why_not_replayed
from agenthard.audit.execution.replay import Step
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.task import AgentTask, ToolCall


class ContradictedStatement(TaskDetector):
    """TODO."""

    id = "contradicted-statement"
    title = "The user states a value by its name and the ground truth gives another"
    version = "1"
    category = "incorrect-tool-call"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    executes = True
    about_values = True
    experimental = True
    why = "A run that gives each parameter what the user states for it differs from the gold and fails."

    def not_applicable(self, task: AgentTask) -> str | None:
        """A task without gold calls or without a text of the user cannot be checked."""
        if not any(task.ground_truth.turns):
            return "the ground truth holds no calls"
        return None if any(True for _ in task.user_texts()) else "the user says nothing"

    def inspect(self, task: AgentTask) -> Iterator[Hit]:
        """Yield one hit per value."""
        spoken, steps = spoken_in(task), _replayed(task)
        for turn, calls in enumerate(task.ground_truth.turns):
            before = [step for step in steps if step.turn <= turn]
            yield from _labelled(task, spoken, turn, before)
            yield from _left_over(task, spoken, turn, before)
            said = directions(spoken.scope(turn))
            lists = [each for call in calls for each in gold_lists(call.arguments)]
            for index, call in enumerate(calls):
                pointer = f"/ground_truth/turns/{turn}/{index}"
                yield from _turned(
                    task, pointer, call, said, [step for step in before if step.turn < turn or step.index < index]
                )
                yield from _backward(task, spoken, pointer, call)
                for own in gold_lists(call.arguments):
                    yield from _listed(task, spoken, pointer, call, own, lists, before)


def _labelled(task: AgentTask, spoken: Spoken, turn: int, steps: list[Step]) -> Iterator[Hit]:
    """Compare what is stated for a parameter by its name with what its calls give."""
    given = places(task, turn)
    stated = stated_for(spoken, turn, descriptions(task, given))
    for slot, said in stated.items():
        own = given[slot]
        if any(place.value.omissible or len(atoms_of(place.value)) != 1 for place in own):
            continue
        free = [one for one in _distinct(said) if not any(_gives(place, one) for place in own)]
        if any(one.mention.values & spoken.called_values for one in free):
            continue  # a call of the conversation gives it
        wrong = [place for place in own if not any(_gives(place, one) for one in said)]
        if len(free) != 1 or not wrong or len(wrong) > 1 or len(_distinct(said)) != len(own):
            continue
        atom = atoms_of(wrong[0].value)[0]
        if (
            atom.mention.kind != free[0].mention.kind
            or atom.embedded
            or _explained(task, spoken, wrong[0], free[0], stated, slot, turn, steps)
        ):
            continue
        how = f"but the user states {free[0].mention.text!r} for it"
        yield _hit(
            task,
            wrong[0].pointer,
            wrong[0].name,
            wrong[0].value,
            how,
            free[0].at,
            sentence_at(free[0].whole, free[0].mention.start),
        )


def _distinct(said: list[Statement]) -> list[Statement]:
    return list({one.mention.values: one for one in said}.values())


def _gives(place: Place, said: Statement) -> bool:
    given = {v for _, item in place.value.accepted for m in mentions(str(item)) for v in m.values}
    given |= {float(item) for _, item in place.value.accepted if isinstance(item, (int, float))}
    if said.mention.kind == "date":
        return any(str(a)[-6:] == str(b)[-6:] for a in given for b in said.mention.values)
    numbers = [v for v in said.mention.values if isinstance(v, float)]
    factors = (1.0, *unit_factors(said.whole))
    return not given.isdisjoint(said.mention.values) or any(
        is_same(b * factor, a) for a in given if isinstance(a, float) for b in numbers for factor in factors
    )


def _explained(
    task: AgentTask,
    spoken: Spoken,
    place: Place,
    free: Statement,
    stated: dict[Slot, list[Statement]],
    slot: Slot,
    turn: int,
    steps: list[Step],
) -> bool:
    """Tell whether something else gives a call the value: another statement, a result, a calculation."""
    atom = atoms_of(place.value)[0]
    own = atom.mention.values
    others = [one for name, said in stated.items() if name != slot for one in said if one.mention.values & own]
    every = [one for one in spoken.statements(turn, atom.mention.kind) if one.mention.values & own]
    if every and len(others) == len(every):
        return False  # it is stated for another parameter
    if every:
        return True
    texts = [*spoken.texts(turn), *(step.observation.text for step in steps)]
    tool = task.tool(place.name)
    documents = " ".join(scalars_in(tool.parameters)) if tool else ""
    if atom.mention.kind != "number":
        return spoken.is_sourced(atom, turn, steps, documents)
    goals = {abs(v) for v in own if isinstance(v, float)}
    if any(goals & numbers_of(text) for text in (*texts, documents)):
        return True
    near = {v for _, text in spoken.scope(turn) for v in numbers_of(text)}
    said = {abs(v) for v in free.mention.values if isinstance(v, float)}
    return any(follows(goal, said, near - {0.0, 1.0}, "") for goal in goals)


def _left_over(task: AgentTask, spoken: Spoken, turn: int, steps: list[Step]) -> Iterator[Hit]:
    """Compare texts and switches with what the request names and no call gives."""
    given = places(task, turn)
    every = [place for own in given.values() for place in own]
    for own in given.values():
        for found in repeated_text(spoken, own, turn):
            how = f"as in another place; the user says it once, and {found.phrase.text!r}, which nothing uses"
            yield _hit(
                task, found.place.pointer, found.place.name, found.place.value, how, found.phrase.at, found.phrase.text
            )
        for place in own:
            phrase = other_text(spoken, place, [other for other in every if other is not place], turn, steps)
            if phrase is not None:
                how = f"which nothing in the task has; the user names {phrase.text!r}, which nothing uses"
                yield _hit(task, place.pointer, place.name, place.value, how, phrase.at, phrase.text)
            if (empty := left_empty(spoken, place, turn)) is not None:
                yield _hit(task, place.pointer, place.name, place.value, "which the user wants left empty", *empty)
            if (said := other_half(spoken, place, turn)) is not None:
                how = f"but the user says {said.mention.text!r}"
                yield _hit(task, place.pointer, place.name, place.value, how, said.at, said.mention.text)
        if len(own) > 1 and (mixed := mixed_percent(spoken, own, turn)) is not None:
            place, said = mixed
            how = f"for {said.mention.text!r}, and another call gives a percentage the other way, as a fraction or not"
            yield _hit(task, place.pointer, place.name, place.value, how, said.at, said.mention.text)
        yield from _switched(task, spoken, own, turn)


def _switched(task: AgentTask, spoken: Spoken, own: list[Place], turn: int) -> Iterator[Hit]:
    """Compare a switch that all calls of a turn set alike with what the user says of it."""
    items = [
        place.value.accepted[0][1] for place in own if len(place.value.accepted) == 1 and not place.value.omissible
    ]
    if len(items) < len(own) or not isinstance(items[0], bool) or any(item is not items[0] for item in items):
        return
    said = stated_switch(spoken, own[0].value, turn)
    if said is not None and said.value is not items[0]:
        yield _hit(
            task,
            own[0].pointer,
            own[0].name,
            own[0].value,
            f"but the user says {_short(said.text)}",
            said.at,
            said.text,
        )


def _turned(task: AgentTask, pointer: str, call: ToolCall, said: list[Direction], before: list[Step]) -> Iterator[Hit]:
    """Compare the two ends that the user names with those of a call."""
    for ends in ends_of(call):
        if any(_forward(ends, one, before) for one in said):
            continue
        for one in said:
            first, second = means(ends.first, one.second, before), means(ends.second, one.first, before)
            kept = means(ends.first, one.first, before), means(ends.second, one.second, before)
            if first and second:
                yield _hit(
                    task,
                    pointer,
                    call.name,
                    ends.first,
                    f"and {ends.second.name!r} as {_short(ends.second.accepted[0][1])}, but the user says it the other way round",
                    one.at,
                    one.text,
                )
            elif (first and kept[1]) or (second and kept[0]):
                wrong = ends.first if first else ends.second
                yield _hit(
                    task, pointer, call.name, wrong, "which is what the user says for the other end", one.at, one.text
                )
            elif kept[0] and is_point(ends.second, one) and len(said) == 1:
                how = f"but the user says {one.text!r}"
                yield _hit(task, pointer, call.name, ends.second, how, one.at, one.text)
            elif kept[1] and is_point(ends.first, one) and len(said) == 1:
                how = f"but the user says {one.text!r}"
                yield _hit(task, pointer, call.name, ends.first, how, one.at, one.text)
            else:
                continue
            return


def _backward(task: AgentTask, spoken: Spoken, pointer: str, call: ToolCall) -> Iterator[Hit]:
    """Find ranges whose first end is above the second, where no text of the user has them so."""
    for ends in backward(call):
        at, text = spoken.scope(int(pointer.split("/")[3]))[-1]
        how = f"which is after {ends.second.name!r}, {_short(ends.second.accepted[0][1])}"
        yield _hit(task, pointer, call.name, ends.first, how, at, text)


def _forward(ends: Ends, one: Direction, before: list[Step]) -> bool:
    return means(ends.first, one.first, before) and means(ends.second, one.second, before)


def _listed(
    task: AgentTask,
    spoken: Spoken,
    pointer: str,
    call: ToolCall,
    own: GoldList,
    every: list[GoldList],
    steps: list[Step],
) -> Iterator[Hit]:
    turn = int(pointer.split("/")[3])
    said = other_numbers(spoken.scope(turn), own, every)
    if said is not None and not any(
        squash_list(own) in re.sub(r"[^\d.,-]", "", step.observation.text) for step in steps
    ):
        value = GoldValue(own.at, ((own.at, list(own.items)),), False)
        yield _hit(task, pointer, call.name, value, f"but the user lists {said.text}", said.at, said.text)
    member = replaced_member(spoken, own, turn)
    if member is not None and not any(str(own.items[member[0]]) in step.observation.text for step in steps):
        index, other = member
        value = GoldValue(own.at, ((own.at, list(own.items)),), False)
        yield _hit(
            task,
            pointer,
            call.name,
            value,
            f"of which no text has {_short(own.items[index])}; with the others the user lists {other.text!r}, which nothing uses",
            other.at,
            other.text,
        )


def squash_list(own: GoldList) -> str:
    return ",".join(f"{item:g}" if isinstance(item, float) else str(item) for item in own.items)


def _hit(task: AgentTask, pointer: str, name: str, value: GoldValue, how: str, at: str, text: str) -> Hit:
    shown_at, shown = value.accepted[0]
    return Hit(
        claim=f"The gold call of {name!r} gives {value.name!r} as {_short(shown)}, {how}.",
        evidence=(
            quote(task, f"{pointer}/arguments{shown_at}", note="the gold call"),
            quote(task, at, text=text, note="what the user says"),
        ),
        fix="Give each parameter what the user states for it, or change what the user says.",
        cause=shared_cause(task, name, value.member, str(shown), text),
    )


def _replayed(task: AgentTask) -> tuple[Step, ...]:
    try:
        return () if why_not_replayed(task) else gold_replay(task).steps
    except ExecutionError:
        return ()  # that the environment breaks is said by the checks that need it


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


_LONGEST = 120
