"""The text of evidence as the benchmark's own files write it, found again in the bytes on disk.

A quote is a part of our record of a task. A maintainer needs the words of the file: ``"seats": [1]`` where the record
says ``{"$any_of": [1], "$optional": false}``. The origins of a record say from which file, line and JSON value its
parts come; from there the rest of the pointer is followed, as far as the file has the same structure.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from agenthard.audit.judge.verify.quotes import locate
from agenthard.audit.sources.base import Source
from agenthard.audit.sources.formats.file_texts import FileText, FileTexts
from agenthard.audit.sources.formats.json_nodes import JsonNode
from agenthard.taxonomy.finding import Evidence, Finding, NativeText
from agenthard.taxonomy.pointer import join, resolve, split
from agenthard.taxonomy.record import Origin
from agenthard.taxonomy.task import AgentTask, ToolSpec

WITH_KEY = 300
"""A value of an object is shown with its key when both together have at most so many characters."""
LONGEST = 2000
"""Of a longer value that only contains what is quoted, its beginning is shown."""
TERSE = 200
"""A shorter text means little alone and is shown inside the JSON around it."""
JSON_FILES = (".json", ".jsonl", ".json.gz", ".jsonl.gz")
TELLING = 12
"""Characters that a part of a text needs to be searched in values below the place that is known."""
_SEARCHED = 5000
"""Values below a place that are compared with a quote."""
_UNIT = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|.", re.DOTALL)
"""What makes one character of a JSON string."""


def origin_of(task: AgentTask, pointer: str) -> Origin | None:
    """Find the origin of the text at ``pointer``, with the rest of the pointer appended to the origin's.

    A tool's own origin counts before those of the task; among these, the longest prefix of ``pointer`` counts.
    """
    found = _origin(task, split(pointer))
    if found is None:
        return None
    origin, rest = found
    return origin.model_copy(update={"pointer": join(origin.pointer, *rest)})


def _origin(task: AgentTask, tokens: Sequence[str]) -> tuple[Origin, Sequence[str]] | None:
    """Return the nearest known origin above a place, and the tokens below it."""
    if len(tokens) > 2 and tokens[0] == "environment" and tokens[1] in ("tools", "user_tools"):
        try:
            tool = resolve(task, join("", *tokens[:3]))
        except LookupError:
            tool = None
        if isinstance(tool, ToolSpec):
            if tokens[3:4] == ["implementation"] and tool.implementation is not None:
                return tool.implementation.origin, ()
            if tool.origin is not None:
                return tool.origin, tokens[3:]
    for length in range(len(tokens), -1, -1):
        origin = task.origins.get(join("", *tokens[:length]))
        if origin is not None:
            return origin, tokens[length:]
    return None


class NativeFiles:
    """The files of a benchmark, in which the native text of evidence is found.

    Of a file with a JSON value per line only the lines that are asked for are read: it may be larger than memory.
    """

    def __init__(self, path_of: Callable[[str], Path]) -> None:
        """Read nothing yet.

        Args:
            path_of: where the file of an origin is; see ``Source.file_path``.
        """
        self._texts = FileTexts(path_of)

    def find(self, task: AgentTask, evidence: Evidence) -> NativeText | None:
        """Find the native text of a quote of a task.

        Returns:
            The text with its place; None when its source does not say which file it is from, or when that file holds
            no text, is gone, or has another structure.
        """
        tokens = split(evidence.pointer)
        found = _origin(task, tokens)
        if found is None:
            return None
        origin, rest = found
        text, node = self._document(origin.file, origin.line)
        if text is not None and node is not None:
            whole = 0 < len(rest) == len(tokens)
            spot = _find_below(node, split(origin.pointer), rest, evidence.quote, whole_task=whole)
            return spot and _placed(origin, text, spot)
        text = self._texts.whole(origin.file)
        if text is None:
            return None
        start, end = _words(text, origin.line, evidence.quote)
        return _placed(origin, text, _Spot("", start, end, text.text[start:end])) if end > start else None

    def passage(self, task: AgentTask, pointer: str) -> NativeText | None:
        """Return the whole value that a part of a task is in its file.

        Args:
            task: the task.
            pointer: JSON Pointer of the part in the record of the task.

        Returns:
            The value as it is written; None when the file is not JSON, is gone, or has no such value.
        """
        found = _origin(task, split(pointer))
        if found is None:
            return None
        origin, rest = found
        text, node = self._document(origin.file, origin.line)
        path: _Path = [] if node is None else [(node, "")]
        if text is None or not path or not all(_descend(path, token) for token in (*split(origin.pointer), *rest)):
            return None
        node, place = path[-1]
        return _placed(origin, text, _Spot(place, node.start, node.end, node.raw))

    def line_of(self, origin: Origin) -> int | None:
        """Return the 1-based line of a place, or of the nearest value above it; None when its file is not JSON."""
        if origin.line is not None:
            return origin.line
        text, node = self._document(origin.file, None)
        if text is None or node is None:
            return None
        path: _Path = [(node, "")]
        all(_descend(path, token) for token in split(origin.pointer))
        return text.place(path[-1][0].start)[0]

    def around(self, native: NativeText) -> tuple[str, str]:
        """Return what stands before and after a native text: in its string, or in the JSON or the text around it."""
        _, node = self._document(native.file, native.document_line)
        path: _Path = [] if node is None else [(node, "")]
        if not path or not all(_descend(path, token) for token in split(native.pointer)):
            whole = self._texts.whole(native.file)
            if whole is None:  # a file outside the benchmark's folder, or one that is gone
                return "", ""
            start = whole.text.find(native.text, whole.starts[native.line - 1])
            return ("", "") if start < 0 else (whole.text[:start], whole.text[start + len(native.text) :])
        node = path[-1][0]
        at = node.text.find(native.text, node.begin, node.end)
        if isinstance(node.value, str) and (at < 0 or len(node.value) >= TERSE):
            before, _, after = node.value.partition(native.text)
            return before, after
        wide = next((one for one, _ in reversed(path) if one.end - one.start >= TERSE), path[0][0])
        return node.text[wide.start : at], node.text[at + len(native.text) : wide.end]

    def _document(self, name: str, line: int | None) -> tuple[FileText | None, JsonNode | None]:
        """Return the JSON document of a file, or the one that begins on a line of it, with the text that it is in."""
        if not name.endswith(JSON_FILES):
            return None, None
        if line is not None:
            text = self._texts.line(name, line)
            node = None if text is None else text.object_on_line(line)
            if node is not None:
                return text, node
        text = self._texts.whole(name)  # a document that goes on behind its line, or a packed file
        if text is None:
            return None, None
        return text, text.node() if line is None else text.object_on_line(line)


def _words(text: FileText, line: int | None, quote: str) -> tuple[int, int]:
    """Find the words of a quote in a text that is not JSON, from a line on; else this line."""
    begin = text.starts[min(line or 1, len(text.starts)) - 1]
    for base in (begin, 0):
        words = locate(quote, text.text[base:])
        if words is not None:
            start = text.text.index(words, base)
            return start, start + len(words)
    if line is None:
        return 0, 0
    end = text.text.find("\n", begin)
    return begin, len(text.text) if end < 0 else end


def _placed(origin: Origin, text: FileText, spot: "_Spot") -> NativeText:
    line, byte = text.place(spot.start)
    return NativeText(
        file=origin.file,
        line=line,
        pointer=spot.pointer,
        document_line=origin.line,
        start=byte,
        end=byte + len(text.text[spot.start : spot.end].encode("utf-8")),
        text=spot.words,
    )


def with_native_text(findings: Sequence[Finding], source: Source, tasks: Mapping[str, AgentTask]) -> list[Finding]:
    """Add to all evidence of tasks what the benchmark's files say there.

    Args:
        findings: the findings.
        source: the benchmark; its files are as they were when its tasks were read.
        tasks: the tasks by id.
    """
    files = NativeFiles(source.file_path)

    def completed(item: Evidence) -> Evidence:
        task = tasks.get(item.task_id) if item.trajectory_id is None else None
        return item if task is None else item.model_copy(update={"native": files.find(task, item)})

    return [finding.model_copy(update={"evidence": tuple(map(completed, finding.evidence))}) for finding in findings]


class _Spot(NamedTuple):
    """A part of a text."""

    pointer: str
    """JSON Pointer of the value that it is, or is in."""
    start: int
    """Where it begins."""
    end: int
    """Where it ends."""
    words: str
    """What it says: the text itself, or the characters of a JSON string."""


_Path = list[tuple[JsonNode, str]]
"""Nodes from the document down, each with its pointer."""


def _find_below(
    document: JsonNode, base: Sequence[str], rest: Sequence[str], quote: str, *, whole_task: bool
) -> _Spot | None:
    """Find a quote in a document.

    Args:
        document: the document.
        base: the value in it that an origin names.
        rest: tokens of the pointer into our record, from there on.
        quote: the quote.
        whole_task: whether the origin is that of the whole task, so that the first of these tokens is a part of it.
    """
    path: _Path = [(document, "")]
    if not all(_descend(path, token) for token in base):
        return None
    deepest_base = len(path)
    for token in rest:
        _descend(path, token)  # a token that the file does not have is one of our record, such as $any_of
    node, pointer = path[-1]
    exact = _exact(node, pointer, quote)
    if exact is not None:
        return exact
    for child, place in _all_below(node, pointer):
        exact = _exact(child, place, quote, below=True)
        if exact is not None:
            return exact
    for parent, place in reversed(path[deepest_base - 1 :]):
        exact = _key(parent, place, quote) or _part(parent, place, quote)
        if exact is not None:
            return exact
    if whole_task and len(path) == deepest_base:
        return None  # a part of our record that the task has not in its file
    return _shown(node, pointer, LONGEST)


def _descend(path: _Path, token: str) -> bool:
    node, pointer = path[-1]
    child = node.child(token)
    if child is not None:
        path.append((child, join(pointer, token)))
    return child is not None


def _all_below(node: JsonNode, pointer: str) -> Iterator[tuple[JsonNode, str]]:
    level, seen = [(node, pointer)], 0
    while level and seen < _SEARCHED:
        parent, place = level.pop(0)
        for child in parent.children:
            seen += 1
            found = child, join(place, child.key)
            yield found
            level.append(found)


def _exact(node: JsonNode, pointer: str, quote: str, *, below: bool = False) -> _Spot | None:
    """Return the part of a value that is the quote: words of a string, or an equal value."""
    value = node.value
    if isinstance(value, str):
        at = value.find(quote)
        if quote == value and node.begin < node.start and node.end - node.begin <= WITH_KEY:
            return _shown(node, pointer)
        if at >= 0 and (not below or quote == value or len(quote) >= TELLING):
            start, end = _inside(node, at, at + len(quote))
            return _Spot(pointer, start, end, quote)
    if _equal(value, quote):
        return _shown(node, pointer)
    return _key(node, pointer, quote)


def _equal(value: Any, quote: str) -> bool:
    try:
        parsed = json.loads(quote)
    except (ValueError, RecursionError):
        return False
    return type(parsed) is type(value) and parsed == value


def _key(node: JsonNode, pointer: str, quote: str) -> _Spot | None:
    """Return a member whose name is the quote."""
    child = node.child(quote) if node.raw.startswith("{") else None
    return None if child is None else _shown(child, join(pointer, quote))


def _part(node: JsonNode, pointer: str, quote: str) -> _Spot | None:
    """Return the words of a value's text that are the quote, however the file spaces and escapes them."""
    words = locate(quote, node.raw)
    if words is None:
        return None
    start = node.text.index(words, node.start)
    return _Spot(pointer, start, start + len(words), words)


def _inside(node: JsonNode, start: int, end: int) -> tuple[int, int]:
    """Return where a part of a string's value is in the text."""
    inner = node.text[node.start + 1 : node.end - 1]
    if "\\" not in inner:
        return node.start + 1 + start, node.start + 1 + end
    places = [unit.start() for unit in _UNIT.finditer(inner)]
    places.append(len(inner))
    return node.start + 1 + places[start], node.start + 1 + places[end]


def _shown(node: JsonNode, pointer: str, longest: int | None = None) -> _Spot:
    """Show a value as it is written: a short one with its key, of a very long one that is not the quote a part."""
    if node.end - node.begin <= WITH_KEY:
        return _Spot(pointer, node.begin, node.end, node.text[node.begin : node.end])
    end = node.end if longest is None else min(node.end, node.start + longest)
    return _Spot(pointer, node.start, end, node.text[node.start : end])
