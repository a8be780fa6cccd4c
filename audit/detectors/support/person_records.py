"""People in the arguments of a gold call, compared with what the database says about them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from agenthard.audit.detectors.support.dates import parse_date, years_in
from agenthard.audit.detectors.support.knowledge import Knowledge
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.task import AgentTask, ToolCall

STATE = "/environment/state"


@dataclass(frozen=True)
class Person:
    """A person with a first name, a last name and a date of birth."""

    at: str
    """JSON Pointer of the object that holds the names."""
    born_at: str
    """JSON Pointer of the date of birth."""
    first: str
    """First name."""
    last: str
    """Last name."""
    born: str
    """Date of birth, as written."""

    @property
    def name(self) -> str:
        """Full name."""
        return f"{self.first} {self.last}"


@dataclass(frozen=True)
class Mismatch:
    """A person of a gold call and the person of the record that it contradicts."""

    given: Person
    """As the gold has it; the pointers are relative to the arguments."""
    recorded: Person
    """As the database has it; the pointers lead into the task."""
    certain: bool
    """True when the name is the same and only the date of birth differs."""


def mismatches(task: AgentTask, call: ToolCall, knowledge: Knowledge) -> Iterator[Mismatch]:
    """Find people in a gold call whose data contradict the records that the call itself refers to.

    The records are those of the shared state under an id that the call gives (a user, a reservation), and those that
    they refer to by an id of their own. Two contradictions are found: the same name with another date of birth that
    the user does not say; and the same date of birth and half of a name with another half, while the user does not
    speak of the recorded name, so that no change of name is asked for.

    Args:
        task: the task.
        call: the gold call.
        knowledge: what is known of the task.
    """
    recorded = list(_recorded(task.environment.state, call))
    names = {person.name for person in recorded}
    for person in _people(call.arguments, ""):
        same_name = [other for other in recorded if other.name == person.name]
        if same_name:
            if all(not _same_day(other.born, person.born) for other in same_name) and not _says_year(task, person):
                yield Mismatch(person, same_name[0], True)
            continue
        for other in recorded:
            shares_half = (other.first == person.first) != (other.last == person.last)
            unsaid = other.last if other.first == person.first else other.first
            if shares_half and _same_day(other.born, person.born) and not knowledge.said(unsaid):
                if person.name not in names:
                    yield Mismatch(person, other, False)
                break


def _recorded(state: Any, call: ToolCall) -> Iterator[Person]:
    if not isinstance(state, dict):
        return
    seen: set[str] = set()
    for at, record in _records(state, call.arguments):
        for place, found in [(at, record), *_records(state, record)]:
            if place not in seen:
                seen.add(place)
                yield from _people(found, place)


def _records(state: dict[str, Any], referring: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for value in referring.values():
        for table, rows in state.items():
            if isinstance(value, str) and isinstance(rows, dict) and isinstance(rows.get(value), dict):
                yield join(STATE, table, value), rows[value]


def _people(value: Any, at: str) -> Iterator[Person]:
    if isinstance(value, dict):
        nested = isinstance(value.get("name"), dict)
        name = value["name"] if nested else value
        key = "dob" if "dob" in value else "date_of_birth"
        first, last, born = name.get("first_name"), name.get("last_name"), value.get(key)
        if isinstance(first, str) and isinstance(last, str) and isinstance(born, str):
            yield Person(join(at, "name") if nested else at, join(at, key), first, last, born)
        for part, member in value.items():
            yield from _people(member, join(at, part))
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from _people(item, join(at, i))


def _same_day(a: str, b: str) -> bool:
    return a == b or (parse_date(a) is not None and parse_date(a) == parse_date(b))


def _says_year(task: AgentTask, person: Person) -> bool:
    born = parse_date(person.born)
    return born is None or any(born.year in years_in(text) for _, text in task.user_texts())
