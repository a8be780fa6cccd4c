"""Files behind a URL that fsspec reads: copied into a temporary folder, once per process, and read there."""

import atexit
import shutil
import tempfile
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

from agenthard.audit.sources.base import SourceError
from agenthard.taxonomy.files import size_text

PROTOCOLS = ("http", "https", "zip", "tar", "memory", "s3", "gs", "gcs", "abfs", "az", "hf", "github", "sftp")
"""Protocols that are read. Others of fsspec run code, read other local files, or wrap one of these."""
MOST_BYTES = 4 << 30
"""A file may be this long."""
MOST_FILES = 300
"""Files below a folder that are copied."""
_CHUNK = 1 << 20


def is_url(text: str) -> bool:
    """Tell whether a text is a URL and not a path.

    >>> is_url("zip://tasks.jsonl::https://example.org/bench.zip"), is_url("data/tasks.jsonl"), is_url("C:/data")
    (True, False, False)
    """
    return "://" in text


def split_url(url: str) -> tuple[str, str]:
    """Split the URL of a file into that of its folder and its name there.

    >>> split_url("zip://rows/tasks.jsonl::https://example.org/bench.zip")
    ('zip://rows::https://example.org/bench.zip', 'tasks.jsonl')
    """
    first, chain, rest = url.partition("::")
    protocol, _, path = first.partition("://")
    folder, _, name = path.rpartition("/")
    return f"{protocol}://{folder}{chain}{rest}", name


def joined_url(folder: str, name: str) -> str:
    """Return the URL of a file in a folder: the inverse of `split_url`."""
    first, chain, rest = folder.partition("::")
    return f"{first}{'' if first.endswith('/') else '/'}{name}{chain}{rest}"


@lru_cache(maxsize=32)
def local_folder(url: str, patterns: tuple[str, ...]) -> Path:
    """Return a folder with copies of the files behind the URL of a folder; equal arguments give the same folder.

    Args:
        url: the folder.
        patterns: files below it; ``*`` and ``**`` work where the protocol can list files.

    Raises:
        SourceError: a file cannot be read, or a pattern names none.
    """
    target = Path(tempfile.mkdtemp(prefix="agenthard-url-"))
    atexit.register(shutil.rmtree, target, ignore_errors=True)
    for pattern in patterns:
        whole = joined_url(url, pattern)
        if "?" in whole:
            raise SourceError(f"{whole}: give a URL without a query, or download the file and give its path")
        try:
            system, path = _opened(whole)
            above = path.removesuffix(pattern)
            found = sorted(map(str, system.glob(path))) if "*" in pattern else [path]
            for each in [one for one in found if "*" not in pattern or system.isfile(one)][:MOST_FILES]:
                _copy(system, each, target / _below(each.removeprefix(above), whole), whole)
        except SourceError:
            raise
        except FileNotFoundError as error:
            raise SourceError(f"{whole}: there is nothing at this URL") from error
        except ImportError as error:
            raise SourceError(f"{whole}: a package is missing: {error}; pip install 'agenthard[urls]'") from error
        except Exception as error:  # each protocol has errors of its own
            raise SourceError(f"{whole}: cannot be read: {type(error).__name__}: {str(error)[:200]}") from error
        if not found:
            raise SourceError(f"{whole}: names no file")
    return target


def _opened(url: str) -> tuple[Any, str]:
    """Return fsspec's file system of a URL, and the path in it."""
    used = [part.partition("://")[0].partition("/")[0] for part in url.split("::")]
    unknown = [protocol for protocol in used if protocol not in PROTOCOLS]
    if unknown:
        raise SourceError(f"{url}: URLs of {unknown[0]!r} are not read; known are {', '.join(PROTOCOLS)}")
    import fsspec.core

    system, path = fsspec.core.url_to_fs(url)
    return system, str(path)


def _below(name: str, url: str) -> str:
    path = PurePosixPath(unquote(name).lstrip("/"))
    if ".." in path.parts or not path.parts:
        raise SourceError(f"{url}: the file name {name!r} leads out of its folder")
    return str(path)


def _copy(system: Any, path: str, target: Path, url: str) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    length = 0
    with system.open(path, "rb") as source, target.open("wb") as copy:
        while chunk := source.read(_CHUNK):
            length += len(chunk)
            if length > MOST_BYTES:
                raise SourceError(f"{url}: longer than {size_text(MOST_BYTES)}; download it and give its path")
            copy.write(chunk)
