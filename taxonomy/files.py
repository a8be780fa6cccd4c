"""Opening files of unknown origin, and writing our own.

A benchmark's folder is downloaded from somewhere. It may hold a named pipe on which ``open`` waits for ever, a sparse
file that is longer than the memory, or text in another encoding. Everything that reads such a folder opens files here:
regular files only, bounded, UTF-8 with or without a byte order mark.

Every file that AgentHard leaves for a reader or for its own next run is written here, so that a crash, a full disk or a
power cut leaves either the old or the new content.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from agenthard.taxonomy.errors import AgentHardError

MAX_BYTES = 256 << 20
"""A document that is read as a whole may be this long. Longer data belongs into JSON Lines, which are streamed."""
BOM = b"\xef\xbb\xbf"
"""UTF-8 byte order mark: some editors and spreadsheets write it, and it is no part of the content."""

_KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFDIR: "a folder",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
_OTHER_MARKS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16", b"\x00\x00\xfe\xff": "UTF-32"}


class UnreadableFileError(AgentHardError, OSError):
    """A file cannot be used for what its kind, length or encoding tells before its content is parsed."""

    code = "AH003"
    remedy = (
        "Replace the path with a regular UTF-8 file within the size limit; the message names a command "
        "that converts it."
    )

    def __init__(self, path: Path, reason: str) -> None:
        """Note what is wrong with the file."""
        super().__init__(errno.EINVAL, reason, str(path))

    def __str__(self) -> str:
        """Return the reason alone; whoever reports it names the file."""
        return str(self.strerror)


def open_regular(path: Path) -> IO[bytes]:
    """Open a regular file for reading; anything that ``open`` could wait on for ever is refused at once.

    Raises:
        UnreadableFileError: when the path is a named pipe, a device, a socket or a folder.
        OSError: when it cannot be opened.
    """
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        kind = _KINDS.get(stat.S_IFMT(mode), "a special file")
        raise UnreadableFileError(path, f"{kind}, not a regular file; replace it by the file itself")
    return os.fdopen(descriptor, "rb")


def read_bytes(path: Path, most: int = MAX_BYTES) -> bytes:
    """Read a whole file.

    Args:
        path: the file.
        most: bytes that it may have.

    Raises:
        UnreadableFileError: when it is longer, or no regular file.
        OSError: when it cannot be read.
    """
    with open_regular(path) as stream:
        if os.fstat(stream.fileno()).st_size > most:
            raise UnreadableFileError(path, f"longer than {size_text(most)}, the most that is read of such a file")
        data = stream.read(most + 1)
    if len(data) > most:
        raise UnreadableFileError(path, f"longer than {size_text(most)}, the most that is read of such a file")
    return data


def read_text(path: Path, most: int = MAX_BYTES) -> str:
    """Read a whole file of UTF-8 text, without its byte order mark.

    Args:
        path: the file.
        most: bytes that it may have.

    Raises:
        UnreadableFileError: when it is longer, no regular file, or in another encoding that can be told.
        UnicodeDecodeError: when it is not UTF-8.
        OSError: when it cannot be read.
    """
    data = read_bytes(path, most)
    refuse_other_encodings(path, data[:4096])
    return data.removeprefix(BOM).decode("utf-8")


def refuse_other_encodings(path: Path, start: bytes) -> None:
    """Refuse text that is not UTF-8 by its first bytes: by the mark of another encoding, or by many NUL bytes.

    UTF-16 without a mark has a NUL at nearly every second byte, the hole of a sparse file nothing else. A single NUL
    is left to the parser, so that it costs one record and not the file.

    Raises:
        UnreadableFileError: when it is; the message names the encoding and the remedy.
    """
    for mark, name in _OTHER_MARKS.items():
        if start.startswith(mark):
            raise UnreadableFileError(path, f"{name} text, not UTF-8; convert it with `iconv -f {name} -t UTF-8`")
    if start.count(0) * 4 > len(start):
        reason = "NUL bytes or UTF-16 text, not UTF-8; convert it with `iconv -f UTF-16LE -t UTF-8`, or remove it"
        raise UnreadableFileError(path, reason)


def size_text(count: int) -> str:
    """Name a number of bytes.

    >>> size_text(256 << 20), size_text(1 << 16)
    ('256 MiB', '64 KiB')
    """
    return f"{count >> 20} MiB" if count >= 1 << 20 else f"{count >> 10} KiB"


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
    if os.name == "nt" and path.is_dir():
        return
    handle = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
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
