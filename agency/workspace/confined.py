"""Writing below a folder that hostile code has filled: no link on the way is followed."""

import os
from contextlib import suppress
from pathlib import Path

_BELOW = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def write_file(root: Path, path: str, content: bytes) -> None:
    """Write a file below a folder.

    Args:
        root: the folder.
        path: path below it, with slashes; checked by the caller to hold no ``..``.
        content: what it holds then.

    Raises:
        OSError: a link, or a file in place of a folder, is on the way.
    """
    *folders, name = path.split("/")
    handle = os.open(root, _BELOW)
    try:
        for part in folders:
            with suppress(FileExistsError):
                os.mkdir(part, 0o755, dir_fd=handle)
            below = os.open(part, _BELOW, dir_fd=handle)
            os.close(handle)
            handle = below
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_TRUNC | os.O_CLOEXEC
        with open(os.open(name, flags, 0o644, dir_fd=handle), "wb") as file:
            file.write(content)
    finally:
        os.close(handle)
