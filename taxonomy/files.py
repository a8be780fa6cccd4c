"""Writing files so that a crash, a full disk or a power cut leaves either the old or the new content.

Every file that AgentHard leaves for a reader or for its own next run is written through this module.
"""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS)
"""Errors of a disk."""


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Write a file under a temporary name; when the block ends, force it to disk and rename it.

    Args:
        path: The file; its folder is made.

    Yields:
        The temporary path, in the same folder. The block creates this file.

    Raises:
        OSError: It cannot be written. The error names the file, and the old content is still there.
    """
    with naming(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f".{path.name}.partial")
        try:
            yield partial
            sync(partial)
            partial.replace(path)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise
        sync(path.parent)


def write_atomically(path: Path, data: bytes) -> None:
    """Write the bytes of a file with `replacing`."""
    with replacing(path) as partial:
        partial.write_bytes(data)


def write_text(path: Path, text: str) -> None:
    """Write a text as UTF-8 with `replacing`; line breaks stay as they are."""
    write_atomically(path, text.encode("utf-8"))


def sync(path: Path) -> None:
    """Force a file, or the entries of a folder, to disk. File systems that cannot do so for a folder are left alone."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError:
        if not path.is_dir():
            raise
    finally:
        os.close(handle)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Put the name of a file into errors that have none: a full disk is reported by ``write``, which knows no names."""
    try:
        yield
    except OSError as error:
        if error.filename is not None or error.errno not in _DISK:
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(path)) from error
