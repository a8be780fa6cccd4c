"""Checking that a run folder is what its last command wrote: files against hashes, quotes against their files."""

import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Literal

from agenthard.audit.native_text import NativeFiles
from agenthard.audit.sources.base import SourceError
from agenthard.flows.audit_plan import AuditSettings
from agenthard.flows.audited_run import read_audited
from agenthard.flows.checksums import (
    FILE,
    SQLITE,
    WORK,
    UnreadableChecksumsError,
    checksum,
    listed_files,
    live_files,
    nested_runs,
    open_store,
    read_checksums,
)
from agenthard.flows.errors import CommandError
from agenthard.flows.job_status import read_status
from agenthard.flows.run_findings import RunFindings
from agenthard.flows.run_folder import RunFolder
from agenthard.flows.run_status import kind_of
from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.finding import Evidence, Finding
from agenthard.taxonomy.record import Record

_PACKED = (
    *(("answers", "answer"), ("defences", "defence"), ("attempts", "trajectory")),
    *(("replies", "reply"), ("parts", "body")),
)
"""Tables and columns of our stores with compressed values; other columns of bytes hold hashes."""
MOST_QUOTES = 20
"""Quotes that are not found again of which the place is named."""


class Fault(Record):
    """A file that is not as the last command left it."""

    file: str
    """Path relative to the run folder."""
    what: Literal["damaged", "missing", "added"]
    """damaged: other bytes; missing: gone; added: no command of AgentHard wrote it."""
    detail: str = ""
    """What is known about it."""


class Verification(Record):
    """The result of checking a run folder."""

    run: str
    """Run folder."""
    files: int
    """Files that have the hash they were written with."""
    faults: tuple[Fault, ...]
    """Files that are damaged, missing or added."""
    quotes: int | None
    """Quotes of findings that were found again in the files of the benchmark; None where that was not checked."""
    lost_quotes: tuple[str, ...] = ()
    """Quotes that were not found again, the first of them in words."""
    lost: int = 0
    """How many these are."""
    not_checked: tuple[str, ...] = ()
    """What was not checked, with the reason."""
    unfinished: str = ""
    """What a command was doing when it ended early; empty when the last one finished."""

    @property
    def intact(self) -> bool:
        """Whether everything that was checked is as it was written."""
        return not self.faults and not self.lost


def verify_run(run: Path, benchmark: Path | None = None) -> Verification:
    """Check a run folder, and the folders of runs inside.

    Args:
        run: The folder.
        benchmark: Where the benchmark is now; None = where it was audited.

    Raises:
        CommandError: It is not a run folder.
        FolderInUseError: A process writes into it.
    """
    nested = nested_runs(run)
    if kind_of(run) is None and not nested and not (run / FILE).is_file():
        raise CommandError(f"{run}: no run folder (it has no checksums.json and no work); name another")
    files, faults, gaps = 0, list[Fault](), list[str]()
    quotes: _Quotes | None = None
    unfinished = ""
    for folder in (run, *nested):
        with RunFolder(folder).read():
            prefix = "" if folder == run else f"{folder.relative_to(run).as_posix()}/"
            left = read_status(folder / WORK)
            good, bad, unchecked = _compare_folder(folder, ended_early=left is not None)
            files += good
            faults += [fault.model_copy(update={"file": f"{prefix}{fault.file}"}) for fault in bad]
            gaps += [f"{prefix}{each}" for each in unchecked]
            if left is not None:
                unfinished = unfinished or f"{left.command}: {left.stage}{f' ({left.error})' if left.error else ''}"
            if (folder / "findings.json").is_file():
                quotes = (quotes or _Quotes()).add(folder, benchmark, gaps)
    return Verification(
        run=str(run),
        files=files,
        faults=tuple(faults),
        quotes=None if quotes is None or not quotes.checked else quotes.found,
        lost_quotes=() if quotes is None else tuple(quotes.lost[:MOST_QUOTES]),
        lost=0 if quotes is None else len(quotes.lost),
        not_checked=tuple(gaps),
        unfinished=unfinished,
    )


def _compare_folder(root: Path, *, ended_early: bool) -> tuple[int, list[Fault], list[str]]:
    """Compare the files of one run with its lists: number of good files, faults, what was not checked.

    A command that ended early may have changed any file since the lists were written, so a change is not damage then.
    """
    good, faults, gaps, changed = 0, list[Fault](), list[str](), list[Fault]()
    for folder in (root, root / WORK):
        prefix = "" if folder == root else f"{WORK}/"
        try:
            known = read_checksums(folder)
        except UnreadableChecksumsError as error:
            faults.append(Fault(file=f"{prefix}{FILE}", what="damaged", detail=str(error)))
            gaps.append(f"{prefix or '.'}: the files, because {prefix}{FILE} is damaged")
            continue
        if known is None:
            if folder.is_dir():
                reason = "the last command did not end, or an older version of AgentHard wrote this folder"
                gaps.append(f"{prefix or './'}: hashes of the files ({prefix}{FILE} is missing: {reason})")
            else:
                gaps.append(f"{prefix}: was deleted; a later command cannot continue from it")
            continue
        there = set(listed_files(root, folder))
        for name, expected in sorted(known.files.items()):
            if name not in there:
                changed.append(Fault(file=f"{prefix}{name}", what="missing", detail=f"{expected.bytes:,} bytes"))
                continue
            detail = _difference(folder / name, expected)
            if detail:
                broken = faults if _damaged_store(folder / name) else changed
                broken.append(Fault(file=f"{prefix}{name}", what="damaged", detail=detail))
            else:
                good += 1
        changed += [Fault(file=f"{prefix}{name}", what="added") for name in sorted(there - known.files.keys())]
    if ended_early:
        gaps += [f"{each.file}: not as it was before the command that ended early began" for each in changed]
    else:
        faults += changed
    for path in live_files(root):
        name = path.relative_to(root).as_posix()
        fault = _damaged_store(path)
        if fault:
            faults.append(Fault(file=name, what="damaged", detail=fault))
        elif _is_store(path):
            gaps.append(f"{name}: its hash, since the file changes between commands; SQLite's own check found no fault")
        elif path.suffix == ".jsonl":
            gaps.append(f"{name}: its hash, since the file changes between commands")
    return good, faults, gaps


def _difference(path: Path, expected: object) -> str:
    try:
        found = checksum(path)
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    except sqlite3.Error as error:
        return f"SQLite: {error}"
    if _is_store(path) and found == expected:
        return _damaged_store(path)
    return "" if found == expected else f"{found.bytes:,} bytes with SHA-256 {found.sha256[:16]}…, not those written"


def _is_store(path: Path) -> bool:
    return path.suffix in (".sqlite", ".db")


def _damaged_store(path: Path) -> str:
    """Return why a SQLite file is damaged, as far as the file itself tells; empty for other files and sound ones."""
    if not _is_store(path):
        return ""
    with path.open("rb") as stream:
        if stream.read(len(SQLITE)) not in (SQLITE, b""):
            return "no SQLite file any more"
    try:
        with closing(open_store(path)) as connection:
            found = [str(row[0]) for row in connection.execute("PRAGMA integrity_check(3)")]
            return "; ".join(found) if found != ["ok"] else next(_broken_values(connection), "")
    except sqlite3.Error as error:
        return f"SQLite: {error}"


def _broken_values(connection: sqlite3.Connection) -> Iterator[str]:
    """Yield the first compressed value of a table that cannot be unpacked: each carries a checksum of its own."""
    for table, column in _PACKED:
        if column in [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]:
            for number, (value,) in enumerate(connection.execute(f'SELECT "{column}" FROM "{table}"'), 1):
                try:
                    if isinstance(value, bytes):
                        zlib.decompress(value)
                except zlib.error as error:
                    yield f"{column} of row {number:,} of {table} cannot be unpacked: {error}"


class _Quotes:
    """Quotes of findings, looked for in the benchmark's own files."""

    def __init__(self) -> None:
        self.found = 0
        self.lost: list[str] = []
        self.checked = False

    def add(self, run: Path, benchmark: Path | None, gaps: list[str]) -> "_Quotes":
        """Check the quotes of one run; what cannot be checked goes to the gaps."""
        try:
            audited = read_audited(run, str(benchmark) if benchmark else None)
            findings = RunFindings(run).findings
        except (AgentHardError, ValueError, KeyError, OSError) as error:
            gaps.append(f"quotes: the run folder cannot be read ({_first_line(error)})")
            return self
        path = Path(audited.settings.path)
        if not path.exists():
            gaps.append(f"quotes: the benchmark is gone ({path}); name its folder with --benchmark")
            return self
        try:
            source = audited.settings.open()
            now = source.version()
        except (SourceError, OSError) as error:
            gaps.append(f"quotes: the benchmark cannot be read any more ({_first_line(error)})")
            return self
        if now.content_hash != audited.version.content_hash:
            gaps.append(
                f"quotes: the benchmark has changed since the audit (content {now.content_hash}, audited "
                f"{audited.version.content_hash})"
            )
            return self
        self.checked = True
        self._compare(findings, NativeFiles(source.file_path), audited.settings, gaps)
        return self

    def _compare(self, findings: list[Finding], files: NativeFiles, settings: AuditSettings, gaps: list[str]) -> None:
        tasks = {task.id: task for task in settings.open().read_tasks()[0]} if findings else {}
        of_runs = without = 0
        for finding in findings:
            for item in finding.evidence:
                if item.trajectory_id is not None:
                    of_runs += 1
                elif item.native is None:
                    without += 1
                elif item.task_id in tasks and files.find(tasks[item.task_id], _plain(item)) == item.native:
                    self.found += 1
                else:
                    self.lost.append(f"{item.native.file}:{item.native.line}: finding {finding.id}: {item.quote[:120]}")
        if of_runs:
            gaps.append(
                f"quotes: {of_runs:,} of recorded runs (only those of the benchmark's files are searched again)"
            )
        if without:
            gaps.append(f"quotes: {without:,} whose place in a file the source does not tell")


def _plain(item: Evidence) -> Evidence:
    return item.model_copy(update={"native": None})


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
