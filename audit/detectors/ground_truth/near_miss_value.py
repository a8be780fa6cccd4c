"""Check: gold values that are almost, but not exactly, what the task says."""

import datetime
import re
from collections.abc import Iterator
from dataclasses import dataclass

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.corrections import Patch, replace
from agenthard.audit.detectors.support.gold_values import GoldValue, gold_values
from agenthard.audit.detectors.support.knowledge import Knowledge, knowledge_of, texts_in
from agenthard.audit.detectors.support.near_records import near_records, other_city
from agenthard.audit.detectors.support.person_records import Mismatch, mismatches
from agenthard.audit.detectors.support.sharing import shared_cause
from agenthard.audit.detectors.support.spelling import (
    FILE_NAME,
    IDENTIFIER,
    Conversation,
    nearly_same_name,
    nearly_same_phrase,
)
from agenthard.audit.detectors.support.text import squash, words
from agenthard.audit.evidence import quote
from agenthard.audit.execution.attempts import gold_attempt, with_value
from agenthard.audit.proof import wrongly_fails, wrongly_passes
from agenthard.taxonomy.finding import Proof, Severity, Tier
from agenthard.taxonomy.task import AgentTask, ToolCall

_QUOTED = re.compile(
    r"(?<!\w)'([^'\n]{2,300}?)'(?!\w)|\"([^\"\n]{2,300})\"|“([^”\n]{2,300})”|‘([^’\n]{2,300})’|`([^`\n]{2,300})`"
)
_DATE_LIKE = re.compile(r"(\d{1,6})([-/.])(\d{1,2})\2(\d{1,6})")
_SHORTEST = 4
"""Values with fewer characters are near too many others."""
_MOST_COMPARISONS = 2_000_000
"""Values times names and quotations that are compared; tasks of BFCL v3, τ-bench, τ² and ACEBench have 700 at most."""


@dataclass(frozen=True)
class _Said:
    """A file name, an identifier or a quotation in the task."""

    at: str
    text: str
    words: tuple[str, ...]


class NearMissValue(TaskDetector):
    """A gold value that copies something from the task copies it exactly.

    Looked at are values of which no accepted spelling appears anywhere in the task, loosely compared:

    * **file names** a letter or so off one of the conversation (then confirmed) or of the initial state: ``note.md``
      where the user asks for ``notes.md``;
    * **texts** that differ in one word from a text of four words or more that the user puts in quotation marks;
    * **identifiers** one character off one that the user says, when the database is part of the files and lacks the
      gold's identifier;
    * **slips of the keyboard**: an e-mail address, a file name, an identifier or a number of four characters or more
      that the user says, alone in being so near, with one character lost, doubled or put in, or two exchanged, but not
      at its start: ``imagepng`` for ``image.png``, 12334 for 1234. A number that follows from others is left alone;
    * **stray marks**: a file name with the full stop or comma of the sentence that it was copied from (``notes.md.``),
      where another call of the ground truth has it without;
    * **dates** that are none: ``20023-04-2``, ``2023-02-30``, for a parameter with "date" in its name;
    * **people** in the gold who contradict the record that the call refers to: the same name with another date of
      birth that was not said, or the record's date of birth and half of its name with another half;
    * **records**: five arguments or more that equal a record of the database, such as an address, in all but one that
      the user does not say, and that is not a time, an amount or a state; a city with a postal code that all records
      have with one other city.

    A file name that the user says, a date that is none and a certain mismatch of people are confirmed where a run shows
    what they cost: the run with the right value fails, or the run with a day that does not exist passes.

    Not flagged: words of the language (plurals, inflections, translations, corrected typos), because only names,
    identifiers and quotations have to be copied letter by letter; another digit in the place of one, or a template's
    blank ("X miles" becomes "980 miles"); another entity with a similar id; a value that one accepted alternative has
    right; a change of a name that the user asks for.
    """

    id = "near-miss-value"
    title = "Gold values that are almost what the task says"
    version = "6"
    category = "incorrect-tool-call"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    about_values = True
    about_sources = True
    why = "A run that copies the value exactly differs from the gold and fails."

    def not_applicable(self, task: AgentTask) -> str | None:
        """A task without gold calls cannot be checked."""
        if not any(task.ground_truth.turns):
            return "the ground truth holds no calls"
        given = [value for _, call in task.gold_calls() for value in gold_values(call.arguments)]
        if not any(len(str(item)) >= _SHORTEST for value in given for _, item in value.accepted):
            return "no gold value has four characters or more: shorter ones are not looked at"
        values = len(given)
        said = len(_names_and_quotations(task)) + Conversation(task, knowledge_of(task)).names
        if values * said > _MOST_COMPARISONS:
            return f"{values:,} gold values and {said:,} names and quotations are too many to compare with one another"
        return None

    def inspect(self, task: AgentTask) -> Iterator[Hit]:
        """Yield one hit per value that is nearly right."""
        knowledge = knowledge_of(task)
        said = _names_and_quotations(task)
        conversation = Conversation(task, knowledge)
        given = {
            text for _, call in task.gold_calls() for each in gold_values(call.arguments) for _, text in each.strings()
        }
        for pointer, call in task.gold_calls():
            severity = _severity(task, call)
            for value in gold_values(call.arguments):
                texts = [text for _, text in value.strings()]
                found: list[Hit] = []
                if texts and len(texts) == len(value.accepted):
                    found += _impossible_date(task, pointer, call, value)
                    found += _stray_mark(task, pointer, call, value, given, severity)
                    if not value.omissible and not any(knowledge.holds(text) for text in texts):
                        found += _misspelt(task, pointer, call, value, said, severity)
                yield from found or _slipped(task, pointer, call, value, conversation, severity)
            yield from _wrong_person(task, pointer, call, knowledge, severity)
            yield from _copied_wrongly(task, pointer, call, knowledge, severity)
            yield from _other_city(task, pointer, call, severity)


def _severity(task: AgentTask, call: ToolCall) -> Severity:
    tool = task.tool(call.name, call.requestor)
    unseen = task.ground_truth.call_matching == "state" and tool is not None and tool.effect == "read"
    return Severity.MAY_AFFECT_SCORE if unseen or task.ground_truth.call_matching == "none" else Severity.AFFECTS_SCORE


def _names_and_quotations(task: AgentTask) -> list[_Said]:
    """List what has to be copied, each text once, where it comes first."""
    first: dict[str, str] = {}
    for at, text in _quoted(task):
        first.setdefault(text, at)
    return [_Said(at, text, tuple(words(text))) for text, at in first.items()]


def _quoted(task: AgentTask) -> Iterator[tuple[str, str]]:
    for at, text in task.user_texts():
        for match in _QUOTED.finditer(text):
            yield at, next(group for group in match.groups() if group)
        patterns = (FILE_NAME, IDENTIFIER) if task.environment.state is not None else (FILE_NAME,)
        for pattern in patterns:
            for match in pattern.finditer(text):
                yield at, match.group()
    for at, text in texts_in(task.initial_state, "/initial_state"):
        if FILE_NAME.fullmatch(text):
            yield at, text


def _misspelt(
    task: AgentTask, pointer: str, call: ToolCall, value: GoldValue, said: list[_Said], severity: Severity
) -> Iterator[Hit]:
    closed_world = task.environment.state is not None
    for at, text in value.strings():
        own = tuple(words(text))
        near = [s for s in said if nearly_same_phrase(own, s.words) or nearly_same_name(text, s.text, closed_world)]
        if not near:
            continue
        other = near[0]
        phrase = nearly_same_phrase(own, other.words)
        meant_one = len({each.text for each in near}) == len(value.accepted) == 1
        yield Hit(
            claim=f"The gold call of {call.name!r} gives {value.name!r} as {text!r}, but the task says {other.text!r}.",
            evidence=(
                quote(task, f"{pointer}/arguments{at}", note="the gold call"),
                quote(task, other.at, text=other.text, note="what the task says"),
            ),
            fix=f"Use {other.text!r}.",
            severity=Severity.MAY_AFFECT_SCORE if phrase else severity,
            tier=Tier.CONFIRMED if FILE_NAME.fullmatch(text) and other.at.startswith("/user") else None,
            cause=shared_cause(task, f"{text!r} for {other.text!r}"),
            patch=replace(f"{pointer}/arguments{at}", other.text) if meant_one else (),
            proof=_rejected(task, f"{pointer}/arguments{at}", other.text),
        )
        return


def _slipped(
    task: AgentTask, pointer: str, call: ToolCall, value: GoldValue, conversation: Conversation, severity: Severity
) -> Iterator[Hit]:
    slip = conversation.slip(value)
    if slip is None:
        return
    given = value.accepted[0][1]
    same_digits = isinstance(given, str) and re.findall(r"\d", given) == re.findall(r"\d", slip.said)
    yield Hit(
        claim=f"The gold call of {call.name!r} gives {value.name!r} as {given!r}, but the user says {slip.said!r}.",
        evidence=(
            quote(task, f"{pointer}/arguments{slip.at}", note="the gold call"),
            quote(task, slip.said_at, text=slip.said, note="what the user says"),
        ),
        fix=f"Use {slip.said!r}.",
        severity=Severity.MAY_AFFECT_SCORE if squash(str(given)) == squash(slip.said) else severity,
        cause=shared_cause(task, f"{given!r} for {slip.said!r}"),
        patch=replace(f"{pointer}/arguments{slip.at}", slip.said) if same_digits else (),
    )


def _stray_mark(
    task: AgentTask, pointer: str, call: ToolCall, value: GoldValue, given: set[str], severity: Severity
) -> Iterator[Hit]:
    at, text = value.strings()[0]
    bare = text.rstrip(".,;:!?")
    if bare == text or bare not in given or not FILE_NAME.fullmatch(bare):
        return
    place = f"{pointer}/arguments{at}"
    other = next(
        f"{each}/arguments{where}"
        for each, earlier in task.gold_calls()
        for one in gold_values(earlier.arguments)
        for where, name in one.strings()
        if name == bare
    )
    yield Hit(
        claim=f"The gold call of {call.name!r} gives {value.name!r} as {text!r}, and another call has {bare!r}.",
        evidence=(quote(task, place, note="the gold call"), quote(task, other, note="the other call")),
        fix=f"Use {bare!r}.",
        severity=severity,
        tier=Tier.CONFIRMED,
        cause=shared_cause(task, f"{text!r} for {bare!r}"),
        patch=replace(place, bare) if len(value.accepted) == 1 else (),
        proof=_rejected(task, place, bare),
    )


def _impossible_date(task: AgentTask, pointer: str, call: ToolCall, value: GoldValue) -> Iterator[Hit]:
    if "date" not in value.member.lower() or any(_may_be_date(text) for _, text in value.strings()):
        return
    at, text = value.strings()[0]
    request = [quote(task, place, note="a text of the user") for place, _ in task.user_texts()]
    yield Hit(
        claim=f"The gold call of {call.name!r} gives {value.name!r} as {text!r}, which is not a date.",
        evidence=(quote(task, f"{pointer}/arguments{at}", note="the gold call"), *request[-1:]),
        why="A run that gives the date that is meant differs from the gold and fails.",
        fix="Write the date that the user means.",
        tier=Tier.CONFIRMED,
        cause=shared_cause(task, call.name, value.member, text),
        proof=wrongly_passes(task, gold_attempt(task)),
    )


def _may_be_date(text: str) -> bool:
    match = _DATE_LIKE.fullmatch(text)
    if match is None:
        return True
    a, b, c = match[1], match[3], match[4]
    orders = ((a, b, c), (c, b, a), (c, a, b))
    return any(len(year) in (2, 4) and _exists(int(year), int(month), int(day)) for year, month, day in orders)


def _exists(year: int, month: int, day: int) -> bool:
    try:
        datetime.date(year + 2000 if year < 100 else year, month, day)
    except ValueError:
        return False
    return True


def _wrong_person(
    task: AgentTask, pointer: str, call: ToolCall, knowledge: Knowledge, severity: Severity
) -> Iterator[Hit]:
    for found in mismatches(task, call, knowledge):
        given, recorded = found.given, found.recorded
        what = f"{given.name}, born {given.born}, but the record has {recorded.name}, born {recorded.born}"
        unasked = "no text says otherwise" if found.certain else "no text asks for a change of name"
        yield Hit(
            claim=f"The gold call of {call.name!r} names {what}, and {unasked}.",
            evidence=(
                quote(task, f"{pointer}/arguments{given.at}", note="the gold call"),
                quote(task, recorded.at, note="the name in the record"),
                quote(task, recorded.born_at, note="the date of birth in the record"),
            ),
            fix=f"Use the record: {recorded.name}, {recorded.born}.",
            severity=severity,
            tier=Tier.CONFIRMED if found.certain else Tier.SUSPECTED,
            cause=shared_cause(task, call.name, given.name, recorded.name, given.born),
            patch=_as_recorded(f"{pointer}/arguments", found, knowledge),
            proof=_rejected(task, f"{pointer}/arguments{given.born_at}", recorded.born) if found.certain else None,
        )


def _copied_wrongly(
    task: AgentTask, pointer: str, call: ToolCall, knowledge: Knowledge, severity: Severity
) -> Iterator[Hit]:
    for found in near_records(task, call, knowledge):
        name = found.given_at.rpartition("/")[2]
        yield Hit(
            claim=f"The gold call of {call.name!r} gives {name!r} as {found.given!r}, and a record that has the same "
            f"{found.shared} other values has {found.recorded!r}, which no text changes.",
            evidence=(
                quote(task, f"{pointer}/arguments{found.given_at}", note="the gold call"),
                quote(task, found.recorded_at, note="the record"),
            ),
            fix=f"Use {found.recorded!r}.",
            severity=severity,
            cause=shared_cause(task, call.name, name, found.given),
        )


def _other_city(task: AgentTask, pointer: str, call: ToolCall, severity: Severity) -> Iterator[Hit]:
    for found in other_city(task, call):
        yield Hit(
            claim=f"The gold call of {call.name!r} gives the city {found.given!r} with a postal code that all records "
            f"have with {found.recorded!r}.",
            evidence=(
                quote(task, f"{pointer}/arguments{found.given_at}", note="the gold call"),
                quote(task, found.recorded_at, note="a record with the postal code"),
            ),
            fix=f"Use {found.recorded!r}, or another postal code.",
            severity=severity,
            cause=shared_cause(task, call.name, "city", found.given),
        )


def _rejected(task: AgentTask, pointer: str, right: str) -> Proof | None:
    """Claim that the run with the right value fails."""
    attempt = with_value(task, pointer, right)
    return None if attempt is None else wrongly_fails(task, attempt)


def _as_recorded(arguments: str, found: Mismatch, knowledge: Knowledge) -> Patch:
    """Write the person as the record has it: the date of birth, or the half of the name that differs.

    A name that the user says as well stays: with the gold alone changed, the task would contradict itself.
    """
    given, recorded = found.given, found.recorded
    if given.born != recorded.born:
        return replace(arguments + given.born_at, recorded.born)
    halves = (("first_name", given.first, recorded.first), ("last_name", given.last, recorded.last))
    [(half, own, name)] = [each for each in halves if each[1] != each[2]]
    return () if knowledge.said(own) else replace(f"{arguments}{given.at}/{half}", name)
