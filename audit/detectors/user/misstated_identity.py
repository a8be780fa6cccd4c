"""What users say about themselves that their own records contradict."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from rapidfuzz.distance import OSA

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.dates import parse_date
from agenthard.audit.detectors.support.own_records import Found, Own, classes, fields, own_records
from agenthard.audit.detectors.support.ownership import Foreign, foreign_records, has_owners
from agenthard.audit.detectors.support.task_texts import graded
from agenthard.audit.detectors.support.text import squash
from agenthard.audit.evidence import quote
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.task import AgentTask

_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
_DAY = (
    rf"\d{{4}}-\d{{1,2}}-\d{{1,2}}|\d{{1,2}}[/-]\d{{1,2}}[/-]\d{{4}}"
    rf"|{_MONTH}\.? \d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}}|\d{{1,2}}(?:st|nd|rd|th)? {_MONTH},? \d{{4}}"
)


class _Kind(NamedTuple):
    """Something by which people are told apart."""

    name: str
    said: re.Pattern[str]
    """How texts state it; the first group is the value."""
    field: re.Pattern[str]
    """What the fields of records are called that hold it."""


_KINDS = (
    _Kind(
        "postal code",
        re.compile(
            r"\b(?:(?:zip|postal|post)(?: ?code)?(?: is|:| of)?\W{1,4}"
            r"|(?:live|living|lives|residing|resides?|based) (?:in|at|near|around)\b[^.;\d]{0,40}?)(\d{5})(?![\d-])",
            re.IGNORECASE,
        ),
        re.compile(r"zip|postal|post_?code"),
    ),
    _Kind("phone number", re.compile(r"(?<![\w-])(\(?\d{3}\)?[ .-]\d{3}[.-]\d{4})(?![\w-])"), re.compile(r"phone")),
    _Kind(
        "date of birth",
        re.compile(
            rf"\b(?:born(?: on)?|date of birth|DOB|birth ?date|birthday)\b[^.\d]{{0,20}}?({_DAY})", re.IGNORECASE
        ),
        re.compile(r"birth|dob"),
    ),
    _Kind(
        "card",
        re.compile(r"\bcard\b[^.\d]{0,25}\b(?:ending|ends)(?: (?:in|with))?\W{1,4}(\d{4})(?!\d)", re.IGNORECASE),
        re.compile(r"last_?(?:four|4)"),
    ),
    _Kind(
        "e-mail address",
        re.compile(r"\be-?mail\b[^.@\n]{0,25}?[\s:*]([\w.+-]+@[\w-]+(?:\.[\w-]+)+)", re.IGNORECASE),
        re.compile(r"e?mail"),
    ),
    _Kind(
        "address",
        re.compile(
            r"\b(?i:address)\b[^.\d\n]{0,20}?(\d{1,5} [A-Z]\w+(?: [A-Z]\w+){0,3}"
            r" (?:Street|Avenue|Road|Drive|Lane|Boulevard|Court|Way|Place|Terrace))\b"
        ),
        re.compile(r"address"),
    ),
)
_CHANGED = re.compile(
    r"\b(?:new|chang\w+|updat\w+|wrong|another|other|instead|different|old|previous|husband|wife|friend)\b",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"\bcurrent(?:ly)?(?: location)?\b:?(?: is| are)?(?P<lead>[^.;\n]{0,30}?)\b(?:in|at) (?:the )?"
    r"(?P<place>[A-Z]\w+(?: [A-Z]\w+){0,3})"
)
_TICKET = "ticket"


class MisstatedIdentity(TaskDetector):
    """What users say of themselves is what their records have.

    The user of a task is the person whom its texts introduce ("You are Ada Lovelace", "your user id is lovelace_17"),
    and the records of that name or id are searched for what identifies a person: postal code, phone number, date of
    birth, e-mail address, street, the last digits of a card. Rules:

    1. where the records have one, and the texts give one, one of those that the texts give is in the records;
    2. a ticket, which describes the same case to an agent that works without a user, has the user at the same place as
       the texts of the user;
    3. criteria that call the user by a class ("a silver member", "due to silver status"), of which the table of users
       has a few, do not leave out the one of the user's record;
    4. where records of the shared state have owners (a field is the key of a person), the gold calls name a record of
       the user, or the user's key, if they name any person's; the user has a name or a key that someone in the state
       has; and a record that the texts name is the user's, unless the calls use it, where they use one that no text
       names.

    Flagged: "Your name is Lei Li and your zip code is 85303", where the only Lei Li lives in 85033. A birthday of
    11/08/1997 where the record has 08/11/1997. "You are currently at home in the United States", with a ticket that
    says "current location: abroad in France".
    Not flagged: several numbers of which one is right; a new address; what a gold call tries on purpose; an e-mail
    address that misquoted-identifier compares with all of the database; a day and month that may be in either order;
    texts that name several people of the state.

    Wrong where the user is meant to be refused for it.
    """

    id = "misstated-identity"
    title = "users whose records contradict what they say of themselves"
    version = "2"
    category = "ambiguous-instruction"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    why = "The agent cannot find or verify the user, and what is scored needs it to."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why no record of the user can be found, or None."""
        if isinstance(task.metadata.get(_TICKET), str) or own_records(task, (text for _, text in task.user_texts())):
            return None
        if has_owners(task):
            return None
        return "no record of the user is part of the files"

    def inspect(self, task: AgentTask) -> Iterator[Hit]:
        """Yield one hit per statement that no record has, and one for two places."""
        texts = list(task.user_texts())
        records = own_records(task, (text for _, text in texts))
        ticket = task.metadata.get(_TICKET)
        described = [(f"/metadata/{_TICKET}", ticket)] if isinstance(ticket, str) else []
        for kind in _KINDS:
            yield from _contradicted(task, kind, texts, records)
            yield from _contradicted(task, kind, described, records)
        yield from _elsewhere(task, texts, described)
        yield from _of_another_class(task, records)
        yield from (_foreign(task, found) for found in foreign_records(task))


def _foreign(task: AgentTask, found: Foreign) -> Hit:
    return Hit(
        claim=f"A gold call names {found.given!r}, {found.how}.",
        evidence=(
            quote(task, found.given_at, note="the gold call"),
            quote(task, found.said_at, text=found.said, note="what the texts say")
            if found.said
            else quote(task, found.said_at, note="what the texts say"),
        ),
        fix="Let the user name itself and its own records.",
    )


def _contradicted(task: AgentTask, kind: _Kind, texts: list[tuple[str, str]], records: list[Found]) -> Iterator[Hit]:
    stated = [(at, text, match) for at, text in texts for match in kind.said.finditer(text)]
    own = list(fields(records, kind.field)) if stated else []
    if not own or any(_same(match[1], field.value) for _, _, match in stated for field in own):
        return
    given = " ".join(str(call.arguments) for _, call in task.gold_calls())
    for at, text, match in stated[:1]:
        if "@" in match[1] and any(_is_compared(match[1], field) for field in own):
            return  # one character off the database: misquoted-identifier reports it
        if match[1] in given or _CHANGED.search(text[max(0, match.start() - 60) : match.end()]):
            return
        yield Hit(
            claim=f"The user's {kind.name} is said to be {match[1]!r}, and the user's records have {_listed(own)}.",
            evidence=(
                quote(task, at, text=match[0], note="what is said of the user"),
                quote(task, own[0].at, note="what the record has"),
            ),
            fix=f"Say what the record has: {own[0].value}.",
            cause=None,
        )


def _is_compared(said: str, field: Own) -> bool:
    return field.at.startswith("/environment") and OSA.distance(said, field.value, score_cutoff=1) <= 1


def _listed(own: list[Own]) -> str:
    return ", ".join(repr(value) for value in list(dict.fromkeys(field.value for field in own))[:4])


def _same(said: str, recorded: str) -> bool:
    """Tell whether two ways to write a number or a day are one."""
    if (day := parse_date(said)) is not None and (other := parse_date(recorded)) is not None:
        one, two = (re.findall(r"\d+", text) for text in (said, recorded))
        alike = [len(part) == 4 for part in one] == [len(part) == 4 for part in two]
        return list(map(int, one)) == list(map(int, two)) if alike and len(one) == 3 else day == other
    if re.search(r"[a-z]", said):
        return squash(said) in squash(recorded) or squash(recorded) in squash(said)
    digits, other_digits = (re.sub(r"\D", "", text) for text in (said, recorded))
    return bool(digits) and other_digits.endswith(digits)


def _elsewhere(task: AgentTask, texts: list[tuple[str, str]], described: list[tuple[str, str]]) -> Iterator[Hit]:
    said = [(at, match) for at, text in texts for match in _PLACE.finditer(text)]
    told = [(at, match) for at, text in described for match in _PLACE.finditer(text)]
    if said and told and not {match["place"] for _, match in said} & {match["place"] for _, match in told}:
        (at, one), (other_at, other) = said[0], told[0]
        yield Hit(
            claim=f"The user is in {one['place']} by its own texts, and in {other['place']} by the ticket.",
            evidence=(
                quote(task, at, text=one[0], note="the user's own text"),
                quote(task, other_at, text=other[0], note="the ticket"),
            ),
            fix="Give one place in both.",
        )


_NOT = r"(?<!\bnot )(?<!\bnot an )(?<!\bnot a )(?<!\bbe a )(?<!\bbeing a )"


def _of_another_class(task: AgentTask, records: list[Found]) -> Iterator[Hit]:
    criteria = [(at, text) for at, text in graded(task) if at.startswith("/evaluation")]
    for own, words in classes(task, records) if criteria else ():
        called = re.compile(rf"{_NOT}\b({'|'.join(sorted(words))}) (?:member|status|tier)", re.IGNORECASE)
        found = [(at, match) for at, text in criteria for match in called.finditer(text)]
        if found and own.value.lower() not in {match[1].lower() for _, match in found}:
            at, match = found[0]
            yield Hit(
                claim=f"The criteria speak of {match[0]!r}, and the user's record has {own.value!r}.",
                evidence=(
                    quote(task, at, text=match[0], note="the criteria"),
                    quote(task, own.at, note="what the record has"),
                ),
                fix="Let the criteria and the record agree.",
                category="unreachable-score",
            )
