"""Where BFCL's files stand, from whatever folder the user points at."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from agenthard.audit.sources.base import SourceError
from agenthard.audit.sources.bfcl.categories import CATEGORIES, CLASS_DOCS, Category
from agenthard.taxonomy.files import read_text

DATA_FOLDERS = (
    ".",
    "data",
    "bfcl_eval/data",
    "berkeley-function-call-leaderboard/bfcl_eval/data",
    "berkeley-function-call-leaderboard/data",
    "lib/python*/site-packages/bfcl_eval/data",
    "Lib/site-packages/bfcl_eval/data",
)
"""Where the question files can be, relative to the folder that was given."""
CODE_FOLDERS = ("eval_checker", "bfcl_eval/eval_checker", "bfcl/eval_checker")
"""Where the evaluator can be, relative to the parent of the data folder."""
SCENARIOS = "memory_prereq_conversation"
FORMAT_SENSITIVITY = "format_sensitivity"
"""Named like a question file, but a list of ids: the same tasks under other prompt formats."""
CHECKOUT_FOLDER = "berkeley-function-call-leaderboard"

_QUESTION_FILE = re.compile(r"BFCL_(v[34])_(\w+)\.json")
RUN_SUFFIXES = ("_result.json", "_score.json")
"""Ends of the names of run files, which are named like question files otherwise."""


@dataclass(frozen=True)
class Layout:
    """The files of one copy of BFCL."""

    root: Path
    """Folder that was given; paths in records are relative to it."""
    data: Path
    """Folder that holds the question files."""
    version: str
    """v3 or v4."""
    categories: tuple[Category, ...]
    """Categories whose question file is there."""

    def questions(self, stem: str) -> Path:
        """Path of a question file."""
        return self.data / f"BFCL_{self.version}_{stem}.json"

    def answers(self, stem: str) -> Path:
        """Path of an answer file."""
        return self.data / "possible_answer" / f"BFCL_{self.version}_{stem}.json"

    def docs(self, class_name: str) -> Path:
        """Path of the documentation of a class."""
        return self.data / "multi_turn_func_doc" / f"{CLASS_DOCS[class_name]}.json"

    def scenario(self, name: str) -> Path:
        """Path of the earlier conversations that fill the memory of a scenario."""
        return self.data / SCENARIOS / f"memory_{name}.json"

    @property
    def format_sensitivity(self) -> Path:
        """Path of the lists of ids that version 4 also runs under other prompt formats."""
        return self.questions(FORMAT_SENSITIVITY)

    def code(self) -> Path | None:
        """Folder with the source of the classes, when it stands beside the data."""
        for folder in CODE_FOLDERS:
            path = self.data.parent / folder / "multi_turn_eval" / "func_source_code"
            if path.is_dir():
                return path
        return None

    def name(self, path: Path) -> str:
        """Path relative to the given folder, with forward slashes."""
        return path.relative_to(self.root).as_posix()

    def label(self) -> str:
        """Name the release: the version, and the package or commit when the folder tells."""
        info = next(iter(sorted(self.data.parent.parent.glob("bfcl_eval-*.dist-info"))), None)
        if info is not None:
            return f"{self.version}, bfcl-eval {info.name.removeprefix('bfcl_eval-').removesuffix('.dist-info')}"
        commit = self._commit()
        return f"{self.version}, commit {commit[:8]}" if commit else self.version

    def _commit(self) -> str | None:
        checkout = next((p.parent for p in self.data.resolve().parents if p.name == CHECKOUT_FOLDER), None)
        git = checkout / ".git" if checkout else None
        if git is None or not (git / "HEAD").is_file():
            return None
        head = read_text(git / "HEAD").strip()
        if not head.startswith("ref: "):
            return head
        loose = git / head.removeprefix("ref: ")
        return read_text(loose).strip() if loose.is_file() else None

    def shared_files(self) -> Iterator[Path]:
        """Yield the files that belong to no single category: documentation, scenarios, lists of ids."""
        for folder in ("multi_turn_func_doc", SCENARIOS):
            yield from sorted((self.data / folder).glob("*.json"))
        if self.format_sensitivity.is_file():
            yield self.format_sensitivity


def looks_like_bfcl(root: Path) -> bool:
    """Tell whether some data folder under ``root`` holds question files."""
    return next(_data_folders(root), None) is not None


def find_layout(root: Path) -> Layout:
    """Find the files of BFCL under ``root``; with both versions in one folder the newer one counts.

    Raises:
        SourceError: when there are none.
    """
    data = next(_data_folders(root), None)
    if not root.is_dir():
        raise SourceError(f"there is no folder {root}; give the folder that holds BFCL's question files")
    if data is None:
        places = ", ".join(DATA_FOLDERS[1:])
        raise SourceError(
            f"no BFCL question files under {root}: looked for BFCL_v3_*.json and BFCL_v4_*.json there and in {places}. "
            "Give the data folder, a gorilla checkout or an unpacked bfcl-eval package; `agenthard fetch bfcl` gets one"
        )
    found = question_files(data)
    version = max(version for version, _ in found)
    stems = {stem for v, stem in found if v == version}
    return Layout(root, data, version, tuple(c for c in CATEGORIES if c.stem in stems))


def other_copies(layout: Layout) -> list[Path]:
    """List further folders with question files under the one that was given."""
    return [folder for folder in _data_folders(layout.root) if folder != layout.data]


def _data_folders(root: Path) -> Iterator[Path]:
    for pattern in DATA_FOLDERS:
        for folder in [root] if pattern == "." else sorted(root.glob(pattern)):
            if folder.is_dir() and question_files(folder):
                yield folder


def question_files(folder: Path) -> dict[tuple[str, str], Path]:
    """Find the question files that stand in a folder, by version and category stem."""
    found = {}
    for path in sorted(folder.glob("BFCL_v*.json")):
        match = _QUESTION_FILE.fullmatch(path.name)
        if match and not path.name.endswith(RUN_SUFFIXES):
            found[match[1], match[2]] = path
    return found
