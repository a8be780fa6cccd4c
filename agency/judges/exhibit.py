"""What a judge looks at: the task, the files of a workspace as blinded text, and the images of its page."""

import os
import stat
from base64 import b64encode
from collections.abc import Sequence
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path

from agenthard.agency.judges.blind import Blinder
from agenthard.agency.judges.probe import ProbeError, read_plain
from agenthard.agency.sandbox.record import BrowserRecord, SavedImage
from agenthard.agency.scenario import ScenarioTask
from agenthard.models.request import Image

MOST_FILE, MOST_ALL = 40_000, 120_000
"""Characters of one file and of all files that are shown."""
MOST_READ = 4 << 20
MOST_FILES, MOST_IMAGES = 300, 12
UNSHOWN_FOLDERS = (".git", ".mypy_cache", ".pytest_cache", ".venv", "__pycache__", "node_modules")
"""Folders of what programs fetch and make, wherever they are; the question says that they are not shown."""


class Exhibit:
    """One attempt as judges see it. Files are read as data; nothing of the workspace runs here."""

    def __init__(
        self,
        task: ScenarioTask,
        work: Path,
        blinder: Blinder,
        *,
        reply: str = "",
        record: BrowserRecord | None = None,
        images: Path | None = None,
    ) -> None:
        """Prepare.

        Args:
            task: the task.
            work: the workspace, in an eval-space.
            blinder: masks what is shown.
            reply: what the agent said last.
            record: what became of a plan in a browser; None when there was none.
            images: folder of its images.
        """
        self.task, self.record = task, record
        self._work, self.blinder, self._images = work, blinder, images
        self.reply = blinder.mask(reply)

    @cached_property
    def paths(self) -> dict[str, str]:
        """Paths of all regular files, by the masked name that judges know them by."""
        found: list[str] = []
        for folder, folders, files in os.walk(self._work):
            folders[:] = sorted(name for name in folders if name not in UNSHOWN_FOLDERS)
            for name in files:
                file = Path(folder, name)
                if stat.S_ISREG(file.lstat().st_mode):
                    found.append(file.relative_to(self._work).as_posix())
        named: dict[str, str] = {}
        for path in sorted(found, key=self._order):
            named.setdefault(self.blinder.mask(path), path)
        return named

    def _order(self, path: str) -> tuple[bool, str]:
        wanted = any(each.path and fnmatch(path, each.path.strip("/")) for each in self.task.deliverables)
        return not wanted, path

    def lines(self, name: str) -> list[str] | None:
        """Read a file again, as masked lines; None when no such text file exists."""
        path = self.paths.get(name.removeprefix("./"))
        if path is None:
            return None
        try:
            text = read_plain(self._work, path, MOST_READ)
        except ProbeError:
            return None
        return self.blinder.mask(text).split("\n")

    @cached_property
    def shown(self) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
        """The files that are shown, as name and numbered text, and what is not shown, with the reason."""
        found: list[tuple[str, str]] = []
        left_out = [f"folders named {name}" for name in UNSHOWN_FOLDERS if any(self._work.rglob(name))]
        room = MOST_ALL
        for number, name in enumerate(self.paths):
            lines = self.lines(name) if number < MOST_FILES else None
            if lines is None:
                left_out.append(
                    f"{name} (not text, or too long)" if number < MOST_FILES else f"{name} (too many files)"
                )
                continue
            text = "\n".join(f"{place}| {line}" for place, line in enumerate(lines, start=1))
            most = min(MOST_FILE, room)
            if len(text) > most:
                left_out.append(f"{name} (from character {most} on)" if most else f"{name} (no room)")
                text = text[:most]
            if text:
                found.append((name, text))
                room -= len(text)
        return tuple(found), tuple(left_out)

    @cached_property
    def images(self) -> tuple[tuple[str, Image], ...]:
        """The images that are shown, as name and image; evenly chosen when there are many."""
        if self.record is None or self._images is None:
            return ()
        chosen = _spread(self.record.images, MOST_IMAGES)
        return tuple(
            (
                f"{each.name}{f' ({self.blinder.mask(each.label)})' if each.label else ''}",
                Image(media_type="image/png", data=b64encode((self._images / each.name).read_bytes()).decode("ascii")),
            )
            for each in chosen
        )

    @cached_property
    def observed(self) -> tuple[str, ...]:
        """What the browser noted next to the images: steps that failed, and errors of the page."""
        if self.record is None:
            return ()
        failed = [f"step {step.number}: {step.failure}: {step.reason}" for step in self.record.failures()]
        errors = [f"error of the page: {text}" for text in self.record.errors[:10]]
        return tuple(map(self.blinder.mask, failed + errors))


def _spread(items: Sequence[SavedImage], most: int) -> list[SavedImage]:
    if len(items) <= most:
        return list(items)
    return [items[round(place * (len(items) - 1) / (most - 1))] for place in range(most)]
