"""Values of which a user states another for their parameter, by its name."""

from collections.abc import Iterator, Mapping, Sequence

from agenthard.audit.detectors.support.knowledge import scalars_in
from agenthard.audit.detectors.support.labelled_values import Place, Slot, descriptions, places, stated_for
from agenthard.audit.detectors.support.mentions import mentions
from agenthard.audit.detectors.support.number_relations import follows, is_same, numbers_of, unit_factors
from agenthard.audit.detectors.support.spoken_values import Spoken, Statement, atoms_of
from agenthard.audit.execution.replay import Step
from agenthard.taxonomy.task import AgentTask

Stated = Mapping[Slot, Sequence[Statement]]
"""What the user states for parameters."""


def contradicted_labels(
    task: AgentTask, spoken: Spoken, turn: int, steps: Sequence[Step]
) -> Iterator[tuple[Place, Statement]]:
    """Yield the value of a parameter that is not what the user states for it, and what the user states.

    The user states as many values for the parameter as the calls of the turn give it, and all but one agree. The one
    that differs has no other source: no text, response or documentation has it, unless for other parameters alone.

    Args:
        task: the task.
        spoken: what its user states.
        turn: the turn of the calls.
        steps: the replayed calls up to it.
    """
    given = places(task, turn)
    stated = stated_for(spoken, turn, descriptions(task, given))
    for slot, said in stated.items():
        own = given[slot]
        if any(place.value.omissible or len(atoms_of(place.value)) != 1 for place in own):
            continue
        distinct = list({one.mention.values: one for one in said}.values())
        free = [one for one in distinct if not any(_gives(place, one) for place in own)]
        wrong = [place for place in own if not any(_gives(place, one) for one in said)]
        if len(free) != 1 or len(wrong) != 1 or len(distinct) != len(own):
            continue
        atom = atoms_of(wrong[0].value)[0]
        if atom.mention.kind != free[0].mention.kind or atom.embedded or free[0].mention.values & spoken.called_values:
            continue
        others = [one for name, their in stated.items() if name != slot for one in their]
        if not _explained(task, spoken, wrong[0], free[0], others, turn, steps):
            yield wrong[0], free[0]


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
    others: Sequence[Statement],
    turn: int,
    steps: Sequence[Step],
) -> bool:
    """Tell whether something else gives a call the value: another statement, a result, a calculation."""
    atom = atoms_of(place.value)[0]
    own = atom.mention.values
    every = [one for one in spoken.statements(turn, atom.mention.kind) if one.mention.values & own]
    if every:  # unless each is stated for another parameter
        return sum(1 for one in others if one.mention.values & own) < len(every)
    tool = task.tool(place.name)
    documents = " ".join(scalars_in(tool.parameters)) if tool else ""
    if atom.mention.kind != "number":
        return spoken.is_sourced(atom, turn, steps, documents)
    goals = {abs(v) for v in own if isinstance(v, float)}
    texts = [*spoken.texts(turn), *(step.observation.text for step in steps), documents]
    if any(goals & numbers_of(text) for text in texts):
        return True
    near = {v for _, text in spoken.scope(turn) for v in numbers_of(text)}
    said = {abs(v) for v in free.mention.values if isinstance(v, float)}
    return any(follows(goal, said, near - {0.0, 1.0}, "") for goal in goals)
