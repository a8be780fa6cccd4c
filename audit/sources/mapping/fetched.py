"""Rows behind a URL: copied into a temporary folder, with the files that promptfoo configurations among them name."""

from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from agenthard.audit.sources.base import SourceError
from agenthard.audit.sources.formats.promptfoo import is_promptfoo, named_files
from agenthard.audit.sources.formats.remote import local_folder, split_url


def fetched_folder(url: str, patterns: tuple[str, ...]) -> Path:
    """Return a folder with copies of the files behind the URL of a folder, and of those that they name.

    Args:
        url: the folder.
        patterns: files below it; ``*`` works where the protocol can list files.

    Raises:
        SourceError: a file cannot be read. One that a configuration names and that is not there is left to the reader
            of the configuration, which says what is missing.
    """
    folder = local_folder(url, patterns)
    configured = [path for path in sorted(folder.rglob("*.y*ml")) if is_promptfoo(path)]
    named = [(path.parent.relative_to(folder) / name).as_posix() for path in configured for name in named_files(path)]
    there = tuple(name for name in dict.fromkeys(named) if not (folder / name).is_file() and _is_there(url, name))
    return local_folder(url, (*patterns, *there)) if there else folder


def fetched_file(url: str) -> Path:
    """Return a copy of the file behind a URL, next to copies of the files that it names.

    Raises:
        SourceError: it cannot be read.
    """
    folder, name = split_url(url)
    return fetched_folder(folder, (name,)) / unquote(PurePosixPath(name).name)


def _is_there(url: str, name: str) -> bool:
    try:
        local_folder(url, (name,))
    except SourceError:
        return False
    return True
