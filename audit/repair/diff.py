"""Changes as a unified diff that a person can read, however long the lines of the file are."""

import difflib
from collections.abc import Iterator, Sequence
from os.path import commonprefix
from pathlib import Path

from agenthard.audit.repair.apply import FileEdit, edit_files

_LONG_LINE = 400
"""Characters from which on only the changed part of a line is shown."""
_AROUND = 100
"""Characters shown on either side of it."""


def unified_diff(root: Path, edits: Sequence[FileEdit]) -> str:
    """Show changes of the benchmark's files, with two lines of context.

    Of a line that is too long to read the changed part is shown, between ellipses; such a hunk is for people and cannot
    be applied, which is what the JSON Patch is for.

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
