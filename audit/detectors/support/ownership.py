"""Whose records a state has: who the texts say is speaking, and the owners of what the texts and gold calls name."""

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from agenthard.audit.detectors.support.gold_values import gold_values
from agenthard.audit.detectors.support.own_records import full_name, introduced_names, own_records
from agenthard.audit.detectors.support.sharing import IdentityCache
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.task import AgentTask, EnvironmentSpec, ToolCall

_WORD = re.compile(r"#?[\w.+-]+(?:@[\w-]+(?:\.[\w-]+)+)?")
_FEWEST = 5
"""Records of a table of people, or of one whose records have owners."""


class Owned(NamedTuple):
    """A record that someone owns."""

    at: str
    """JSON Pointer into the task."""
    table: str
    owner: str
    """Key of the person."""


class _Owners:
    """The people of a state by their keys and addresses, and the records of which a field is the key of a person."""

    def __init__(self, environment: EnvironmentSpec) -> None:
        tables = environment.state if isinstance(environment.state, dict) else {}
        self.people: dict[str, str] = {}
        self.names: dict[str, str] = {}
        self.mail: dict[str, str] = {}
        self.records: dict[str, Owned] = {}
        self.shapes: set[str] = set()
        for name, rows in tables.items():
            for key, row in rows.items() if isinstance(rows, dict) and len(rows) >= _FEWEST else ():
                if isinstance(row, dict) and (named := full_name(row)) is not None:
                    self.people[str(key)] = join("/environment/state", name, key)
                    self.names[str(key)] = named
                    mail = next((str(item) for item in row.values() if isinstance(item, str) and "@" in item), None)
                    if mail:
                        self.mail[mail.casefold()] = str(key)
        self.shapes = {_shape(key) for key in self.people} - {""}
        for name, rows in tables.items() if self.people else ():
            for key, row in rows.items() if isinstance(rows, dict) else ():
                owner = self._owner(row)
                if owner is not None and str(key) not in self.people:
                    self.records[str(key)] = Owned(join("/environment/state", name, key), str(name), owner)

    def _owner(self, row: Any) -> str | None:
        fields = row.values() if isinstance(row, dict) else ()
        owners = {item for item in fields if isinstance(item, str) and item in self.people}
        return owners.pop() if len(owners) == 1 else None


_owners = IdentityCache(_Owners)


def has_owners(task: AgentTask) -> bool:
    """Tell whether the state has people and records that belong to them."""
    return bool(_owners(task.environment).records)


class Foreign(NamedTuple):
    """Something that belongs to another person than the one who speaks."""

    said_at: str
    """JSON Pointer of the text that says who speaks, or that names a record."""
    said: str
    given_at: str
    """JSON Pointer of the argument of a gold call."""
    given: str
    how: str


def foreign_records(task: AgentTask) -> Iterator[Foreign]:
    """Yield one record of another person than the user: one that the gold calls name, or one that the texts name.

    The user is the one person of the state whose key, address or full name the texts give. Nothing is yielded where
    they give several, or where a gold call names a record of the user as well as of others.
    """
    owners = _owners(task.environment)
    texts = list(task.user_texts())
    said = [(at, word.rstrip(".-")) for at, text in texts for word in _WORD.findall(text)]
    keys = ((at, word, word if word in owners.people else owners.mail.get(word.casefold())) for at, word in said)
    speakers = [(at, word, key) for at, word, key in keys if key is not None]
    if not speakers and owners.people:
        found = {place.rpartition("/")[2]: place for place, _ in own_records(task, (text for _, text in texts))}
        found = {key: place for key, place in found.items() if owners.people.get(key) == place}
        if len(found) == 1:
            key = next(iter(found))
            speakers = [(texts[0][0], "", key)]
    if not any(word for _, word, _ in speakers):
        unknown = [(at, word) for at, word in said if _shape(word) in owners.shapes and word not in owners.records]
        yield from _of_unknown(task, owners, unknown)
    if not speakers:
        introduced = [(at, name) for at, text in texts for name in introduced_names(text)]
        if not any(_is_name_of(name, known) for _, name in introduced for known in owners.names.values()):
            yield from _of_unknown(task, owners, introduced)
    if len({key for _, _, key in speakers}) != 1:
        return
    said_at, word, speaker = speakers[0]
    yield from _of_gold(task, owners, said_at, word, speaker)
    yield from _of_texts(task, owners, said, speaker)


def _given(task: AgentTask) -> list[tuple[str, str]]:
    return [
        (f"{pointer}/arguments{at}", item)
        for pointer, call in task.gold_calls()
        for value in gold_values(call.arguments)
        for at, item in value.strings()
    ]


def _named(task: AgentTask, owners: _Owners) -> list[tuple[str, str, str]]:
    """List the keys of people and of their records that the gold calls give, with the person."""
    return [
        (at, item, item if item in owners.people else owners.records[item].owner)
        for at, item in _given(task)
        if item in owners.people or item in owners.records
    ]


def _of_gold(task: AgentTask, owners: _Owners, said_at: str, word: str, speaker: str) -> Iterator[Foreign]:
    named = _named(task, owners)
    if named and speaker not in {owner for _, _, owner in named}:
        at, item, owner = named[-1]
        yield Foreign(said_at, word, at, item, f"which is of {owner!r}, and the user is {speaker!r}")


def _of_unknown(task: AgentTask, owners: _Owners, unknown: list[tuple[str, str]]) -> Iterator[Foreign]:
    """Yield the person whose records the calls name, where no record has the name or key of the user."""
    named = _named(task, owners)
    if unknown and len({owner for _, _, owner in named}) == 1:
        (at, item, owner), (said_at, said) = named[0], unknown[0]
        how = f"which is of {owners.names[owner]!r}, and the user is {said!r}, whom the state does not have"
        yield Foreign(said_at, said, at, item, how)


def _is_name_of(said: str, known: str) -> bool:
    """Tell whether a run of capitalised words is a name, or begins with it."""
    return known.casefold() in (said.casefold(), " ".join(said.split()[:2]).casefold())


def _shape(text: str) -> str:
    """Write a key by its parts: ada_lovelace_17 as a_a_9; empty for one without digits or without parts."""
    shape = re.sub(r"\d+", "9", re.sub(r"[A-Za-z]+", "a", text))
    return shape if "9" in shape and "_" in shape else ""


def _of_texts(task: AgentTask, owners: _Owners, said: Iterable[tuple[str, str]], speaker: str) -> Iterator[Foreign]:
    """Yield a record of another that the texts name, where the calls use one of the same table that no text names."""
    given = _given(task)
    words = {word for _, word in said}
    used = {item for _, item in given}
    foreign = [
        (at, word)
        for at, word in said
        if word in owners.records and owners.records[word].owner != speaker and word not in used
    ]
    for at, word in foreign[:1]:
        table = owners.records[word].table
        unsaid = [
            (place, item)
            for place, item in given
            if item in owners.records
            and owners.records[item].table == table
            and item not in words
            and owners.records[item].owner == speaker
        ]
        if unsaid:
            how = f"which no text names; the texts name {word!r}, which is of {owners.records[word].owner!r}"
            yield Foreign(at, word, *unsaid[0], how)


def unused_records(task: AgentTask, texts: Iterable[tuple[str, str]]) -> Iterator[Foreign]:
    """Yield a record that texts name and no gold call changes, where the gold changes none that the texts name.

    The gold then changes a record of the same table. Keys in texts may lack a sign before them: W50 for #W50.

    Args:
        task: the task.
        texts: the texts, each with its JSON Pointer.
    """
    owners = _owners(task.environment)
    said = named_records(task, texts)
    given = _given(task)
    lost = [key for key in said if key not in {item for _, item in given}]
    changed = changed_records(task)
    if not lost or any(item in said for _, item in changed):
        return
    at, word = said[lost[0]]
    for place, item in changed:
        if owners.records[item].table == owners.records[lost[0]].table:
            yield Foreign(at, word, place, item, "which no text names")
            return


def named_records(task: AgentTask, texts: Iterable[tuple[str, str]]) -> dict[str, tuple[str, str]]:
    """Return the records with an owner that texts name, by key: where, and by which word.

    Args:
        task: the task.
        texts: the texts, each with its JSON Pointer.
    """
    records = _owners(task.environment).records
    said: dict[str, tuple[str, str]] = {}
    for at, text in texts if records else ():
        for word in (found.rstrip(".-") for found in _WORD.findall(text)):
            key = next((key for key in (word, f"#{word}") if key in records), None)
            if key is not None:
                said.setdefault(key, (at, word))
    return said


def changed_records(task: AgentTask) -> list[tuple[str, str]]:
    """List the records with an owner that gold calls give, reads aside: where, and the key."""
    records = _owners(task.environment).records
    writes = tuple(f"{at}/" for at, call in task.gold_calls() if not _reads(task, call))
    return [(at, item) for at, item in _given(task) if item in records and at.startswith(writes)]


def _reads(task: AgentTask, call: ToolCall) -> bool:
    tool = task.tool(call.name, call.requestor)
    return tool is not None and tool.effect == "read"
