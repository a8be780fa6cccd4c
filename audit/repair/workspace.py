"""A copy of a benchmark's folder in which only the changed files are copies; all others are links to the original."""

from collections.abc import Mapping
from pathlib import Path


def mirror(root: Path, target: Path, changed: Mapping[str, bytes]) -> Path:
    """Lay out a folder that a source reads as it reads ``root``, with other bytes in some files.

    What stands beside ``root`` is linked too: a source may find its benchmark's code there.

    Args:
        root: folder of the benchmark; it is only read.
        target: empty folder to write into.
        changed: new bytes by path relative to ``root``, with forward slashes.

    Returns:
        The folder that stands for ``root``.
    """
    root = root.resolve()
    for beside in root.parent.iterdir():
        if beside.name != root.name:
            (target / beside.name).symlink_to(beside)
    copied = target / root.name
    _lay_out(root, copied, {tuple(path.split("/")): data for path, data in changed.items()})
    return copied


def _lay_out(source: Path, target: Path, changed: Mapping[tuple[str, ...], bytes]) -> None:
    target.mkdir()
    for item in source.iterdir():
        below = {path[1:]: data for path, data in changed.items() if path[0] == item.name}
        if () in below:
            (target / item.name).write_bytes(below[()])
        elif below or _is_plain_folder(item):
            _lay_out(item, target / item.name, below)
        else:
            (target / item.name).symlink_to(item)


def _is_plain_folder(item: Path) -> bool:
    return item.is_dir() and not item.is_symlink() and not item.name.startswith(".")
