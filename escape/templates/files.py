"""Tools that read files: archives, tables, documents. All sizes are limited."""

import csv
import io
import json
import re
import zipfile
from pathlib import PurePosixPath
from random import Random
from typing import Any

from agenthard.escape.ports import MAX_LENGTH
from agenthard.escape.templates.declare import tool
from agenthard.escape.templates.template import Files, ToolUseError, UnfillableError, Values
from agenthard.escape.templates.values import WORDS, words

MAX_BYTES = 1 << 20
"""Bytes of a file, packed or unpacked."""
_PATH = re.compile(r"\w+(?:\.\w+|\[\d{1,6}\])*", re.ASCII)
_DATE = (2001, 1, 1, 0, 0, 0)


def read(files: Files, id: str) -> bytes:
    """Read a file.

    Raises:
        ToolUseError: It is too large.
    """
    content = files.read(id)
    if len(content) > MAX_BYTES:
        raise ToolUseError("the file is too large")
    return content


def document(files: Files, id: str) -> Any:
    """Read a file with JSON.

    Raises:
        ToolUseError: It is too large, or no JSON.
    """
    try:
        return json.loads(read(files, id))
    except (ValueError, RecursionError) as error:
        raise ToolUseError("the file is not JSON") from error


def _extract(values: Values, files: Files) -> dict[str, str]:
    name = values["member"]
    if name.startswith("/") or ".." in PurePosixPath(name).parts or "\\" in name:
        raise ToolUseError("the name of the member leaves the archive")
    try:
        with zipfile.ZipFile(io.BytesIO(read(files, values["archive"]))) as archive:
            info = archive.getinfo(name)
            if info.file_size > MAX_LENGTH:
                raise ToolUseError("the member is too large")
            with archive.open(info) as member:
                data = member.read(MAX_LENGTH + 1)
        if len(data) > MAX_LENGTH:
            raise ToolUseError("the member is too large")
        return {"content": data.decode()}
    except KeyError as error:
        raise ToolUseError("the archive has no member of this name") from error
    except (ValueError, OSError, RuntimeError, NotImplementedError, zipfile.BadZipFile) as error:
        raise ToolUseError("the file is not a readable archive") from error


def _archive_fill(known: Values, rng: Random, files: Files) -> dict[str, str]:
    names = [f"{word}.txt" for word in rng.sample(WORDS, 4)]
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name in names:
            archive.writestr(zipfile.ZipInfo(name, _DATE), words(rng))
    return {"archive": files.add(stream.getvalue()), "member": rng.choice(names)}


def _csv(values: Values, files: Files) -> dict[str, str]:
    try:
        rows = list(csv.reader(io.StringIO(read(files, values["file"]).decode()), strict=True))
    except (ValueError, csv.Error) as error:
        raise ToolUseError("the file is not a table") from error
    if not rows or values["column"] not in rows[0]:
        raise ToolUseError("the table has no such column")
    at = rows[0].index(values["column"])
    found = [row[at] for row in rows[1:] if row and row[0] == values["key"] and len(row) > at]
    if len(found) != 1:
        raise ToolUseError("the table does not have this key exactly once")
    return {"value": found[0]}


def _csv_fill(known: Values, rng: Random, files: Files) -> dict[str, str]:
    made = {name: words(rng, 2) for name in ("column", "key") if name not in known}
    both = dict(known) | made
    columns = [*(word for word in rng.sample(WORDS, 3)), both["column"]]
    rng.shuffle(columns)
    keys = [*(words(rng, 2) for _ in range(4)), both["key"]]
    rng.shuffle(keys)
    if len(set(columns)) < len(columns) or len(set(keys)) < len(keys):
        raise UnfillableError("a name occurs twice in the table")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["key", *columns])
    writer.writerows([key, *(words(rng) for _ in columns)] for key in keys)
    return made | {"file": files.add(text.getvalue().encode())}


def _query(values: Values, files: Files) -> dict[str, str]:
    import jmespath
    from jmespath.exceptions import JMESPathError

    # Names and positions only: projections and functions of the language can take any time.
    if len(values["path"]) > 200 or not _PATH.fullmatch(values["path"]):
        raise ToolUseError("the path has to be names with dots and positions in brackets")
    try:
        found = jmespath.search(values["path"], document(files, values["file"]))
    except (JMESPathError, RecursionError) as error:
        raise ToolUseError("the path is not valid") from error
    if not isinstance(found, str):
        raise ToolUseError("the path does not lead to a text")
    return {"value": found}


def _query_fill(known: Values, rng: Random, files: Files) -> dict[str, str]:
    rooms, shelves = rng.sample(WORDS, 3), rng.sample(WORDS, 3)
    document = {room: {shelf: [{"label": words(rng)} for _ in range(3)] for shelf in shelves} for room in rooms}
    path = f"{rng.choice(rooms)}.{rng.choice(shelves)}[{rng.randrange(3)}].label"
    return {"file": files.add(json.dumps(document, sort_keys=True).encode()), "path": path}


FILES = (
    tool(
        "zip_extract",
        "reads one member of an archive",
        ["archive:F! the archive", "member:T! the name of the member"],
        ["content:T the content of the member"],
        _extract,
        _archive_fill,
    ),
    tool(
        "csv_query",
        "looks up a cell of a table",
        ["file:F! the table", "column:T the column", "key:T the key in the first column"],
        ["value:T the content of the cell"],
        _csv,
        _csv_fill,
    ),
    tool(
        "json_path_query",
        "follows a path through a document",
        ["file:F! the document", "path:T! the path"],
        ["value:T the text at its end"],
        _query,
        _query_fill,
    ),
)
