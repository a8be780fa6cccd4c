"""Versions of a published split: what changed since the last one, and which scores can be compared.

MAJOR: something that a score depends on changed in a task that both versions have (its words, tools, policy, state,
ground truth or evaluation), or in a file that tasks share. MINOR: tasks were removed or put back. PATCH: nothing of
that, such as the card, reasons, or the version of AgentHard.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from agenthard.flows.errors import CommandError
from agenthard.flows.publishing.records import MANIFEST, Level, Publication, Release

FIRST = "1.0.0"
_VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
_NAMED = 20
"""Tasks that a line of the changelog names."""


class Change(NamedTuple):
    """The step from one publication to the next."""

    level: Level
    """How large it is."""
    lines: tuple[str, ...]
    """What changed, in words."""


def parse_version(text: str) -> tuple[int, int, int]:
    """Read MAJOR.MINOR.PATCH.

    >>> parse_version("1.10.0")
    (1, 10, 0)

    Raises:
        CommandError: it is none.
    """
    match = _VERSION.fullmatch(text)
    if match is None:
        raise CommandError(f"{text!r} is not a version; write MAJOR.MINOR.PATCH, such as {FIRST}")
    return int(match[1]), int(match[2]), int(match[3])


def next_version(version: str, level: Level) -> str:
    """Return the version after a step.

    >>> [next_version("1.2.3", level) for level in ("major", "minor", "patch")]
    ['2.0.0', '1.3.0', '1.2.4']
    """
    major, minor, patch = parse_version(version)
    if level == "major":
        return f"{major + 1}.0.0"
    return f"{major}.{minor + 1}.0" if level == "minor" else f"{major}.{minor}.{patch + 1}"


def read_publication(path: Path) -> Publication:
    """Read the manifest of a publication.

    Args:
        path: its folder, or the file.

    Raises:
        CommandError: there is none, or it cannot be read.
    """
    file = path / MANIFEST if path.is_dir() else path
    if not file.is_file():
        raise CommandError(f"{path}: no publication here ({file.name} is missing); `agenthard publish` writes one")
    try:
        return Publication.model_validate_json(file.read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the document"
        raise CommandError(
            f"{file}: not the manifest of a publication ({place}: {first['msg']}); give a folder that "
            "`agenthard publish` wrote"
        ) from error


def require_same_split(previous: Publication, name: str | None, split: str, source: str) -> None:
    """Check that a publication continues the previous one.

    Raises:
        CommandError: the previous one is of another benchmark or split, or has another name.
    """
    was, now = (previous.source, previous.split), (source, split)
    if was != now:
        raise CommandError(
            f"the previous publication is the {was[1]} split of {was[0]}, and this is the {now[1]} split of {now[0]}: "
            "their versions have nothing to do with each other; give another folder with --out, and no --previous"
        )
    if name not in (None, previous.name):
        raise CommandError(
            f"the previous publication is named {previous.name!r}, not {name!r}; leave out --name, or publish the new "
            "name for the first time, with another --out and no --previous"
        )


def change_between(previous: Publication, tasks: Mapping[str, str], shared: Mapping[str, str]) -> Change | None:
    """Compare the tasks of a publication with those of the previous one.

    Args:
        previous: the last publication.
        tasks: hash of each task now, by id.
        shared: hash of each shared file now, by path.

    Returns:
        None when tasks and shared files are the same; the rest may differ.
    """
    altered = [task for task, content in tasks.items() if previous.tasks.get(task, content) != content]
    files = sorted(path for path in {*shared, *previous.shared} if shared.get(path) != previous.shared.get(path))
    added = [task for task in tasks if task not in previous.tasks]
    removed = [task for task in previous.tasks if task not in tasks]
    lines = [
        _named("changed in what a score depends on", altered),
        _named("shared files changed", files, "file"),
        _named("removed", removed),
        _named("added or put back", added),
    ]
    if altered or files:
        return Change("major", tuple(filter(None, lines)))
    return Change("minor", tuple(filter(None, lines))) if added or removed else None


DOCUMENTATION = Change("patch", ("documentation only: card, reasons, or software versions",))
"""The step when tasks are the same and another file is not."""


def _named(what: str, names: Sequence[str], unit: str = "task") -> str:
    if not names:
        return ""
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return f"{what}: {len(names):,} {unit}{'' if len(names) == 1 else 's'} ({', '.join(names[:_NAMED])}{more})"


def choose_version(previous: Publication | None, change: Change, asked: str | None) -> str:
    """Choose the version of a step.

    Args:
        previous: the last publication, if there is one.
        change: the step.
        asked: version that the user wants; it may be higher than the rules ask for, never lower.

    Raises:
        CommandError: it is lower.
    """
    least = next_version(previous.version, change.level) if previous else FIRST
    if asked is None:
        return least
    if parse_version(asked) < parse_version(least) and previous:
        raise CommandError(
            f"--version {asked}: too low; {previous.version} was published before, and this is a {change.level} "
            f"change ({'; '.join(change.lines)[:300]}), so it is {least} or higher"
        )
    return asked


def incomparable(history: Sequence[Release]) -> tuple[str, ...]:
    """Return the earlier versions whose scores cannot be compared with those of the last one.

    Scores on different sets of tasks, or on tasks that are scored differently, are not comparable: only versions that
    differ in the last number are.
    """
    last = parse_version(history[-1].version)[:2]
    return tuple(each.version for each in history[:-1] if parse_version(each.version)[:2] != last)


def changelog_markdown(name: str, history: Sequence[Release]) -> str:
    """Write the changelog of a split, the last version first."""
    from agenthard.reports.kit.markdown import md

    parts = [f"# Changes of {md(name)}", ""]
    for place in range(len(history), 0, -1):
        release, others = history[place - 1], incomparable(history[:place])
        parts += [f"## {release.version} ({release.level})", ""]
        parts += [f"* {md(line)}" for line in release.changes]
        parts.append(f"* {release.kept:,} tasks; split id {release.split_id}")
        if others:
            parts.append(f"* **Do not compare** its scores with those of {', '.join(reversed(others))}.")
        parts.append("")
    return "\n".join(parts)
