"""Where ACEBench's files stand, from whatever folder the user points at."""

from dataclasses import dataclass
from pathlib import Path

from agenthard.audit.sources.acebench.categories import Category, category
from agenthard.audit.sources.base import SourceError

DATA_FOLDERS = (".", "data_en", "data_zh", "data_all/data_en", "data_all/data_zh")
"""Where the question files can be, relative to the folder that was given; the first that has any counts."""
ANSWERS = "possible_answer"


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
            f"with {ANSWERS}/ beside them, there and in {', '.join(DATA_FOLDERS[1:])}. Give an ACEBench checkout"
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
