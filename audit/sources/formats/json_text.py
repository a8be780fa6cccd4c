"""Parsing one JSON document of unknown origin, and finding the line of a value in it."""

import json
import math
import re
from pathlib import Path
from typing import Any

from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.formats.json_stream import JsonScanner
from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.files import read_text
from agenthard.taxonomy.pointer import split

MAX_DEPTH = 100
"""Levels of nesting in a record. A deeper record could be read, but not written into a split or a report."""
TOO_DEEP = f"the record is nested more than {MAX_DEPTH} levels deep"


class UnwritableError(AgentHardError, ValueError):
    """A parsed document cannot be written as JSON again."""

    code = "AH105"
    remedy = "Report the record: the benchmark cannot be written in its own format without loss."


def load_document(path: Path) -> Any:
    """Parse a file that holds one JSON document.

    Raises:
        OSError: when it cannot be read, is not a regular file, is too long or not UTF-8.
        ValueError: when it is not valid JSON, is nested too deeply, or holds a number that JSON does not have.
    """
    return load_json_text(read_text(path))


def load_json_text(text: str) -> Any:
    """Parse one JSON document.

    Raises:
        ValueError: when it is not valid JSON, is nested too deeply, or holds a number that JSON does not have.
    """
    try:
        value = json.loads(text)
    except RecursionError as error:
        raise UnwritableError(TOO_DEEP) from error
    deep = text.count("{") + text.count("[") > MAX_DEPTH
    if deep or "NaN" in text or "Infinity" in text or _PERHAPS_INFINITE.search(text):
        require_plain(value)
    return value


_PERHAPS_INFINITE = re.compile(r"\d(?:[eE]\+?\d|\d{299})")
"""What a JSON text without NaN and Infinity must hold for a number in it to be infinite: to look is faster than to walk
through all, and a pattern that begins with a digit in every case is searched for fastest."""


def require_plain(value: Any) -> None:
    """Refuse a parsed document that cannot be written as JSON again.

    Python reads ``NaN``, ``Infinity`` and ``1e999`` although JSON does not have these numbers. NaN is unequal to
    itself and infinity compares with everything, so a check of them would be wrong without notice.

    Raises:
        UnwritableError: when it is nested more than :data:`MAX_DEPTH` levels deep or holds such a number.
    """
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        below: list[Any] = []
        for item in level:
            kind = type(item)
            if kind is dict:
                below.extend(item.values())
            elif kind is list:
                below.extend(item)
            elif kind is float and not math.isfinite(item):
                raise UnwritableError(f"the record holds {item}, which is not finite: JSON has no such number")
        if not below:
            return
        level = below
    raise UnwritableError(TOO_DEEP)


def parse_record(raw: bytes, name: str, line: int, quarantine: Quarantine, kind: str = "task") -> Any | None:
    """Parse one JSON object; quarantine anything else and return None.

    An escaped half of a surrogate pair is valid JSON, but no UTF-8 file can hold it, so it is quarantined too.

    Args:
        raw: the bytes of the object.
        name: name of its file in messages.
        line: its 1-based line.
        quarantine: collects what is unreadable.
        kind: what the record is: task or run.
    """
    try:
        text = raw.decode("utf-8")
        value = load_json_text(text)
        refuse_half_characters(text, value)
    except UnicodeDecodeError as error:
        quarantine.add(name, f"not UTF-8 at byte {error.start} of the line; re-encode the file", line=line, kind=kind)
    except UnwritableError as error:
        quarantine.add(name, f"{error}; correct or remove the record", line=line, kind=kind)
    except ValueError as error:
        quarantine.add(name, f"not valid JSON: {error}; fix or remove the record", line=line, kind=kind)
    else:
        if isinstance(value, dict):
            return value
        reason = f"expected a JSON object, found {type(value).__name__}"
        quarantine.add(name, reason, line=line, kind=kind)
    return None


def refuse_half_characters(text: str, value: Any) -> None:
    """Refuse a key or a value with an escaped half of a surrogate pair.

    Args:
        text: the JSON text; only a text with an escape of a surrogate is looked at further.
        value: the parsed text.

    Raises:
        UnicodeEncodeError: when there is one.
    """
    if "\\ud" in text or "\\uD" in text:
        json.dumps(value, ensure_ascii=False).encode("utf-8")


def line_of(text: str, pointer: str) -> int:
    r"""Find the 1-based line on which the value at ``pointer`` starts in a JSON document.

    When a part of the pointer does not exist, this is the line of the deepest part that does.

    >>> line_of('[\n {"a": 1,\n  "b": [2,\n 3]}]', "/0/b/1")
    4
    """
    scanner = JsonScanner.of_text(text)
    scanner.peek()
    position = scanner.at
    for token in split(pointer):
        child = _child(scanner, position, token)
        if child is None:
            break
        position = child
    return text.count("\n", 0, position) + 1


def _child(scanner: JsonScanner, position: int, token: str) -> int | None:
    """Return where the member or element ``token`` of the value at ``position`` starts."""
    scanner.at = position
    opening = scanner.peek()
    if opening not in ("{", "["):
        return None
    scanner.take(opening)
    index = 0
    while scanner.peek() not in ("", "}", "]"):
        key = str(index)
        if opening == "{":
            key = scanner.value()
            scanner.take(":")
            scanner.peek()
        if key == token:
            return scanner.at
        scanner.value()
        if scanner.peek() == ",":
            scanner.take(",")
        index += 1
    return None
