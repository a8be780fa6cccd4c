"""What AgentHard has left on a disk that no finished run needs: unfinished files, dead audits, temporary folders."""

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from agenthard.audit.execution.managed_environments import existing
from agenthard.audit.sources.base import SourceError
from agenthard.audit.sources.fetch import environments_folder
from agenthard.flows.audit_plan import AuditInput, AuditSettings
from agenthard.flows.result_store import count_results
from agenthard.flows.run_folder import RunFolder
from agenthard.flows.run_status import holder_of, kind_of
from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.record import Record

Kind = Literal[
    "unfinished file", "dead audit", "unfinished audit", "temporary", "reply cache", "kept results", "environment"
]
DEFAULT: tuple[Kind, ...] = ("unfinished file", "dead audit", "temporary")
"""What `--delete` removes without a further option."""
_KEPT_STORES = (".sqlite", ".db")
"""Endings of stores with verdicts of people, paid answers and replies of models, which stay when a run is removed."""
_NOT_OURS = (".git", ".venv", "node_modules", "__pycache__")

_OF_AN_AUDIT = (
    *("findings.json", "results.sarif", "report.html", "summary.md", "quarantine.jsonl", "manifest.json"),
    *("checksums.json", "tables", "split", "instances", "report", "work"),
)
"""What an audit writes into its run folder; the lock, which is in ``work/``, goes last."""


class Garbage(Record):
    """Something that no finished run needs."""

    path: str
    """File or folder."""
    kind: Kind
    """What it is."""
    bytes: int
    """How much it takes."""
    reason: str
    """Why nothing needs it."""
    run: str | None = None
    """Run folder that it belongs to; None for what belongs to no run."""


class Kept(Record):
    """Something that was not touched."""

    path: str
    """File or folder."""
    reason: str
    """Why it stays."""


class GarbageFound(Record):
    """What was found below a folder."""

    garbage: tuple[Garbage, ...]
    """What can be removed."""
    kept: tuple[Kept, ...]
    """What was not touched although it looks alike."""
    runs: int
    """Run folders that were looked at."""


def find_garbage(root: Path, kinds: frozenset[Kind], hours: float, now: float | None = None) -> GarbageFound:
    """Look for what no finished run needs. Nothing is changed.

    Args:
        root: Folder below which run folders are.
        kinds: What to look for.
        hours: Age from which on temporary folders count as left behind.
        now: Seconds since 1970; None = now.
    """
    garbage, kept = list[Garbage](), list[Kept]()
    runs = sorted(run_folders(root))
    for run in runs:
        if holder_of(run) is not None:
            kept.append(Kept(path=str(run), reason="a process works in it"))
            continue
        for item in _of_run(run):
            if isinstance(item, Kept):
                kept.append(item)
            elif item.kind in kinds:
                garbage.append(item)
            else:
                kept.append(Kept(path=item.path, reason=f"{item.kind}: {item.reason}; {_OPTIONS[item.kind]}"))
    for item in _results(root, [run for run in runs if holder_of(run) is not None]):
        if "kept results" in kinds:
            garbage.append(item)
        else:
            kept.append(Kept(path=item.path, reason=f"{item.kind}: {item.reason}; {_OPTIONS[item.kind]}"))
    if "temporary" in kinds:
        garbage += _temporary((time.time() if now is None else now) - hours * 3600)
    if "environment" in kinds:
        garbage += _environments(runs)
    return GarbageFound(garbage=tuple(garbage), kept=tuple(kept), runs=len(runs))


_OPTIONS: dict[Kind, str] = {
    "unfinished audit": "--unfinished removes it",
    "reply cache": "--replies removes it",
    "kept results": "--results removes it",
}


def run_folders(root: Path) -> Iterator[Path]:
    """Yield the run folders below a folder, itself included; links are not followed."""
    for folder, names, _ in os.walk(root):
        here = Path(folder)
        if kind_of(here) is not None and ((here / "work").is_dir() or (here / "judge").is_dir()):
            yield here
            names[:] = [name for name in names if name not in ("work", "tables", "split", "instances", "report")]
        names[:] = [name for name in names if name not in _NOT_OURS]


def remove(item: Garbage) -> None:
    """Remove one thing; stores with verdicts of people and paid answers stay.

    Raises:
        FolderInUseError: A process has begun to work in its run folder.
        OSError: It cannot be removed.
    """
    if item.kind == "kept results":
        for ending in ("-wal", "-shm", ""):
            Path(f"{item.path}{ending}").unlink(missing_ok=True)
        return
    if item.run is None:
        shutil.rmtree(item.path)
        return
    with RunFolder(Path(item.run)).alone():
        if item.path != item.run:
            _remove_below(Path(item.path), keep_stores=item.kind != "reply cache")
            return
        for name in _OF_AN_AUDIT:  # and nothing that other programs have put next to them
            _remove_below(Path(item.run) / name, keep_stores=True)
        if not any(Path(item.run).iterdir()):
            Path(item.run).rmdir()


def _remove_below(path: Path, *, keep_stores: bool) -> None:
    if path.is_symlink() or not path.is_dir():
        if not (keep_stores and _is_store(path)):
            path.unlink(missing_ok=True)
        return
    for folder, names, files in os.walk(path, topdown=False):
        here = Path(folder)
        for name in (*files, *(each for each in names if (here / each).is_symlink())):
            if not (keep_stores and _is_store(here / name)):
                (here / name).unlink()
        if not any(here.iterdir()):
            here.rmdir()


def _of_run(run: Path) -> Iterator[Garbage | Kept]:
    for path in sorted(run.rglob("*.partial")):
        yield _garbage(path, "unfinished file", "a process was killed while it wrote this", run)
    if kind_of(run) == "audit" and not (run / "manifest.json").is_file():
        reason = _dead(run)
        kind: Kind = "dead audit" if reason else "unfinished audit"
        yield _garbage(run, kind, reason or "it can be continued by the same command", run)
    for path in (run / "judge" / "replies.sqlite", run / "work" / "replies.sqlite"):
        if path.is_file():
            yield _garbage(path, "reply cache", "only a repetition of the same questions needs it", run)


def _dead(run: Path) -> str:
    """Return why an unfinished audit can never be continued; empty when it may be."""
    settings_file = run / "work" / "settings.json"
    key = run / "work" / "key"
    if not settings_file.is_file() or not key.is_file():
        return "it was killed before it had read anything"
    try:
        settings = AuditSettings.model_validate_json(settings_file.read_bytes())
    except ValueError:
        return "its settings cannot be read"
    path = Path(settings.path)
    if not path.exists():
        # A relative path may be right from the folder in which the audit ran.
        return f"its benchmark is gone ({path})" if path.is_absolute() else ""
    try:
        if RunFolder(run).holds_other_than(AuditInput(settings).key):
            return "its benchmark, its runs or the code of AgentHard has changed since, so it cannot be continued"
    except (SourceError, OSError):
        return "its benchmark cannot be read any more"
    return ""


def _temporary(before: float) -> Iterator[Garbage]:
    """Yield temporary folders of this user that processes have left behind, by their age."""
    places = [(Path(tempfile.gettempdir()), "agenthard-*"), (environments_folder(), "*/.building-*")]
    for base, pattern in places:
        for path in sorted(base.glob(pattern)):
            try:
                status = path.lstat()
            except OSError:
                continue
            mine = not hasattr(os, "getuid") or status.st_uid == os.getuid()
            if path.is_dir() and not path.is_symlink() and mine and status.st_mtime < before:
                yield _garbage(path, "temporary", "a process that was killed has left it", None)


def _results(root: Path, busy: list[Path]) -> Iterator[Garbage]:
    """Yield the files of `--reuse` below a folder that no audit below it uses now."""
    used = set[Path]()
    for run in busy:
        try:
            settings = AuditSettings.model_validate_json((run / "work" / "settings.json").read_bytes())
        except (OSError, ValueError):
            continue
        used |= {Path(settings.reuse).resolve()} if settings.reuse else set()
    for folder, names, files in os.walk(root):
        names[:] = sorted(name for name in names if name not in _NOT_OURS)
        for path in (Path(folder) / name for name in sorted(files)):
            if not path.is_symlink() and path.resolve() not in used and (count := count_results(path)) is not None:
                reason = f"results of {count:,} tasks by content (--reuse); the next audit would check them again"
                yield _garbage(path, "kept results", reason, None)


def _environments(runs: list[Path]) -> Iterator[Garbage]:
    """Yield environments of benchmarks that no run below the folder is about."""
    used = set()
    for run in runs:
        try:
            used.add(AuditSettings.model_validate_json((run / "work" / "settings.json").read_bytes()).source)
        except (OSError, ValueError):
            continue
    for item in existing():
        if item.benchmark not in used:
            reason = f"no run here is about {item.benchmark}; `agenthard env create` makes it again"
            yield _garbage(item.folder, "environment", reason, None)


def _garbage(path: Path, kind: Kind, reason: str, run: Path | None) -> Garbage:
    kept = kind in ("dead audit", "unfinished audit")
    return Garbage(
        path=str(path), kind=kind, bytes=_size(path, kept), reason=reason, run=None if run is None else str(run)
    )


def _size(path: Path, without_stores: bool) -> int:
    files = [path] if not path.is_dir() else [each for each in path.rglob("*") if not each.is_dir()]
    return sum(each.lstat().st_size for each in files if not (without_stores and _is_store(each)))


def _is_store(path: Path) -> bool:
    return any(path.name.endswith((ending, f"{ending}-wal", f"{ending}-shm")) for ending in _KEPT_STORES)


ERRORS = (AgentHardError, OSError)
"""Why something could not be removed; the rest is removed all the same."""
