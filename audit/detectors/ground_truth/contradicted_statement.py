"""Check: the user states a value by the name of its parameter, and the ground truth gives another."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.chinese_switches import chinese_switch
from agenthard.audit.detectors.support.contradicted_labels import contradicted_labels
from agenthard.audit.detectors.support.directions import directions, turned
from agenthard.audit.detectors.support.gold_values import GoldValue
from agenthard.audit.detectors.support.labelled_values import Place, descriptions, places
from agenthard.audit.detectors.support.left_over_texts import other_text, repeated_text
from agenthard.audit.detectors.support.listed_values import GoldList, gold_lists, is_in, other_numbers, replaced_member
from agenthard.audit.detectors.support.said_and_called import why_not_compared
from agenthard.audit.detectors.support.sharing import shared_cause
from agenthard.audit.detectors.support.spoken_values import Spoken, spoken_in
from agenthard.audit.detectors.support.stated_forms import mixed_percent, other_forms
from agenthard.audit.detectors.support.switches import contradicted_switch
from agenthard.audit.detectors.support.task_texts import sentence_at
from agenthard.audit.evidence import quote
from agenthard.audit.execution.environment import ExecutionError
from agenthard.audit.execution.gold import gold_replay, why_not_replayed
from agenthard.audit.execution.replay import Step
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.task import AgentTask, ToolCall


class ContradictedStatement(TaskDetector):
    """What the user states for a parameter is what the calls give it.

    Looked at are required values of the gold calls of a turn, and the user's words for the turn:

    * **labels**: a number, a day or a time next to the words of the parameter's name ("an alert threshold of 3"), or in
      Chinese of its description (尺寸为60), where as many are stated as given, one differs, and nothing else in the
      task leads to it;
    * **ends**: "from Anaheim to Berkeley", "from x = 2 to x = 5", where the call has them exchanged, one of them twice,
      or another number; and ranges that end before they begin ("start" after "end", "min" above "max");
    * **lists** of numbers that have one member more, less or another than the one that the user writes down, and lists
      of words of which one member is in no text, where the user lists another one with the rest;
    * **texts left over**: the calls give exactly one text of which no text, response or documentation has a word, and
      the request names exactly one thing (in quotation marks, with capitals, a code) that no call gives; or a parameter
      has a text twice that the user says once, while another of the same form is left over;
    * **switches**: "with a garage", "no subscription", "Subscription: No", where all calls set it the other way;
      in Chinese by the words of the documentation (不允许吸烟, 是否允许吸烟);
    * **forms**: an argument that the user wants left empty; a time as hhmm in the other half of the day; of two
      percentages one as a fraction.

    Flagged: "find trains from Anaheim to Berkeley" with `from` Berkeley and `to` Anaheim.
    Not flagged: values that may be left out; names that may be the value in other words (initials, a ticker, a
    shared beginning); former values ("from 5", "instead of"); units attached to a number (100µF); sentences with a
    condition; a request with a way back; for instructions of a simulator only labels, and switches of several words.

    Wrong where a name means something else next to a value, as in "the second of three steps".
    """

    id = "contradicted-statement"
    title = "The user states a value by its name and the ground truth gives another"
    version = "2"
    category = "incorrect-tool-call"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    executes = True
    about_values = True
    experimental = True
    why = "A run that gives each parameter what the user states for it differs from the gold and fails."

    def not_applicable(self, task: AgentTask) -> str | None:
        """A task without gold calls or without a text of the user cannot be checked."""
        return why_not_compared(task)

    def inspect(self, task: AgentTask) -> Iterator[Hit]:
        """Yield one hit per value."""
        spoken, steps = spoken_in(task), _replayed(task)
        for turn, calls in enumerate(task.ground_truth.turns):
            before = [step for step in steps if step.turn <= turn]
            for place, one in contradicted_labels(task, spoken, turn, before):
                how = f"but the user states {one.mention.text!r} for it"
                yield _hit(task, place, how, one.at, sentence_at(one.whole, one.mention.start))
            yield from _left_over(task, spoken, turn, before)
            said = directions(spoken.scope(turn))
            lists = [each for call in calls for each in gold_lists(call.arguments)]
            for index, call in enumerate(calls):
                pointer = f"/ground_truth/turns/{turn}/{index}"
                earlier = [step for step in before if step.turn < turn or step.index < index]
                for found in turned(call, said, earlier):
                    at, text = (found.said.at, found.said.text) if found.said else spoken.scope(turn)[-1]
                    yield _hit(task, Place(pointer, call.name, found.value), found.how, at, text)
                for own in gold_lists(call.arguments):
                    yield from _listed(task, spoken, pointer, call, own, lists, before)


def _left_over(task: AgentTask, spoken: Spoken, turn: int, steps: list[Step]) -> Iterator[Hit]:
    """Compare texts with what the request names and no call gives, and values with the form that the user wants."""
    given = places(task, turn)
    every = [place for own in given.values() for place in own]
    documents = descriptions(task, given)
    for slot, own in given.items():
        for place, phrase in repeated_text(spoken, own, turn):
            how = f"as in another place; the user says it once, and {phrase.text!r}, which nothing uses"
            yield _hit(task, place, how, phrase.at, phrase.text)
        for place in own:
            named = other_text(spoken, place, [other for other in every if other is not place], turn, steps)
            if named is not None:
                how = f"which nothing in the task has; the user names {named.text!r}, which nothing uses"
                yield _hit(task, place, how, named.at, named.text)
            for wanted in other_forms(spoken, place, turn):
                yield _hit(task, place, wanted.how, wanted.at, wanted.text)
        if len(own) > 1 and (mixed := mixed_percent(spoken, own, turn)) is not None:
            place, said = mixed
            how = f"for {said.mention.text!r}; of two percentages one is given as a fraction"
            yield _hit(task, place, how, said.at, said.mention.text)
        switch = contradicted_switch(spoken, own, turn, partial(chinese_switch, spoken, documents[slot], turn))
        if switch is not None:
            yield _hit(task, own[0], f"but the user says {_short(switch.text)}", switch.at, switch.text)


def _listed(
    task: AgentTask,
    spoken: Spoken,
    pointer: str,
    call: ToolCall,
    own: GoldList,
    lists: list[GoldList],
    steps: list[Step],
) -> Iterator[Hit]:
    """Compare a list with the one that the user says."""
    turn = int(pointer.split("/")[3])
    place = Place(pointer, call.name, GoldValue(own.at, ((own.at, list(own.items)),), False))
    returned = [step.observation.text for step in steps]
    said = other_numbers(spoken.scope(turn), own, lists)
    if said is not None and not any(is_in(own, text) for text in returned):
        yield _hit(task, place, f"but the user lists {said.text}", said.at, said.text)
    member = replaced_member(spoken, own, turn)
    if member is not None and not any(str(own.items[member[0]]) in text for text in returned):
        given, other = _short(own.items[member[0]]), member[1]
        how = f"of which no text has {given}; with the others the user lists {other.text!r}, which nothing uses"
        yield _hit(task, place, how, other.at, other.text)


def _hit(task: AgentTask, place: Place, how: str, at: str, text: str) -> Hit:
    shown_at, shown = place.value.accepted[0]
    return Hit(
        claim=f"The gold call of {place.name!r} gives {place.value.name!r} as {_short(shown)}, {how}.",
        evidence=(
            quote(task, f"{place.pointer}/arguments{shown_at}", note="the gold call"),
            quote(task, at, text=text, note="what the user says"),
        ),
        fix="Give each parameter what the user states for it, or change what the user says.",
        cause=shared_cause(task, place.name, place.value.member, str(shown), text),
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
