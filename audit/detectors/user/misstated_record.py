"""What users say about their records that the records contradict."""

import re
from collections.abc import Iterator

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.own_records import Found, fields, full_name, own_records
from agenthard.audit.detectors.support.ownership import unused_records
from agenthard.audit.detectors.support.reachable_records import objects_in, reachable, texts_of
from agenthard.audit.detectors.support.stated_records import (
    LONGEST,
    Fact,
    charges_in,
    contradicted_charges,
    contradicted_days,
    days_given,
    days_of,
    places_in,
)
from agenthard.audit.evidence import quote
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.task import AgentTask

_POSTAL = re.compile(r"(?<![\w#$.,-])\d{5}(?![\w-]|,\d)")
_COUNTED = re.compile(
    r"\b(?:days?|weeks?) (?:later|earlier|before|after|from)\b|\bnext (?:day|week)\b|\bday (?:after|before)\b"
    r"|\b(?:yesterday|tomorrow|today|push\w*|delay\w*)\b",
    re.IGNORECASE,
)
_LONGEST_DAY = 12
"""Characters of a day; longer is a moment or a sentence."""
_POSTAL_FIELD = re.compile(r"zip|postal|post_?code")
_ADDRESS_FIELD = re.compile(r"address")
_AFTER_STATE = re.compile(r"\b[A-Z]{2} (\d{5})\b")
_KINDS = r"(?:Street|Avenue|Road|Drive|Lane|Boulevard|Court|Way|Place|Terrace)"
_HOUSE = re.compile(rf"\b(\d{{1,5}}) ([A-Z]\w+(?: [A-Z]\w+)* {_KINDS})\b")
_STREET = re.compile(rf"\b([A-Z]\w+) ({_KINDS})\b(?! (?:store|branch|shop|ATM))")


class MisstatedRecord(TaskDetector):
    """What the texts of the user say of the user's records is what the records have.

    The records of a user are those of the name or the key that the texts give, those that they name, those that have
    the user's key as a field, and those that gold calls name. Rules:

    1. a charge with a name, an amount in cents and perhaps a day ("American Airlines $342.50 on 10/10/2025"): where
       records have all facts but one, the texts have that one, too;
    2. a day next to the code of a place ("the flight from JFK on May 17"): where records have the code, one has the
       day, unless a gold call gives it, or it is the day that something is moved to;
    3. a day that neither a record nor a gold call has is not in the texts, where a gold call gives one that neither a
       record nor a text has;
    4. five digits in the texts are the user's postal code, or the gold has them; a street that the texts name is in the
       records, where these have another one with the same name or of the same kind, and a house number, too;
    5. a record that the texts name is used by a gold call, where the gold changes records of the same table of which
       the texts name none.

    Flagged: "your flight from EWR on June 21", where all flights from EWR are in May. "The order W5797164" of the same
    user, where the gold changes #W5061109.
    Not flagged: "move it to June 21"; a postal code that the gold sets.

    Wrong where the user is meant to be mistaken.
    """

    id = "misstated-record"
    title = "users who say something else of their records than these have"
    version = "1"
    category = "ambiguous-instruction"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    why = "The agent does not find what the user speaks of, or finds another record than the ground truth changes."
    experimental = True

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why no record of the user can be found, or None."""
        return None if reachable(task) else "no record of the user is part of the files"

    def inspect(self, task: AgentTask) -> Iterator[Hit]:
        """Yield one hit per statement that the records contradict."""
        texts = [(at, text) for at, text in task.user_texts() if not at.endswith("/persona")]
        spoken = any(charges_in(text) or places_in(text) for _, text in texts)
        objects = [each for found in reachable(task) for each in objects_in(found)] if spoken else []
        given = days_given([call.arguments for _, call in task.gold_calls()])
        for fact in (*contradicted_charges(texts, objects), *contradicted_days(texts, objects, given)):
            yield _of_fact(task, fact)
        gold = " ".join(str(call.arguments) for _, call in task.gold_calls())
        people = _speakers(task, texts)
        yield from _postal_code(task, texts, people, gold)
        yield from _street(task, texts, people, gold)
        yield from _house(task, texts, people, gold)
        yield from _other_day(task, texts)
        yield from _unused(task)


def _of_fact(task: AgentTask, fact: Fact) -> Hit:
    return Hit(
        claim=f"The user says {fact.said!r}; the record with the other facts has another {fact.what}.",
        evidence=(
            quote(task, fact.at, text=fact.quote, note="what the user says"),
            quote(task, fact.record[0], note="the record"),
        ),
        fix=f"Say the {fact.what} of the record.",
    )


def _speakers(task: AgentTask, texts: list[tuple[str, str]]) -> list[Found]:
    """List the records of the person who speaks: of the name or key that introduces them, or of a name in the texts."""
    own = own_records(task, (text for _, text in texts))
    whole = " ".join(text for _, text in texts)
    named = [each for each in reachable(task) if (name := full_name(each[1])) and name in whole]
    return own or (named if len(named) == 1 else [])


def _postal_code(task: AgentTask, texts: list[tuple[str, str]], people: list[Found], gold: str) -> Iterator[Hit]:
    codes = list(fields(people, _POSTAL_FIELD))
    written = [(own, _AFTER_STATE.findall(own.value)) for own in fields(people, _ADDRESS_FIELD)]
    codes += [own._replace(value=code) for own, found in written for code in found]
    said = [(at, match[0]) for at, text in texts for match in _POSTAL.finditer(text)]
    if not codes or not said or any(code in {own.value for own in codes} or code in gold for _, code in said):
        return
    at, code = said[0]
    yield Hit(
        claim=f"The user's postal code is said to be {code}, and the user's record has {codes[0].value}.",
        evidence=(quote(task, at, text=code, note="what is said"), quote(task, codes[0].at, note="the record")),
        fix=f"Say {codes[0].value}.",
    )


def _street(task: AgentTask, texts: list[tuple[str, str]], people: list[Found], gold: str) -> Iterator[Hit]:
    if not any(_STREET.search(text) for _, text in texts):
        return
    known = {
        match.groups(): at
        for at, record in (*people, *reachable(task))
        for text in texts_of(record)
        for match in _STREET.finditer(text)
    }
    for at, text in texts if people else ():
        for match in _STREET.finditer(text):
            if match.groups() in known or match[0] in gold:
                continue
            alike = [street for street in known if street[0] == match[1] or street[1] == match[2]]
            if alike:
                yield Hit(
                    claim=f"The user speaks of {match[0]!r}, and the user's records have {' '.join(alike[0])!r}.",
                    evidence=(
                        quote(task, at, text=match[0], note="what is said"),
                        quote(task, known[alike[0]], note="the record"),
                    ),
                    fix=f"Say {' '.join(alike[0])}.",
                )
                return


def _house(task: AgentTask, texts: list[tuple[str, str]], people: list[Found], gold: str) -> Iterator[Hit]:
    said = [(at, match) for at, text in texts for match in _HOUSE.finditer(text)]
    known = [
        (place, match.groups())
        for place, record in ((*people, *reachable(task)) if said and people else ())
        for text in texts_of(record)
        for match in _HOUSE.finditer(text)
    ]
    for at, match in said:
        same = [(place, found[0]) for place, found in known if found[1] == match[2]]
        if same and match[1] not in {number for _, number in same} and match[0] not in gold:
            yield Hit(
                claim=f"The user speaks of {match[0]!r}, and the user's records have the number {same[0][1]}.",
                evidence=(quote(task, at, text=match[0], note="said"), quote(task, same[0][0], note="the record")),
                fix=f"Say {same[0][1]} {match[2]}.",
            )
            return


def _other_day(task: AgentTask, texts: list[tuple[str, str]]) -> Iterator[Hit]:
    """Yield a day that only the texts have, where the gold gives one that neither the texts nor the records have."""
    said = {day: (at, text[start:end]) for at, text in texts for start, end, day in days_of(text)}
    if not said or any(_COUNTED.search(text) for _, text in texts):
        return
    changed = [
        (at, days_given([text for text in texts_of(call.arguments) if len(text) <= _LONGEST_DAY]))
        for at, call in task.gold_calls()
    ]
    given = {day: at for at, days in changed for day in days}
    known = {day for _, record in reachable(task) if len(str(record)) <= LONGEST for day in days_given(record)}
    lost = [day for day in said if day not in given and day not in known]
    new = [day for day in given if day not in said and day not in known]
    if lost and new:
        at, text = said[lost[0]]
        yield Hit(
            claim=f"The user says {text!r}, which neither a record nor a gold call has; the gold gives another day, "
            "which neither a record nor a text has.",
            evidence=(quote(task, at, text=text, note="said"), quote(task, given[new[0]], note="the gold call")),
            fix="Let the texts and the ground truth name one day.",
        )


def _unused(task: AgentTask) -> Iterator[Hit]:
    for found in unused_records(task, task.user_texts()):
        yield Hit(
            claim=f"The texts name {found.said}, which no gold call uses; the gold changes {found.given}, {found.how}.",
            evidence=(
                quote(task, found.said_at, text=found.said, note="the record that the texts name"),
                quote(task, found.given_at, note="the record that the gold changes"),
            ),
            fix=f"Name {found.given} in the texts, or change {found.said} in the gold.",
        )
