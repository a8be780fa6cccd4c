"""Finds ACEBench's files at or below the folder that the user names, and the category of each."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agenthard.audit.sources.base import SourceError

DATA_FOLDERS = (".", "data_en", "data_zh", "data_all/data_en", "data_all/data_zh")
"""Where the question files can be, relative to the folder that was given; the first folder that has any is read."""
ANSWERS = "possible_answer"


Scoring = Literal["calls", "missing", "wrong_value", "irrelevant", "state"]
"""calls: compared with the answer; missing, wrong_value, irrelevant: the agent must say what is wrong instead of
calling; state: the final state of the classes."""


_SPECIAL: dict[str, Scoring] = {
    "special_incomplete": "missing",
    "special_error_param": "wrong_value",
    "special_irrelevant": "irrelevant",
}


_DIALOGUE = re.compile(r"(normal_multi_turn_\w+?_\d+)_\d+")


@dataclass(frozen=True)
class Category:
    """One category, which is one file of questions and one of answers."""

    name: str
    """Name of the file without ``data_`` and ``.json``."""
    scoring: Scoring
    """How the evaluator looks at a run."""

    @property
    def traits(self) -> frozenset[str]:
        """Conventions that checks respect."""
        if self.scoring == "calls":
            return frozenset()
        return frozenset({"redundant_calls_free"} if self.scoring == "state" else {"expects_no_call"})

    @property
    def simulated(self) -> bool:
        """Whether a model plays the user."""
        return self.name == "agent_multi_turn"

    def cluster(self, native_id: str) -> str | None:
        """Name the dialogue of which several tasks are cut: its first turn, its first two turns, and so on."""
        found = _DIALOGUE.fullmatch(native_id)
        return found[1] if found else None


def category(name: str) -> Category | None:
    """Return the category of a file's name; None for one that is not known."""
    if name in _SPECIAL:
        return Category(name, _SPECIAL[name])
    if name in ("agent_multi_turn", "agent_multi_step"):
        return Category(name, "state")
    return Category(name, "calls") if name.startswith("normal_") else None


@dataclass(frozen=True)
class Layout:
    """The files of one language."""

    root: Path
    """Folder that was given; paths in records are relative to it."""
    data: Path
    """Folder that holds the question files."""
    categories: tuple[Category, ...]
    """Categories whose question file is there."""
    unknown: tuple[Path, ...]
    """Question files of categories that this reader does not know."""

    def questions(self, name: str) -> Path:
        """Path of a category's questions."""
        return self.data / f"data_{name}.json"

    def answers(self, name: str) -> Path:
        """Path of a category's answers."""
        return self.data / ANSWERS / f"data_{name}.json"

    def name(self, path: Path) -> str:
        """Path relative to the given folder, with forward slashes."""
        return path.relative_to(self.root).as_posix()


def data_folder(root: Path) -> Path | None:
    """Return the first folder at or below ``root`` that holds questions and answers."""
    folders = (root / name for name in DATA_FOLDERS)
    return next((folder for folder in folders if (folder / ANSWERS).is_dir() and question_files(folder)), None)


def find_layout(root: Path) -> Layout:
    """Find the files of ACEBench under ``root``.

    Raises:
        SourceError: when there are none.
    """
    data = data_folder(root)
    if data is None:
        raise SourceError(
            f"no ACEBench files under {root}: looked for data_normal_*.json, data_special_*.json and data_agent_*.json "
            f"with {ANSWERS}/ next to them, there and in {', '.join(DATA_FOLDERS[1:])}. Give an ACEBench checkout"
        )
    known, unknown = [], []
    for path in question_files(data):
        found = category(path.stem.removeprefix("data_"))
        if found is None:
            unknown.append(path)
        else:
            known.append(found)
    return Layout(root, data, tuple(known), tuple(unknown))


def other_languages(root: Path, data: Path) -> list[Path]:
    """Return the folders at or below ``root`` that hold questions too and are not the one that is read."""
    folders = (root / name for name in DATA_FOLDERS)
    return [folder for folder in folders if folder.is_dir() and not folder.samefile(data) and question_files(folder)]


def question_files(folder: Path) -> list[Path]:
    """Return the question files in a folder, sorted within each kind."""
    kinds = ("normal", "special", "agent")
    return sorted(path for kind in kinds for path in folder.glob(f"data_{kind}_*.json") if path.is_file())
