"""The source: BFCL's files as agent tasks, its runs as trajectories, its splits as files of its own layout."""

import shutil
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from agenthard.audit.sources.base import NotRead, Quarantine, Source, SourceError, Version, hash_files, left_out
from agenthard.audit.sources.bfcl.layout import find_layout, looks_like_bfcl, question_files_not_read
from agenthard.audit.sources.bfcl.reader import read_pairs, read_tasks
from agenthard.audit.sources.bfcl.runs import RunReader
from agenthard.audit.sources.bfcl.tools import find_code, package_root
from agenthard.audit.sources.formats.files import copy_lines, count_lines
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory


class BFCL(Source):
    """Reader of BFCL v3 and v4. A domain is a category, named as on BFCL's own command line."""

    name = "bfcl"
    title = "Berkeley Function Calling Leaderboard"
    layout = (
        "BFCL_v3_*.json or BFCL_v4_*.json (JSON Lines), with possible_answer/ and multi_turn_func_doc/ next to them"
    )

    split_use = (
        "Put `native/bfcl_eval/data` in the place of the folder `bfcl_eval/data` of bfcl-eval (or of "
        "`berkeley-function-call-leaderboard/bfcl_eval/data` of a checkout): question files, `possible_answer/` "
        "and `multi_turn_func_doc/` are there, the classes and checkers come from bfcl-eval. A category without a task "
        "in the split has an empty file, because bfcl-eval counts the lines of every one for its table of scores; name "
        "the others with `--test-category`."
    )

    def __init__(self, root: Path, domains: Sequence[str] = ()) -> None:
        """Open a copy of BFCL.

        Args:
            root: the data folder, or a folder above it: a gorilla checkout, an unpacked bfcl-eval package, or a
                virtual environment that has it installed.
            domains: categories to read; empty means all.

        Raises:
            SourceError: No question files, or a category is unknown.
        """
        super().__init__(root, domains)
        self._files = find_layout(root)
        self._code = find_code(self._files)
        known = [category.name for category in self._files.categories]
        unknown = sorted(set(domains) - set(known))
        if unknown:
            raise SourceError(f"unknown BFCL category: {', '.join(unknown)}; this copy has: {', '.join(known)}")
        self._categories = [c for c in self._files.categories if not domains or c.name in domains]

    @classmethod
    def recognises(cls, root: Path) -> bool:
        """Tell whether question files of BFCL are under ``root``."""
        return looks_like_bfcl(root)

    def version(self) -> Version:
        """Identify the release.

        The hash covers the data files of the categories read, so it does not depend on where the folder is. The label
        says when the code of the classes comes from a fetched package.
        """
        stems = sorted({category.stem for category in self._categories})
        paths = [path(stem) for stem in stems for path in (self._files.questions, self._files.answers)]
        files = [path for path in (*paths, *self._files.shared_files()) if path.is_file()]
        label = self._files.label()
        if self._code and self._code.release:
            label += f", code of bfcl-eval {self._code.release}"
        return hash_files(self._files.data, files, label)

    def tasks(self, quarantine: Quarantine) -> Iterator[AgentTask]:
        """Stream the tasks category by category."""
        yield from read_tasks(self._files, self._categories, self._code_folder, quarantine)

    def some_tasks(self, ids: Collection[str]) -> Iterator[AgentTask]:
        """Stream the tasks with one of the ids, and those with which they share a tool."""
        return read_tasks(self._files, self._categories, self._code_folder, Quarantine(), ids)

    def known_files(self) -> Iterator[Path]:
        """Yield the files of all categories, and what they share."""
        for category in self._files.categories:
            yield from (self._files.questions(category.stem), self._files.answers(category.stem))
        yield from self._files.shared_files()

    def not_read(self) -> Sequence[NotRead]:
        """Name the categories that the user did not choose, and question files that no category is read from."""
        opened = {category.name for category in self._categories}
        others = [
            left_out(self._files.name(path), count_lines(path) or 0, category.name)
            for category in self._files.categories
            if category.name not in opened and (path := self._files.questions(category.stem))
        ]
        rest = question_files_not_read(self._files)
        return [*others, *(item.model_copy(update={"left_out": True}) if self.domains else item for item in rest)]

    def runs(self, path: Path, quarantine: Quarantine) -> Iterator[Trajectory]:
        """Stream the runs in BFCL's result and score files under ``path``.

        Raises:
            SourceError: No such files.
        """
        known = [category.name for category in self._files.categories]
        chosen = [category.name for category in self._categories]
        yield from RunReader(known, chosen, self._tasks_of, quarantine).read(path)

    def _tasks_of(self, names: Collection[str]) -> Iterator[AgentTask]:
        categories = [category for category in self._files.categories if category.name in names]
        return read_tasks(self._files, categories, self._code_folder, Quarantine())

    def file_path(self, name: str) -> Path:
        """Return where a file is; the code of the classes may be in a fetched package."""
        folder = self._code_folder
        if folder and not folder.is_relative_to(self.root) and not (self.root / name).exists():
            return package_root(folder) / name
        return super().file_path(name)

    @property
    def _code_folder(self) -> Path | None:
        return self._code.folder if self._code else None

    def split_home(self) -> str:
        """Return the folder of bfcl-eval that its loader reads."""
        return "bfcl_eval/data"

    def complete_split(self, keep: Sequence[str], out: Path) -> list[Path]:
        """Add an empty file for each category without a task: the table of scores counts the lines of every one."""
        added = []
        for category in self._files.categories:
            for path in (self._files.questions(category.stem), self._files.answers(category.stem)):
                target = out / path.relative_to(self._files.data)
                if path.is_file() and not target.exists():
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.touch()
                    added.append(target)
        return added

    def write_split(self, keep: Sequence[str], out: Path) -> list[Path]:
        """Write the lines of the tasks in ``keep``, and all documentation, in BFCL's own layout.

        Every line is byte-identical. Where one line serves several tasks (one per memory backend), it is written when
        any of them is kept. A category without a kept task gets no file.

        Args:
            keep: ids of AgentTask.
            out: empty folder to write into.

        Returns:
            The files written.

        Raises:
            SourceError: when an id is unknown.
        """
        wanted, found = set(keep), set[str]()
        lines: dict[Path, set[int]] = {}
        for variants, pairs in read_pairs(self._files, self._categories, Quarantine()):
            for pair in pairs:
                kept = wanted & {category.task_id(pair[0].record.value["id"]) for category in variants}
                found |= kept
                for place in pair if kept else ():
                    if place is not None:
                        lines.setdefault(self.root / place.file, set()).add(place.record.line)
        if wanted - found:
            raise SourceError(f"no such task in {self.root}: {', '.join(sorted(wanted - found)[:5])}")
        written = []
        for source in (*lines, *self._files.shared_files()):
            target = out / source.relative_to(self._files.data)
            target.parent.mkdir(parents=True, exist_ok=True)
            if source in lines:
                copy_lines(source, target, lines[source])
            else:
                shutil.copyfile(source, target)
            written.append(target)
        return written
