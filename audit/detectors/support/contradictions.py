"""How one response of a tool can contradict its call, or what was answered before."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from agenthard.audit.detectors.support.answered import Answered, parsed
from agenthard.audit.evidence import canonical_json
from agenthard.taxonomy.task import ToolSpec

Facts = dict[tuple[str, str], tuple[dict[str, Any], Answered]]
"""Records that a response files under their own identifier, by (field, identifier), with that response."""


class Compared(NamedTuple):
    """One thing of a response that could be compared."""

    kind: str
    """What it was compared with: argument, repetition or record."""
    field: str
    """The argument; empty for other kinds."""
    wrong: bool
    """Whether they contradict one another."""
    before: Answered
    """Where the one stands: the call itself, or the response before."""
    said: str
    """Text of the one; empty for the whole response."""
    now: str
    """Text of the other, as it stands in the response; empty for the whole of it."""


class Memory:
    """What the tools of one run have said so far, as far as nothing was written since."""

    def __init__(self) -> None:
        """Start with nothing said."""
        self._answers: dict[tuple[str, str, str], Answered] = {}
        self._records: Facts = {}

    def compare(self, tool: ToolSpec, now: Answered) -> Iterator[Compared]:
        """Yield what can be compared of one response, and remember it."""
        if tool.effect == "read":
            key = (now.call.requestor, now.call.name, canonical_json(now.call.arguments))
            before = self._answers.setdefault(key, now)
            if before is not now:
                yield Compared("repetition", "", before.text != now.text, before, "", "")
            self._records |= _records(now)
            return
        response = parsed(now.text)
        self._answers.clear()
        if isinstance(response, dict) and "error" not in response:
            yield from _arguments(now, response)
            yield from self._against_records(now, response)

    def _against_records(self, now: Answered, response: Mapping[str, Any]) -> Iterator[Compared]:
        named = set(_texts(now.call.arguments))
        for record in _inner_records(response):
            identifiers = [(field, value) for field, value in record.items() if _is_in(value, named)]
            for key in identifiers:
                if key not in self._records:
                    continue
                facts, before = self._records[key]
                shared = sorted((facts.keys() & record.keys()) - {key[0]} - now.call.arguments.keys())
                changed = next((field for field in shared if facts[field] != record[field]), None)
                if changed is not None:
                    said, told = _member(changed, facts[changed]), _member(changed, record[changed])
                    yield Compared("record", "", True, before, _as_written(said, before), _as_written(told, now))
                elif shared:
                    yield Compared("record", "", False, before, "", "")


def _arguments(now: Answered, response: Mapping[str, Any]) -> Iterator[Compared]:
    for name, asked in now.call.arguments.items():
        told = response.get(name)
        if type(asked) is type(told) and isinstance(asked, (str, bool)) and asked != "":
            written = _as_written(_member(name, told), now)
            yield Compared("argument", name, _plain(asked) != _plain(told), now, "", written)


def _plain(value: Any) -> Any:
    return re.sub(r"[\W_]+", "", value).casefold() if isinstance(value, str) else value


def _records(now: Answered) -> Facts:
    """Find the records of a response that stand under their own identifier: ``{"7": {"id": "7", ...}}``."""
    found: Facts = {}
    for entry in _inner_records(parsed(now.text), outermost=True):
        for key, record in entry.items():
            if isinstance(record, dict):
                found |= {(field, key): (record, now) for field, value in record.items() if value == key}
    return found


def _inner_records(value: Any, outermost: bool = False) -> Iterator[dict[str, Any]]:
    """Yield all objects inside JSON data, the outermost one only when asked for."""
    if isinstance(value, dict) and outermost:
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _inner_records(item, outermost=True)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _texts(item)


def _is_in(value: Any, named: set[str]) -> bool:
    return isinstance(value, str) and value in named


def _member(name: str, value: Any) -> str:
    return f"{json.dumps(name)}: {json.dumps(value)}"


def _as_written(member: str, answer: Answered) -> str:
    """Return the text of a member when the response writes it so, else nothing: then the whole response is quoted."""
    return member if member in answer.text else ""
