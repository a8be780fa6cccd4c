"""Check: the user says one value, and the ground truth demands another that nothing has."""

import calendar
from collections.abc import Callable, Iterator
from typing import NamedTuple

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.gold_values import Documented, GoldValue, documented, gold_values
from agenthard.audit.detectors.support.knowledge import scalars_in
from agenthard.audit.detectors.support.mentions import Mention, mentions
from agenthard.audit.detectors.support.named_choices import other_choice
from agenthard.audit.detectors.support.near_numbers import near_number, other_year
from agenthard.audit.detectors.support.profiles import contradicted
from agenthard.audit.detectors.support.relative_days import counts_on, day_words, whole_months
from agenthard.audit.detectors.support.repeated_values import doubled, repeated, replaced, siblings
from agenthard.audit.detectors.support.said_and_called import why_not_compared
from agenthard.audit.detectors.support.sharing import shared_cause
from agenthard.audit.detectors.support.spelling import conversation_of, nearly_same_name, nearly_same_phrase
from agenthard.audit.detectors.support.spoken_values import Atom, Spoken, Statement, atoms_of, spoken_in
from agenthard.audit.detectors.support.stated_texts import dictated, named_file
from agenthard.audit.detectors.support.text import words
from agenthard.audit.detectors.support.value_pairs import is_bound, is_slip, paired_code, paired_moment, paired_number
from agenthard.audit.evidence import quote
from agenthard.audit.execution.environment import ExecutionError
from agenthard.audit.execution.gold import gold_replay, why_not_replayed
from agenthard.audit.execution.replay import Step
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.task import AgentTask, ToolCall


class UnmatchedValue(TaskDetector):
    """What the user says and what the ground truth demands are the same value.

    Two facts together make a finding: the ground truth demands a value that has no source, and the user states one of
    the same kind that nothing uses. Either alone has innocent reasons: a value can follow from others, and a user can
    mention things in passing. A **source** of a value is a text up to the turn of its call, the documentation of the
    parameter, what an earlier replayed call returned, and for numbers one operation or change of unit on what the turn
    says and its calls return. **Used** is what a gold call, a required text or an assistant's words in the task have,
    and a number from which one of the turn's gold numbers follows. Looked at are, in the turn of the call:

    * **numbers** of which the stated one differs by one digit, lost, put in, another or exchanged (20 lines, and the
      call gives 2); is next to a word of the parameter's name; is the only number of a short request; or is **left
      over**: every other number of a scripted request is given, every other one of its calls is stated, and the one
      does not follow from the other. Bounds, guesses and factors count for slips alone ("under 20", "2 times");
    * **numbers nearly the stated one**: with the other sign, a power of ten off (4 % and 0.4) or, of three digits or
      more, one digit off, unless any text, response or state has the number or a change of unit explains it;
    * **codes** that differ so: the user's card ends in 9021, the call has 9012, and not both exist in the state;
    * **dates** with day and month exchanged, or in a year that no text has; **dates and times** where the user states
      exactly one that nothing uses, and no word around it counts from another day ("the day after May 3");
    * **days counted from a stated today**: "tomorrow", "next Friday" with "today is 2023-09-29", and no date of the
      call is such a day; **all of a month** that ends before its last day;
    * **texts in quotation marks** of three words, in other words, or of two with another number; **files** in them;
    * **choices** from an enum or as the documentation lists them: the user names one other choice and never this one;
    * **facts of a profile** in the conversation: a field with the parameter's name has another value;
    * **values that are given twice** and stated once, while another of the same form is stated and unused; **members of
      a list** that the user says ("Italian and Chinese"), of which one is replaced by a word that no text has.

    Not flagged: values that a simulator's instruction gives twice, since it also tells what was before; values that
    may be left out; documented defaults; a template's blank ("X miles"); a request with more than 40 numbers; a text of
    more than 2,000 characters, a file that the agent writes; a slip of the keyboard that `near-miss-value` reports.

    Wrong where the user means the choice by another name, or corrects a value in words that are not understood.
    """

    id = "unmatched-value"
    title = "The user says one value and the ground truth demands another"
    version = "3"
    category = "incorrect-tool-call"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    executes = True
    about_values = True
    about_sources = True
    why = "A run that uses what the user says differs from the gold and fails."

    def not_applicable(self, task: AgentTask) -> str | None:
        """A task without gold calls or without a text of the user cannot be checked."""
        return why_not_compared(task)

    def inspect(self, task: AgentTask) -> Iterator[Hit]:
        """Yield one hit per value."""
        spoken, steps = spoken_in(task), _replayed(task)
        places = {step.pointer: number for number, step in enumerate(steps)}
        for turn in range(len(task.ground_truth.turns)):
            yield from _of_turn(task, spoken, turn)
        for pointer, call in task.gold_calls():
            tool = task.tool(call.name, call.requestor)
            if tool is None:
                continue
            for value in gold_values(call.arguments):
                place = documented(tool, value.at) or _UNDOCUMENTED
                if value.omissible or _is_default(place, value):
                    continue
                given = _Given(task, spoken, pointer, call, value, place, steps[: places.get(pointer, 0)])
                found = next((each for rule in _RULES if (each := rule(given)) is not None), None)
                if found is not None:
                    yield _hit(task, pointer, call.name, value, found)


class _Given(NamedTuple):
    """A value of a gold call, and what may be its source."""

    task: AgentTask
    spoken: Spoken
    pointer: str
    call: ToolCall
    value: GoldValue
    place: Documented
    before: tuple[Step, ...]

    @property
    def turn(self) -> int:
        return int(self.pointer.split("/")[3])


class _Meant(NamedTuple):
    """What the user says instead."""

    at: str
    text: str
    how: str
    """What is wrong, after "gives X as Y"."""


_UNDOCUMENTED = Documented({}, optional=False, pointer="")
"""A place within an object whose members are not documented."""


def _is_default(place: Documented, value: GoldValue) -> bool:
    return "default" in place.schema and place.schema["default"] in [given for _, given in value.accepted]


def _slip(given: _Given) -> _Meant | None:
    """A number, code, date or time without source, and the one that the user states and nothing uses."""
    documents = " ".join(scalars_in(given.place.schema))
    for atom in atoms_of(given.value):
        kind = atom.mention.kind
        said: Statement | None
        nearly = {"number": near_number, "date": other_year}.get(kind)
        near = nearly(given.spoken, atom, given.turn, given.before, documents) if nearly else None
        if near is not None:
            said = near
        elif given.spoken.is_sourced(atom, given.turn, given.before, documents):
            said = _left_over(given, atom, documents)
        elif kind == "number":
            said = paired_number(given.spoken, atom, given.turn, given.before) or _left_over(given, atom, documents)
        elif kind == "code":
            said = paired_code(given.spoken, atom, given.turn)
        else:
            said = paired_moment(given.spoken, atom, given.turn)
        if said is not None and not _is_near_miss(given, said.mention.text):
            part = f"with {atom.mention.text}, " if atom.embedded else ""
            return _unused(said.at, said.mention.text, part)
    return None


def _left_over(given: _Given, atom: Atom, documents: str) -> Statement | None:
    """The one number that is left over of the request, for the one that is left over of the calls."""
    if atom.mention.kind != "number":
        return None
    said = given.spoken.left_over(atom, given.turn, given.before, documents)
    if said is None or (is_bound(said) and not is_slip(said.mention.text, atom.mention.text)):
        return None
    return said


def _unused(at: str, text: str, part: str = "") -> _Meant:
    return _Meant(at, text, f"{part}which nothing in the task has; the user says {_short(text)}, which nothing uses")


def _text(given: _Given) -> _Meant | None:
    """A text or file name without source, and the one that the user puts in quotation marks."""
    arguments = given.task, given.spoken, given.value, given.turn, given.before
    said = dictated(*arguments) or named_file(*arguments)
    return None if said is None or _is_near_miss(given, said.text) else _unused(said.at, said.text)


def _is_near_miss(given: _Given, said: str) -> bool:
    """Tell whether the check near-miss-value reports the value: it is one slip of the keyboard from what is said."""
    texts = [text for _, text in given.value.strings()]
    if conversation_of(given.task).slip(given.value) is not None:
        return True
    if len(texts) != len(given.value.accepted) or any(map(given.spoken.knowledge.holds, texts)):
        return False
    closed_world, other = given.task.environment.state is not None, tuple(words(said))
    return any(
        nearly_same_phrase(tuple(words(text)), other) or nearly_same_name(text, said, closed_world) for text in texts
    )


def _choice(given: _Given) -> _Meant | None:
    """A choice that the user does not name, where the user names another."""
    named = other_choice(given.task, given.spoken, given.call, given.value, given.place.schema, given.turn)
    return (
        None
        if named is None
        else _Meant(
            named.at,
            named.text,
            f"a choice that no text names; the user says {named.text!r}, which means {named.choice!r}",
        )
    )


def _profile(given: _Given) -> _Meant | None:
    """A fact about the user that the profile has otherwise."""
    field = contradicted(given.task, given.value)
    return (
        None
        if field is None
        else _Meant(
            field.at, field.text, f"which no text says; the user's profile has {field.name!r} = {_short(field.text)}"
        )
    )


def _day(given: _Given) -> _Meant | None:
    """A date that is not the day which the user counts from today."""
    dates = _dates(given.value)
    words = [(at, text, word) for at, text in given.spoken.scope(given.turn) for word in day_words(text)]
    if not dates or len(words) != 1 or len(given.task.ground_truth.turns) != 1:
        return None
    at, text, word = words[0]
    if counts_on(text.replace(word.today.text, "").replace(word.text, "")) or given.spoken.dates_said(given.turn) > 1:
        return None
    if word.days & given.spoken.given[given.turn]:
        return None
    days = " or ".join(sorted(word.days))
    how = f"but the user says {word.text!r}, and with {word.today.text!r} as today that is {days}"
    return _Meant(at, word.text, how)


def _month(given: _Given) -> _Meant | None:
    """The last day of a month of which the user means all days."""
    dates = _dates(given.value)
    values = [str(value) for date in dates for value in date.values]
    if len(given.value.accepted) != 1 or len(values) != 1 or len(values[0]) != len("2025-08-30"):
        return None
    year, month, day = map(int, values[0].split("-"))
    last = calendar.monthrange(year, month)[1]
    if day in (1, last) or f"{values[0][:-2]}01" not in given.spoken.given[given.turn]:
        return None
    spans = ((at, span, number) for at, text in given.spoken.scope(given.turn) for span, number in whole_months(text))
    found = next(((at, span) for at, span, number in spans if number == month), None)
    return None if found is None else _Meant(*found, f"but the user says {found[1]!r}, which has {last} days")


def _dates(value: GoldValue) -> list[Mention]:
    return [mention for _, text in value.strings() for mention in mentions(text) if mention.kind == "date"]


_RULES: tuple[Callable[[_Given], _Meant | None], ...] = (_slip, _text, _choice, _profile, _day, _month)


def _of_turn(task: AgentTask, spoken: Spoken, turn: int) -> Iterator[Hit]:
    """Yield what parallel calls repeat or replace."""
    for group in siblings(task, turn):
        for place, said in repeated(spoken, group, turn):
            how = f"as another call does; the user says it once, and {said.mention.text!r}, which nothing uses"
            yield _hit(task, place.pointer, place.name, place.value, _Meant(said.at, said.mention.text, how))
        for place, listed in replaced(task, spoken, group, turn):
            how = f"which no text has; the user names {listed.text!r} with {listed.with_!r}, and no call gives it"
            yield _hit(task, place.pointer, place.name, place.value, _Meant(listed.at, listed.text, how))

    for place, said in doubled(task, spoken, turn) if spoken.is_scripted else ():
        how = f"in two places; the user says it once, and {said.mention.text!r}, which nothing uses"
        yield _hit(task, place.pointer, place.name, place.value, _Meant(said.at, said.mention.text, how))


def _hit(task: AgentTask, pointer: str, name: str, value: GoldValue, meant: _Meant) -> Hit:
    at, shown = value.accepted[0]
    return Hit(
        claim=f"The gold call of {name!r} gives {value.name!r} as {_short(shown)}, {meant.how}.",
        evidence=(
            quote(task, f"{pointer}/arguments{at}", note="the gold call"),
            quote(task, meant.at, text=meant.text, note="what the user says"),
        ),
        fix=f"Use {_short(meant.text)}, or change what the user says.",
        cause=shared_cause(task, name, value.member, str(shown), meant.text),
    )


def _replayed(task: AgentTask) -> tuple[Step, ...]:
    try:
        return () if why_not_replayed(task) else gold_replay(task).steps
    except ExecutionError:
        return ()  # that the environment breaks is said by the checks that need it


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


_LONGEST = 120
