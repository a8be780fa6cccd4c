"""Suites of scenarios on disk: what an audit reads and an evaluation plays. A suite holds data only, no code.

SUITE/agency-suite.json            format, version, and the folders of the scenarios in order
SUITE/FOLDER/scenario.json         the scenario
SUITE/FOLDER/seed/                 files that the first task begins with
SUITE/FOLDER/gold/                 files that graders compare with, and no agent reads
SUITE/FOLDER/solutions/NAME/TASK/  files that a solution writes, and commands.json, which it runs then
"""

import json
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from agenthard.agency.packs import Pack
from agenthard.agency.scaffolds.script import Script, solution_script
from agenthard.agency.scenario import Scenario
from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.files import UnreadableFileError, read_bytes

HEAD, SCENARIO = "agency-suite.json", "scenario.json"
FORMAT, VERSION = "agenthard-agency-suite", 1


class SuiteError(AgentHardError, ValueError):
    """A suite of scenarios, or one scenario of it, cannot be read."""

    code = "AH648"
    remedy = "Write the suite again with `agenthard agency scenarios --out FOLDER`."


@dataclass(frozen=True)
class StoredScenario:
    """A scenario on disk."""

    folder: Path
    """Its folder."""
    scenario: Scenario
    """The scenario."""

    @property
    def seed(self) -> Path | None:
        """Files that the first task begins with."""
        return self._below("seed")

    @property
    def gold(self) -> Path | None:
        """Gold files."""
        return self._below("gold")

    def solutions(self) -> list[str]:
        """Return the names of its solutions."""
        place = self._below("solutions")
        return sorted(path.name for path in place.iterdir() if path.is_dir()) if place else []

    def script(self, name: str) -> Script:
        """Return what a solution does; a task that it has no folder for gets no call.

        Raises:
            ScriptError: it cannot be read.
        """
        ids = [task.id for task in self.scenario.tasks]
        found = solution_script(self.folder / "solutions" / name, ids)
        return Script(tasks={id: found.tasks.get(id, ((),)) for id in ids})

    def _below(self, name: str) -> Path | None:
        return self.folder / name if (self.folder / name).is_dir() else None


def files_below(folder: Path) -> list[Path]:
    """Return the files of a scenario, in order."""
    return [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink()]


def is_suite(root: Path) -> bool:
    """Tell whether there is a suite."""
    try:
        return FORMAT in read_bytes(root / HEAD, 1 << 20).decode("utf-8", "replace")
    except (OSError, UnreadableFileError):
        return False


def scenario_folders(root: Path) -> list[Path]:
    """Return the folders of the scenarios, in the order of the suite.

    Raises:
        SuiteError: the suite is missing, or its head cannot be read.
    """
    try:
        head = json.loads(read_bytes(root / HEAD, 1 << 20))
        names = [str(name) for name in head["scenarios"]]
        if head["format"] != FORMAT or head["version"] != VERSION:
            raise SuiteError(f"{root / HEAD}: format {head['format']} {head['version']}, not {FORMAT} {VERSION}")
    except (OSError, UnreadableFileError) as error:
        raise SuiteError(f"{root}: no suite of scenarios here: {error}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise SuiteError(f"{root / HEAD}: not the head of a suite: {error!r}") from None
    if bad := [name for name in names if name in ("", ".", "..") or "/" in name or "\0" in name]:
        raise SuiteError(f"{root / HEAD}: {bad[0]!r} is not the name of a folder in the suite")
    return [root / name for name in names]


def read_scenario(folder: Path) -> StoredScenario:
    """Read one scenario.

    Raises:
        SuiteError: it cannot be read.
    """
    try:
        return StoredScenario(folder, Scenario.model_validate_json(read_bytes(folder / SCENARIO, 16 << 20)))
    except (OSError, UnreadableFileError) as error:
        raise SuiteError(f"{folder.name}/{SCENARIO}: {error}") from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise SuiteError(f"{folder.name}/{SCENARIO}: {where}: {first['msg']}") from None


def write_suite(packs: Iterable[Pack], root: Path) -> list[Path]:
    """Write installed packs as a suite.

    Args:
        packs: the packs, in order.
        root: an empty or missing folder.

    Returns:
        The folders of the scenarios.

    Raises:
        SuiteError: the folder holds something.
    """
    if root.exists() and any(root.iterdir()):
        raise SuiteError(f"{root}: not empty; give another folder")
    root.mkdir(parents=True, exist_ok=True)
    written = [_write(pack, root) for pack in packs]
    head = {"format": FORMAT, "version": VERSION, "scenarios": [folder.name for folder in written]}
    (root / HEAD).write_text(json.dumps(head, indent=2) + "\n", encoding="utf-8")
    return written


def _write(pack: Pack, root: Path) -> Path:
    folder = root / pack.scenario.id.replace("/", "-")
    folder.mkdir()
    (folder / SCENARIO).write_text(pack.scenario.model_dump_json(indent=2) + "\n", encoding="utf-8")
    (folder / "seed").mkdir()
    pack.seed(folder / "seed")
    ignored = shutil.ignore_patterns("__pycache__")
    for name, source in (("gold", pack.gold), ("solutions", pack.solutions)):
        if source is not None:
            shutil.copytree(source, folder / name, symlinks=True, ignore=ignored)
    return folder
