"""Check: identifiers and addresses of the user that are almost one of the database."""

import re
from collections.abc import Iterator

from rapidfuzz.distance import OSA

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.dates import parse_date
from agenthard.audit.detectors.support.knowledge import Knowledge, knowledge_of, scalars_in
from agenthard.audit.detectors.support.sharing import IdentityCache
from agenthard.audit.detectors.support.text import squash
from agenthard.audit.evidence import quote
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.task import AgentTask, EnvironmentSpec

_EMAIL = r"[\w.+-]+@[\w-]+\.[\w.-]*\w"
_IDENTIFIER = r"#?(?=\w*[A-Za-z])(?=\w*\d\w*\d\w*\d)\w{6,}"
_QUOTED = re.compile(rf"(?<![\w#@.-])(?:{_EMAIL}|{_IDENTIFIER})(?![\w@-])")


_LONGEST = 100


class _Known:
    """The identifiers of a database, to be found by what is a character away, without comparing them all."""

    def __init__(self, environment: EnvironmentSpec) -> None:
        texts = (text for text in scalars_in(environment.state) if len(text) <= _LONGEST)
        self.by_bare = {squash(text): text for text in texts if _QUOTED.fullmatch(text)}
        self._by_rest: dict[str, list[str]] = {}
        for bare in self.by_bare:
            for rest in _rests(bare):
                self._by_rest.setdefault(rest, []).append(bare)

    def near(self, bare: str) -> set[str]:
        """Return those one slip away: a character more, less or exchanged, or two neighbours in the other order."""
        if len(bare) > 2 * _LONGEST:
            return set()
        found = {other for rest in _rests(bare) for other in self._by_rest.get(rest, ())}
        return {other for other in found if OSA.distance(bare, other, score_cutoff=1) <= 1}


def _rests(bare: str) -> set[str]:
    """Return a text and what is left of it without one character: texts that are a slip apart have one in common."""
    return {bare, *(bare[:i] + bare[i + 1 :] for i in range(len(bare)))}


_known = IdentityCache(_Known)


class MisquotedIdentifier(TaskDetector):
    """An e-mail address or an identifier that the user gives is one of the database, letter by letter.

    Flagged is one that appears nowhere in the task's database, while exactly one of the database differs from it in
    punctuation alone or in a single character, and the user's texts do not give that one as well.

    Flagged: "your email is adalovelace17@example.com", where the database has ``ada.lovelace17@example.com``.
    Not flagged: a wrong number that the user corrects later, because the right one is in the text; a new address; a
    number that is like several of the database.

    Cosmetic where a gold call tries it: the author knows that it leads nowhere at first.

    Wrong where the user is meant to make the mistake and to be helped without ever giving the right one.
    """

    id = "misquoted-identifier"
    title = "Identifiers of the user that are almost right"
    version = "1"
    category = "ambiguous-instruction"
    severity = Severity.MAY_AFFECT_SCORE
    tier = Tier.SUSPECTED
    why = "The simulated user says what the tools do not find, and whether a run gets past it is luck."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Only tasks whose database is part of the files can be checked."""
        return "no shared state is part of the files" if task.environment.state is None else None

    def inspect(self, task: AgentTask) -> Iterator[Hit]:
        """Yield one hit per identifier that is almost right."""
        knowledge = knowledge_of(task)
        known = _known(task.environment)
        for pointer, text in task.user_texts():
            for said in sorted(set(_QUOTED.findall(text))):
                meant = _meant(said, known, knowledge)
                if meant is not None and not any(meant in other for _, other in task.user_texts()):
                    tried = any(said in str(call.arguments) for _, call in task.gold_calls())
                    yield Hit(
                        claim=f"The user gives {said!r}, which the database does not have; it has {meant!r}.",
                        evidence=(quote(task, pointer, text=said, note="what the user gives"),),
                        fix=f"Write {meant!r}.",
                        severity=Severity.COSMETIC if tried else None,
                        cause=f"{said} for {meant}",
                    )


def _meant(said: str, known: _Known, knowledge: Knowledge) -> str | None:
    """Return the one identifier of the database that ``said`` is almost, if it is none itself."""
    bare = squash(said)
    if (same := known.by_bare.get(bare)) is not None:
        return same if "@" in said and same.casefold() != said.casefold() else None
    near = known.near(bare)
    if len(near) != 1 or parse_date(said) or knowledge.in_state(said):
        return None
    return known.by_bare[near.pop()]
