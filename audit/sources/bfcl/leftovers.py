"""Question files that lie in a copy of BFCL and are not read: how many tasks they seem to hold, and why not."""

import re
from collections.abc import Iterator
from pathlib import Path

from agenthard.audit.sources.base import NotRead
from agenthard.audit.sources.bfcl.layout import FORMAT_SENSITIVITY, RUN_SUFFIXES, Layout, other_copies, question_files

ANSWERS = "possible_answer"
_BLOCK = 1 << 20
_BFCL_FILE = re.compile(r"BFCL_(v\d+)_(\w+)\.json")


def question_files_not_read(layout: Layout) -> Iterator[NotRead]:
    """Yield the question files under the data folder that no category is read from, then other copies of BFCL."""
    read = {layout.questions(category.stem) for category in layout.categories} | {layout.format_sensitivity}
    answered = {path.name for path in read}
    for path in sorted(layout.data.rglob("BFCL_v*.json")):
        match = _BFCL_FILE.fullmatch(path.name)
        if match is None or path in read or path.name.endswith(RUN_SUFFIXES):
            continue
        if path.parent.name != ANSWERS:
            reason, unused = _reason(layout, path, match[1]), path.parent != layout.data
            yield NotRead(file=layout.name(path), tasks=_records(path), reason=reason, left_out=unused)
        elif path.parent.parent == layout.data and path.name not in answered and not (layout.data / path.name).exists():
            reason = f"answers without a question file {path.name} beside {ANSWERS}/; restore it or remove the answers"
            yield NotRead(file=layout.name(path), tasks=_records(path), reason=reason)
    for folder in other_copies(layout):
        questions = [path for (_, stem), path in question_files(folder).items() if stem != FORMAT_SENSITIVITY]
        tasks = sum(_records(path) or 0 for path in questions)
        reason = f"a second copy of BFCL, {layout.name(layout.data)} was read; audit it by its own path"
        yield NotRead(file=layout.name(folder), tasks=tasks, reason=reason)


def _reason(layout: Layout, path: Path, version: str) -> str:
    if path.parent != layout.data:
        folder = path.relative_to(layout.data).parts[0]
        return f"BFCL's own evaluation loads nothing from the folder {folder}, so no score depends on it"
    if version != layout.version:
        return f"of {version}, and {layout.version} was read; put the files of {version} in a folder of their own"
    return "a category that this reader does not know; none of its records were read, update AgentHard or leave it out"


def _records(path: Path) -> int | None:
    """Count the lines; None where this is no file that can be read."""
    if not path.is_file():
        return None
    count, last = 0, b""
    try:
        with path.open("rb") as stream:
            while block := stream.read(_BLOCK):
                count, last = count + block.count(b"\n"), block[-1:]
    except OSError:
        return None
    return count + (last not in (b"", b"\n"))
