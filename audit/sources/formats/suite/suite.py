"""Our own format: a folder in which the public part of a suite is separate from the private one.

One file holds what an agent may see, the other the solutions with their certificates and provenance, each one instance
after the other in the same order, as JSON lines or as Parquet; ``suite.json`` says how the suite was made. A suite is
written as it is generated, and an interrupted one in JSON lines can be read as far as it goes and taken up again.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Set
from itertools import zip_longest
from pathlib import Path
from typing import Any, Generic, TypeVar

from agenthard.audit.sources.formats.id_filter import may_have_id
from agenthard.audit.sources.formats.suite import suite_files, suite_parquet
from agenthard.audit.sources.formats.suite.layout import Kind, Layout, Shown, Whole
from agenthard.audit.sources.formats.suite.malformed_suite import MalformedInstanceError, Unreadable
from agenthard.audit.sources.formats.suite.suite_files import HEAD

_T = TypeVar("_T")


class Suites(Generic[Shown, Whole]):
    """Reader and writer of the suites of one benchmark."""

    def __init__(self, layout: Layout[Shown, Whole]) -> None:
        """Reads and writes suites of a layout."""
        self.layout = layout

    def parts(self, folder: Path, kind: Kind) -> tuple[Path, Path]:
        """Returns the files of the public and of the private part."""
        return suite_files.parts(self.layout, folder, kind)

    def read_head(self, folder: Path) -> dict[str, Any]:
        """Reads what a suite says of itself; see :func:`suite_files.read_head`."""
        return suite_files.read_head(self.layout, folder)

    def records(self, folder: Path, part: str) -> Iterator[bytes]:
        """Reads the records of one part; see :func:`suite_files.records`."""
        return suite_files.records(self.layout, folder, part)

    def write_part(self, folder: Path, out: Path, keep: Set[int]) -> list[Path]:
        """Writes some instances of a suite as a suite of their own; see :func:`suite_files.write_part`."""
        return suite_files.write_part(self.layout, folder, out, keep)

    def write(
        self,
        folder: Path,
        instances: Iterable[Whole],
        parameters: Mapping[str, Any] | None = None,
        kind: Kind = "jsonl",
        resume: bool = False,
        count: int | None = None,
    ) -> int:
        """Writes a suite, one instance at a time.

        Args:
            folder: Where to; it is made if need be.
            instances: The instances.
            parameters: What the suite was asked to be, as JSON data; kept in ``suite.json``.
            kind: JSON lines or Parquet.
            resume: Append to the instances that are there (see ``resumable``) instead of starting again.
            count: How many instances the whole suite has, those that are there included; kept in ``suite.json``, so
                that readers can tell when a suite was interrupted. None when it is not known beforehand.

        Returns:
            How many instances were written by this call.

        Raises:
            ValueError: A Parquet suite cannot be resumed.
            OSError: The folder cannot be written.
        """
        if resume and kind == "parquet":
            raise ValueError("a Parquet suite cannot be resumed; write JSON lines, or start again")
        folder.mkdir(parents=True, exist_ok=True)
        if kind == "parquet":
            written = suite_parquet.write(self.layout, *self.parts(folder, kind), instances)
            suite_files.write_head(self.layout, folder, kind, count, parameters)
            return written
        suite_files.write_head(self.layout, folder, kind, count, parameters)
        return self._write_lines(*self.parts(folder, kind), instances, "ab" if resume else "wb")

    def read(self, folder: Path) -> Iterator[Whole]:
        """Reads a suite, one instance at a time.

        Args:
            folder: The folder.

        Yields:
            The instances in order.

        Raises:
            MalformedInstanceError: no suite, or a record is broken, or writing was interrupted; text says which
                and how.
        """
        yield from _strictly(folder, self.scan(folder))

    def scan(self, folder: Path) -> Iterator[Whole | Unreadable]:
        """Reads a suite like ``read``, and continues after a broken record.

        Args:
            folder: The folder.

        Yields:
            The instances in order, in the place of a broken one what is wrong with it, and at the end of an interrupted
            suite how far it got.

        Raises:
            MalformedInstanceError: The folder holds no suite.
        """
        return (each for _, each in self.scan_some(folder, None))

    def scan_some(self, folder: Path, ids: Set[str] | None) -> Iterator[tuple[int, Whole | Unreadable]]:
        """Reads some instances of a suite; the records of the others are not parsed.

        Args:
            folder: The folder.
            ids: Ids of the instances; None = all of them.

        Yields:
            As ``scan``, each with its position.

        Raises:
            MalformedInstanceError: The folder holds no suite.
        """
        count, whole = self.read_head(folder)["instances"], 0
        wanted = None if ids is None else may_have_id(ids)
        for number, lines in enumerate(zip_longest(*(self.records(folder, part.name) for part in self.layout.parts))):
            if wanted and not wanted(lines[0] or b""):
                continue
            each = self._instance(number, *lines)
            torn = not all(line and line.endswith(b"\n") for line in lines)
            if isinstance(each, Unreadable) and torn and count is not None and number < count:
                break
            yield number, each
            whole = number + 1
        if count is not None and whole < count:
            reason = (
                f"the suite was interrupted here, after {whole} of {count} instances; "
                f"the same `{self.layout.command}` command continues from there"
            )
            yield whole, Unreadable(whole, None, reason, self.layout.public.name)

    def read_public(self, folder: Path) -> Iterator[Shown]:
        """Reads the public part of a suite; the private part need not be there.

        Args:
            folder: The folder.

        Yields:
            The public parts in order.

        Raises:
            MalformedInstanceError: The folder holds no suite, or a record is broken; the message says which and how.
        """
        yield from _strictly(folder, self.scan_public(folder))

    def scan_public(self, folder: Path) -> Iterator[Shown | Unreadable]:
        """Reads the public part like ``read_public``, and continues after a broken record.

        Args:
            folder: The folder.

        Yields:
            The public parts in order, and in the place of a broken one what is wrong with it.

        Raises:
            MalformedInstanceError: The folder holds no suite.
        """
        public = self.layout.public
        for number, line in enumerate(self.records(folder, public.name)):
            try:
                yield self.layout.read_public(line)
            except MalformedInstanceError as error:
                yield Unreadable(number, None, str(error), public.name)

    def resumable(self, folder: Path, parameters: Mapping[str, Any]) -> int:
        """Returns how many instances of a suite are there already, and cuts off what an interruption left half written.

        Args:
            folder: The folder; it need not exist.
            parameters: What the suite is asked to be, as JSON data.

        Returns:
            The number of whole instances: from where to generate on.

        Raises:
            ValueError: The folder holds a suite with other parameters, a part of a suite, or one in Parquet.
            MalformedInstanceError: The folder holds something else.
        """
        if not (folder / HEAD).exists():
            return 0
        head = self.read_head(folder)
        if head["kind"] != "jsonl":
            raise ValueError(f"{folder} holds a Parquet suite, which cannot be resumed; start again in another folder")
        if "split" in head:
            raise ValueError(
                f"{folder} holds a part of a suite, which cannot be resumed; start again in another folder"
            )
        if head.get("parameters") != json.loads(json.dumps(parameters)):
            raise ValueError(f"{folder} holds a suite with other parameters; start again in another folder")
        paths = self.parts(folder, "jsonl")
        if not all(path.exists() for path in paths):
            return 0
        whole = min(_whole_lines(path) for path in paths)
        for path in paths:
            _truncate(path, whole)
        return whole

    def _instance(self, number: int, shown: bytes | None, hidden: bytes | None) -> Whole | Unreadable:
        public, private = self.layout.parts
        if shown is None or hidden is None:
            there, lost = (private, public) if shown is None else (public, private)
            return Unreadable(number, None, f"only its {there.word} is there", lost.name)
        try:
            read = self.layout.read_public(shown)
        except MalformedInstanceError as error:
            return Unreadable(number, None, str(error), public.name)
        try:
            return self.layout.read_whole(read, hidden)
        except MalformedInstanceError as error:
            return Unreadable(number, self.layout.id_of(read), str(error), private.name)

    def _write_lines(self, public: Path, private: Path, instances: Iterable[Whole], mode: str) -> int:
        count = 0
        with public.open(mode) as shown, private.open(mode) as hidden:
            for instance in instances:
                shown.write(self.layout.public.line(instance) + b"\n")
                hidden.write(self.layout.private.line(instance) + b"\n")
                shown.flush()
                hidden.flush()
                count += 1
        return count


def _strictly(folder: Path, found: Iterable[_T | Unreadable]) -> Iterator[_T]:
    for each in found:
        if isinstance(each, Unreadable):
            raise MalformedInstanceError(f"{folder.name}, instance {each.index}: {each.reason}")
        yield each


def _whole_lines(path: Path) -> int:
    with path.open("rb") as lines:
        return sum(line.endswith(b"\n") for line in lines)


def _truncate(path: Path, lines: int) -> None:
    with path.open("r+b") as file:
        for _ in range(lines):
            file.readline()
        file.truncate(file.tell())
        os.fsync(file.fileno())
