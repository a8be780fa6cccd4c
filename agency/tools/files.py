"""Tools that read and write files of the workspace. Reading asks the snapshot, so it follows no link."""

import base64
import binascii
import fnmatch
from collections.abc import Iterator
from typing import Any

import regex

from agenthard.agency.tools.tool import Desk, Output, ToolFunction, ToolRefusal, path_below, text, tool

MOST_CHARACTERS = 100_000
"""How much of a file one call shows."""
MOST_FILES = 200
"""How many files or matches one call lists."""
MOST_WRITTEN = 16 << 20
PATTERN_SECONDS = 2.0


def _text_of(desk: Desk, path: str) -> str:
    entry = desk.workspace.entry(path)
    if entry is None:
        raise ToolRefusal(f"no such file: {path!r}")
    if entry.kind == "link":
        raise ToolRefusal(f"{path!r} is a link to {entry.content!r}; read the file that it leads to")
    if entry.kind == "folder":
        raise ToolRefusal(f"{path!r} is a folder; use list_directory")
    try:
        return desk.workspace.read(path).decode("utf-8")
    except UnicodeDecodeError:
        raise ToolRefusal(f"{path!r} is not UTF-8 text ({entry.size} bytes)") from None


def _below(desk: Desk, folder: str) -> Iterator[str]:
    """Yield the paths of all files below a folder, in order."""
    for path, entry in desk.workspace.snapshot.entries.items():
        if entry.kind == "file" and (not folder or path.startswith(f"{folder}/")):
            yield path


def _folder(desk: Desk, path: str) -> str:
    below = path_below(path)
    entry = desk.workspace.entry(below)
    if below and (entry is None or entry.kind != "folder"):
        raise ToolRefusal(f"no such folder: {path!r}")
    return below


def _list_directory(desk: Desk, given: dict[str, Any]) -> Output:
    folder = _folder(desk, given["path"])
    depth = folder.count("/") + 1 if folder else 0
    lines = []
    for path, entry in desk.workspace.snapshot.entries.items():
        if path.count("/") == depth and (not folder or path.startswith(f"{folder}/")):
            name = path.rsplit("/", 1)[-1]
            lines.append({"folder": f"{name}/", "link": f"{name} -> {entry.content}"}.get(entry.kind, name))
    return Output("\n".join(lines[: 5 * MOST_FILES]) or "(empty)")


def _read_file(desk: Desk, given: dict[str, Any]) -> Output:
    content = _text_of(desk, path_below(given["absolute_path"]))
    if "offset" in given or "limit" in given:
        start = given.get("offset", 0)
        content = "".join(content.splitlines(keepends=True)[start : start + given.get("limit", 2000)])
    return Output(_cut(content))


def _read_many_files(desk: Desk, given: dict[str, Any]) -> Output:
    parts, room = [], MOST_CHARACTERS
    for name in given["paths"]:
        pattern = path_below(name)
        found = [path for path in _below(desk, "") if path == pattern or _matches(path, pattern)]
        for path in found[:MOST_FILES] or [pattern]:
            try:
                content = _text_of(desk, path)
            except ToolRefusal as refusal:
                content = f"[{refusal}]"
            parts.append(f"--- {path} ---\n{content[: max(room, 0)]}")
            room -= len(content)
    if room < 0:
        parts.append(f"[cut off after {MOST_CHARACTERS} characters]")
    return Output("\n".join(parts))


def _write_file(desk: Desk, given: dict[str, Any]) -> Output:
    path = path_below(given["file_path"])
    if given.get("encoding") == "base64":
        try:
            content = base64.b64decode(given["content"], validate=True)
        except (binascii.Error, ValueError) as error:
            raise ToolRefusal(f"the content is not base64: {error}") from None
    else:
        content = given["content"].encode("utf-8", "surrogatepass")
    return _write(desk, path, content)


def _replace(desk: Desk, given: dict[str, Any]) -> Output:
    path = path_below(given["file_path"])
    old, new, expected = given["old_string"], given["new_string"], given.get("expected_replacements", 1)
    if not old:
        raise ToolRefusal("old_string is empty; use write_file to make a file")
    content = _text_of(desk, path)
    found = content.count(old)
    if found != expected:
        raise ToolRefusal(f"old_string occurs {found} times in {path!r}, not {expected}; nothing was changed")
    return _write(desk, path, content.replace(old, new).encode("utf-8", "surrogatepass"))


def _write(desk: Desk, path: str, content: bytes) -> Output:
    limits, snapshot = desk.workspace.limits, desk.workspace.snapshot
    if not path:
        raise ToolRefusal("give the path of a file below the workspace")
    if len(content) > min(MOST_WRITTEN, limits.file_bytes):
        raise ToolRefusal(f"{len(content)} bytes are more than one file may have")
    if snapshot.size + len(content) > limits.folder_bytes or len(snapshot.entries) >= limits.folder_entries:
        raise ToolRefusal("the workspace is full: remove files first")
    try:
        changed = desk.workspace.write(path, content)
    except OSError as error:
        raise ToolRefusal(f"{path!r} cannot be written: {error.strerror}") from None
    return Output(f"wrote {len(content)} bytes to {path}", changed=changed)


def _glob(desk: Desk, given: dict[str, Any]) -> Output:
    folder = _folder(desk, given.get("path", "."))
    pattern = path_below(given["pattern"])
    found = [path for path in _below(desk, folder) if _matches(path[len(folder) :].lstrip("/"), pattern)]
    return Output(_listed(found))


def _search_file_content(desk: Desk, given: dict[str, Any]) -> Output:
    folder = _folder(desk, given.get("path", "."))
    try:
        pattern = regex.compile(given["pattern"])
    except regex.error as error:
        raise ToolRefusal(f"the pattern is not a regular expression: {error}") from None
    found: list[str] = []
    for path in _below(desk, folder):
        if "include" in given and not _matches(path, given["include"]):
            continue
        try:
            content = _text_of(desk, path)
            for number, line in enumerate(content.splitlines(), 1):
                if pattern.search(line, timeout=PATTERN_SECONDS):
                    found.append(f"{path}:{number}: {line[:500]}")
        except ToolRefusal:
            continue
        except TimeoutError:
            raise ToolRefusal("the pattern takes too long; write a simpler one") from None
        if len(found) > MOST_FILES:
            break
    return Output(_listed(found))


def _listed(found: list[str]) -> str:
    more = f"\n[more than {MOST_FILES}; narrow the search]" if len(found) > MOST_FILES else ""
    return ("\n".join(found[:MOST_FILES]) or "(nothing found)") + more


def _matches(path: str, pattern: str) -> bool:
    """Match a path: `**/` matches any folders, and a pattern without a slash a name in any folder."""
    if "/" not in pattern:
        return fnmatch.fnmatchcase(path.rsplit("/", 1)[-1], pattern)
    return fnmatch.fnmatchcase(path, pattern) or fnmatch.fnmatchcase(path, pattern.replace("**/", ""))


def _cut(content: str) -> str:
    if len(content) <= MOST_CHARACTERS:
        return content
    return f"{content[:MOST_CHARACTERS]}\n[cut off: {len(content)} characters in all; use offset and limit]"


_NUMBER = {"type": "integer", "minimum": 0}
_FOLDER = text("Folder below the workspace; the workspace itself when left out")
FILES = (
    ToolFunction(
        tool("list_directory", "List a folder.", ("path",), path=text("Folder below the workspace, or '.'")),
        "files",
        _list_directory,
    ),
    ToolFunction(
        tool(
            "read_file",
            "Read a text file, or some lines of it.",
            ("absolute_path",),
            absolute_path=text("Path of the file"),
            offset={**_NUMBER, "description": "First line, from 0"},
            limit={**_NUMBER, "description": "Number of lines"},
        ),
        "files",
        _read_file,
    ),
    ToolFunction(
        tool(
            "read_many_files",
            "Read several text files.",
            ("paths",),
            paths={"type": "array", "items": {"type": "string"}, "maxItems": 50, "description": "Paths or patterns"},
        ),
        "files",
        _read_many_files,
    ),
    ToolFunction(
        tool(
            "write_file",
            "Write a file; folders on the way are made.",
            ("file_path", "content"),
            file_path=text("Path of the file"),
            content=text("Its whole content"),
            encoding={"enum": ["utf-8", "base64"], "description": "What the content is written in"},
        ),
        "files",
        _write_file,
        changes=True,
    ),
    ToolFunction(
        tool(
            "replace",
            "Replace a text within a file.",
            ("file_path", "old_string", "new_string"),
            file_path=text("Path of the file"),
            old_string=text("Text that is replaced, exactly as it is"),
            new_string=text("Text in its place"),
            expected_replacements={**_NUMBER, "minimum": 1, "description": "How often it occurs; 1 when left out"},
        ),
        "files",
        _replace,
        changes=True,
    ),
    ToolFunction(
        tool("glob", "Find files by their path.", ("pattern",), pattern=text("Like **/*.py"), path=_FOLDER),
        "files",
        _glob,
    ),
    ToolFunction(
        tool(
            "search_file_content",
            "Search lines of text files.",
            ("pattern",),
            pattern=text("Regular expression"),
            path=_FOLDER,
            include=text("Pattern of the names of files, like *.py"),
        ),
        "files",
        _search_file_content,
    ),
)
"""The tools of this group."""
