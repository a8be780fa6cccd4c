"""Finds BFCL's files at or below the folder that the user names."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from agenthard.audit.sources.base import NotRead, SourceError
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
"""Suffixes that tell run files from question files, which are named alike otherwise."""


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
        """Folder with the source of the classes, when it is next to the data."""
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
    """Find the files of BFCL under ``root``; with both versions in one folder the newer one is read.

    Raises:
        SourceError: when there are none.
    """
    data = next(_data_folders(root), None)
    if not root.is_dir():
        raise SourceError(f"no folder {root}; give the folder that holds BFCL's question files")
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
    """Find the question files in a folder, by version and category stem."""
    found = {}
    for path in sorted(folder.glob("BFCL_v*.json")):
        match = _QUESTION_FILE.fullmatch(path.name)
        if match and not path.name.endswith(RUN_SUFFIXES):
            found[match[1], match[2]] = path
    return found


ANSWERS = "possible_answer"
_BLOCK = 1 << 20
_BFCL_FILE = re.compile(r"BFCL_(v\d+)_(\w+)\.json")


def question_files_not_read(layout: Layout) -> Iterator[NotRead]:
    """Yield the question files under the data folder that no category is read from, then other copies of BFCL."""
    read = {layout.questions(category.stem) for category in layout.categories} | {layout.format_sensitivity}
    answered = {path.name for path in read}
    for path in sorted(layout.data.rglob("BFCL_v*.json")):
        match = _BFCL_FILE.fullmatch(path.name)
        if match is None or path in read or path.name.endswith(RUN_SUFFIXES):
            continue
        if path.parent.name != ANSWERS:
            reason, unused = _reason(layout, path, match[1]), path.parent != layout.data
            yield NotRead(file=layout.name(path), tasks=_records(path), reason=reason, left_out=unused)
        elif path.parent.parent == layout.data and path.name not in answered and not (layout.data / path.name).exists():
            reason = f"answers without a question file {path.name} next to {ANSWERS}/; restore it or remove the answers"
            yield NotRead(file=layout.name(path), tasks=_records(path), reason=reason)
    for folder in other_copies(layout):
        questions = [path for (_, stem), path in question_files(folder).items() if stem != FORMAT_SENSITIVITY]
        tasks = sum(_records(path) or 0 for path in questions)
        reason = f"a second copy of BFCL, {layout.name(layout.data)} was read; audit it by its own path"
        yield NotRead(file=layout.name(folder), tasks=tasks, reason=reason)


def _reason(layout: Layout, path: Path, version: str) -> str:
    if path.parent != layout.data:
        folder = path.relative_to(layout.data).parts[0]
        return f"BFCL's own evaluation loads nothing from the folder {folder}, so no score depends on it"
    if version != layout.version:
        return f"of {version}, and {layout.version} was read; put the files of {version} in a folder of their own"
    return "a category that this reader does not know; none of its records were read, update AgentHard or leave it out"


def _records(path: Path) -> int | None:
    """Count the lines; None when the file cannot be read."""
    if not path.is_file():
        return None
    count, last = 0, b""
    try:
        with path.open("rb") as stream:
            while block := stream.read(_BLOCK):
                count, last = count + block.count(b"\n"), block[-1:]
    except OSError:
        return None
    return count + (last not in (b"", b"\n"))
