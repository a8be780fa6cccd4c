"""Translates a JSON Patch against the record of a task to the benchmark's own files, and edits them."""

import difflib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from os.path import commonprefix
from pathlib import Path
from typing import Any

import jsonpatch
import jsonpointer

from agenthard.audit.repair.call_edit import edit_call
from agenthard.audit.repair.json_edit import EditError, edit_json
from agenthard.taxonomy.accepted import ANY_OF
from agenthard.taxonomy.pointer import join, resolve, split
from agenthard.taxonomy.record import Origin, Record
from agenthard.taxonomy.task import AgentTask, ToolCall

LEFT_OUT = ""
"""Marker for "may be left out" in lists of accepted values; the record does not count it as a value."""
_PARTS = ("user", "ground_truth", "initial_state", "hidden_tools")
"""Parts of a task that belong to it alone; a change elsewhere would change other tasks too."""
Patch = Sequence[dict[str, Any]]


class FileEdit(Record):
    """A change of one JSON document of the benchmark."""

    file: str
    """Path relative to the benchmark's root folder, with forward slashes."""
    line: int | None = None
    """1-based line of the document in a JSON Lines file; None when the whole file is one document."""
    patch: tuple[dict[str, Any], ...]
    """JSON Patch (RFC 6902) against that document."""


def patched_parts(task: AgentTask, patch: Patch) -> dict[str, Any]:
    """Apply a patch to the record: the parts of the task that belong to it alone, as JSON.

    Raises:
        EditError: when the patch does not fit the record, or touches what tasks share.
    """
    for operation in patch:
        if split(operation["path"])[:1] not in [[part] for part in _PARTS]:
            raise EditError(
                f"{operation['path']!r} is shared by tasks; a change there would not repair this task alone"
            )
    try:
        changed: dict[str, Any] = jsonpatch.apply_patch(own_parts(task), list(patch))
    except (jsonpatch.JsonPatchException, jsonpointer.JsonPointerException) as error:
        raise EditError(f"the patch does not fit the task: {error}") from error
    return changed


def own_parts(task: AgentTask) -> dict[str, Any]:
    """Return the parts of a task that belong to it alone, as JSON, without the wording of calls."""
    parts = task.model_dump(mode="json", include=set(_PARTS))
    for turn in parts["ground_truth"]["turns"]:
        for call in turn:
            del call["text"]
    return parts


def translate(task: AgentTask, patch: Patch, read: Callable[[str, int | None], str]) -> list[FileEdit]:
    """Translate a patch against the record into changes of the benchmark's files.

    Args:
        task: the task.
        patch: operations in order; each sees what those before it did.
        read: returns the text of a document by file and line.

    Raises:
        EditError: when a place has no counterpart in a JSON file of the benchmark.
    """
    documents: dict[tuple[str, int | None], tuple[str, list[dict[str, Any]]]] = {}
    for operation in patch:
        origin, rest = _origin(task, _place(operation))
        if not origin.file.endswith((".json", ".jsonl")):
            raise EditError(f"{origin.file} is not a JSON file; make the change by hand")
        key = (origin.file, origin.line)
        text, made = documents.get(key) or (read(*key), [])
        native = _native(task, operation, origin.pointer, rest, json.loads(text))
        documents[key] = edit_json(text, native), [*made, native]
    return [FileEdit(file=file, line=line, patch=tuple(made)) for (file, line), (_, made) in documents.items()]


def _place(operation: dict[str, Any]) -> str:
    return str(operation.get("from", operation["path"]))


def _origin(task: AgentTask, pointer: str) -> tuple[Origin, list[str]]:
    """Return the nearest known place above a pointer, and the tokens below it."""
    tokens = split(pointer)
    for length in range(len(tokens), -1, -1):
        prefix = join("", *tokens[:length])
        if prefix in task.origins:
            return task.origins[prefix], tokens[length:]
    raise EditError(f"the place of {pointer!r} in the benchmark's files is not known")


def _native(task: AgentTask, operation: dict[str, Any], base: str, rest: list[str], document: Any) -> dict[str, Any]:
    record = _place(operation)
    depth = len(split(record)) - len(rest)
    native, place = _resolve(document, base), base
    for number, token in enumerate(rest):
        if isinstance(native, str) and token.isdigit() and rest[number + 1 : number + 2] in (["name"], ["arguments"]):
            calls = resolve(task, join("", *split(record)[: depth + number]))
            return {"op": "replace", "path": place, "value": _edit_text(native, operation, rest[number:], calls)}
        if isinstance(native, str) and token in ("name", "arguments"):
            call: ToolCall = resolve(task, join("", *split(record)[: depth + number]))
            positional = list(call.arguments)[: call.positional]
            return {"op": "replace", "path": place, "value": edit_call(native, operation, rest[number:], positional)}
        if token == ANY_OF:
            continue
        if number and rest[number - 1] == ANY_OF:
            alternatives = resolve(task, join("", *split(record)[: depth + number]))
            token = _accepted(native, alternatives, token)
        last = number + 1 == len(rest)
        place = join(place, token)
        if not (last and operation["op"] == "add"):
            native = _resolve(native, join("", token))
    if operation["op"] == "move":
        target = f"{place.rpartition('/')[0]}/{operation['path'].rpartition('/')[2]}"
        return {"op": "move", "from": place, "path": target}
    return {**operation, "path": place}


def _edit_text(text: str, operation: dict[str, Any], rest: Sequence[str], calls: Sequence[ToolCall]) -> str:
    """Edit one of the calls that a text holds: as source text, or as JSON."""
    index = int(rest[0])
    if text.lstrip()[:1] in ("[", "{"):
        return _edit_json_text(text, operation, rest)
    start = 0
    for number, call in enumerate(calls):
        start = text.find(call.text or "", start)
        if start < 0 or not call.text:
            break
        if number == index:
            positional = list(call.arguments)[: call.positional]
            return text[:start] + edit_call(call.text, operation, rest[1:], positional) + text[start + len(call.text) :]
        start += len(call.text)
    raise EditError("the call is not found in the text that holds it")


def _edit_json_text(text: str, operation: dict[str, Any], rest: Sequence[str]) -> str:
    try:
        parsed = json.loads(text)
    except ValueError as error:
        raise EditError(f"the text that holds the call is not JSON: {error}") from error
    if operation["op"] != "replace" or not isinstance(parsed, list):
        raise EditError("in a text of JSON, only values of a list of calls can be replaced")
    place = join("", *rest)
    _resolve(parsed, place)
    return edit_json(text, {**operation, "path": place})


def _accepted(native: Any, alternatives: Sequence[Any], token: str) -> str:
    """Find the place of an accepted value in the benchmark's list, which may also say "may be left out"."""
    values = [i for i, value in enumerate(native) if value != LEFT_OUT] if isinstance(native, list) else []
    if len(values) != len(alternatives):
        raise EditError("the benchmark does not write the accepted values as a list")
    return str(values[int(token)])


def _resolve(value: Any, pointer: str) -> Any:
    try:
        return resolve(value, pointer)
    except LookupError as error:
        raise EditError(f"the benchmark's file has another structure here: {error}") from error


def read_document(root: Path, file: str, line: int | None) -> str:
    """Return the text of one document of the benchmark.

    Raises:
        EditError: when there is none, or it is not UTF-8.
    """
    try:
        data = (root / file).read_bytes()
        if line is not None:
            data = data.split(b"\n")[line - 1]
        return data.decode()
    except (OSError, ValueError, IndexError) as error:
        raise EditError(f"{file}: cannot be read again: {error}") from error


def edit_files(root: Path, edits: Iterable[FileEdit]) -> dict[str, bytes]:
    """Apply changes to files in memory; all other bytes stay the same.

    Returns:
        The new bytes by file.

    Raises:
        EditError: when a change does not fit, or the text edit and the JSON Patch disagree.
    """
    documents: dict[tuple[str, int | None], list[dict[str, Any]]] = {}
    for edit in edits:
        documents.setdefault((edit.file, edit.line), []).extend(edit.patch)
    changed: dict[str, bytes] = {}
    for (file, line), patch in documents.items():
        before = read_document(root, file, line)
        after = before
        for operation in patch:
            after = edit_json(after, operation)
        if json.loads(after) != jsonpatch.apply_patch(json.loads(before), patch, in_place=True):
            raise EditError(f"{file}: the change in the text is not what the JSON Patch says")
        if line is None:
            changed[file] = after.encode()
        else:
            lines = (changed.get(file) or (root / file).read_bytes()).split(b"\n")
            lines[line - 1] = after.encode()
            changed[file] = b"\n".join(lines)
    return changed


_LONG_LINE = 400
"""Lines with more characters are shown as an excerpt around the change."""
_AROUND = 100
"""Characters shown on either side of it."""


def unified_diff(root: Path, edits: Sequence[FileEdit]) -> str:
    """Show changes of the benchmark's files, with two lines of context.

    Of a line that is too long to read the changed part is shown, between ellipses; such a hunk is for readers only;
    the JSON Patch can be applied.

    Raises:
        EditError: when a change does not fit.
    """
    lines: list[str] = []
    for file, data in sorted(edit_files(root, edits).items()):
        before = (root / file).read_bytes().decode().split("\n")
        after = data.decode().split("\n")
        pairs = [(i, a, b) for i, (a, b) in enumerate(zip(before, after, strict=False), start=1) if a != b]
        if len(before) == len(after) and any(max(len(a), len(b)) > _LONG_LINE for _, a, b in pairs):
            lines += [f"--- a/{file}", f"+++ b/{file}"]
            lines += [line for number, a, b in pairs for line in _excerpt(number, a, b)]
        else:
            lines += difflib.unified_diff(before, after, f"a/{file}", f"b/{file}", n=2, lineterm="")
    return "\n".join(lines) + "\n"


def _excerpt(number: int, before: str, after: str) -> Iterator[str]:
    shorter = min(len(before), len(after))
    start = len(commonprefix([before, after]))
    same = len(commonprefix([before[start:][::-1], after[start:][::-1]]))
    end = min(same, shorter - start)
    begin = max(0, start - _AROUND)
    yield f"@@ -{number} +{number} @@ from character {begin + 1}"
    for sign, line in (("-", before), ("+", after)):
        stop = min(len(line), len(line) - end + _AROUND)
        yield f"{sign}{'…' if begin else ''}{line[begin:stop]}{'…' if stop < len(line) else ''}"
