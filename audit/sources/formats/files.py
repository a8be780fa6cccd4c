"""Opening untrusted benchmark files, and copying some of their lines byte for byte.

Every benchmark file is opened by :func:`open_binary`. It refuses anything that is not a regular file of UTF-8 text, and
it limits how much a gzip file may unpack to.
"""

import gzip
import io
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from agenthard.taxonomy.files import BOM, UnreadableFileError, open_regular, refuse_other_encodings

MAX_RECORD_BYTES = 64 * 1024 * 1024
"""A longer record is quarantined without being held in memory."""
UNPACKED_BYTES, UNPACKED_RATIO = 128 << 20, 200
"""A gzip file may unpack to 128 MiB plus 200 times its size. Run logs unpack to 6 to 60 times their size, a gzip bomb
to 1,000 times."""


def open_binary(path: Path) -> IO[bytes]:
    """Open a file of UTF-8 text, plain or ``.gz``, at the first byte after its byte order mark, if it has one.

    Raises:
        UnreadableFileError: when it is not a regular file, or its first bytes are not UTF-8; while reading, when a
            gzip file unpacks to more than the limit.
        OSError, EOFError, zlib.error: when it cannot be opened or unpacked.
    """
    packed = open_regular(path)
    try:
        stream = io.BufferedReader(_Unpacked(path, packed)) if path.suffix == ".gz" else packed
        start = stream.peek(4096)[:4096]  # type: ignore[attr-defined]
        refuse_other_encodings(path, start)
        if start.startswith(BOM):
            stream.read(len(BOM))
    except BaseException:
        packed.close()
        raise
    return stream


class _Unpacked(io.RawIOBase):
    """The content of a gzip file, up to a limit that depends on its size."""

    def __init__(self, path: Path, packed: IO[bytes]) -> None:
        self._path, self._packed = path, packed
        self._gzip = gzip.GzipFile(fileobj=packed)
        self._left = UNPACKED_BYTES + UNPACKED_RATIO * os.fstat(packed.fileno()).st_size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._gzip.read(len(buffer))
        self._left -= len(data)
        if self._left < 0:
            reason = f"it unpacks to more than {UNPACKED_RATIO} times its size, as no log does; unpack and check it"
            raise UnreadableFileError(self._path, reason)
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._packed.close()
        super().close()


def read_lines(stream: IO[bytes]) -> Iterator[tuple[int, bytes | None]]:
    """Yield the 1-based number of each line and its bytes without the line break; None for a line that is too long."""
    number = 0
    while line := stream.readline(MAX_RECORD_BYTES):
        number += 1
        if len(line) == MAX_RECORD_BYTES and not line.endswith(b"\n"):
            while line and not line.endswith(b"\n"):
                line = stream.readline(MAX_RECORD_BYTES)
            yield number, None
        else:
            yield number, line.removesuffix(b"\n").removesuffix(b"\r")


def count_lines(path: Path) -> int | None:
    """Count the lines of a file that are not blank; None when it cannot be read."""
    try:
        with open_binary(path) as stream:
            return sum(raw is None or bool(raw.strip()) for _, raw in read_lines(stream))
    except (OSError, EOFError, zlib.error):
        return None


def copy_lines(source: Path, target: Path, keep: set[int]) -> int:
    """Copy the lines whose 1-based numbers are in ``keep``, byte for byte. Returns how many were copied."""
    target.parent.mkdir(parents=True, exist_ok=True)
    copied = 0
    with source.open("rb") as reader, target.open("wb") as writer:
        for number, line in enumerate(reader, start=1):
            if number in keep:
                writer.write(line if line.endswith(b"\n") else line + b"\n")
                copied += 1
    return copied
