"""The split of a run folder that is to be published, and what has to be true of it before it can be."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, TypeVar

import pyarrow
from pydantic import ValidationError

from agenthard.audit.decisions.policy import Decision
from agenthard.audit.decisions.repaired_split import RepairedSplitManifest
from agenthard.audit.decisions.split import HardSplitManifest, SplitManifest
from agenthard.audit.repair.file_edits import edit_files
from agenthard.audit.repair.repairs import mirror
from agenthard.audit.sources.base import Source
from agenthard.flows.audited_run import Audited, read_audited, read_decisions, read_findings, read_report
from agenthard.flows.errors import CommandError
from agenthard.flows.publishing.records import PublishSettings, SplitChoice
from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.finding import Finding

_Read = TypeVar("_Read")
_KINDS: dict[SplitChoice, tuple[type[SplitManifest], str, str]] = {
    "clean": (SplitManifest, "cleaned", "`agenthard audit`"),
    "hard": (HardSplitManifest, "hard", "`agenthard report`"),
    "repaired": (RepairedSplitManifest, "repaired", "`agenthard repair`"),
}
"""Record of the manifest, name in the manifest, and what writes it, by split."""


class ChosenSplit(NamedTuple):
    """A split of a finished audit, checked."""

    choice: SplitChoice
    """Which split."""
    folder: Path
    """Where its files are."""
    manifest: SplitManifest
    """What it holds and why."""
    audited: Audited
    """The audit."""
    source: Source
    """The benchmark, unchanged since the audit."""
    decisions: Sequence[Decision]
    """The audit's decision on each task."""
    findings: Sequence[Finding]
    """Its findings."""
    report: dict[str, Any]
    """Its ``findings.json``."""

    @contextmanager
    def tasks_source(self) -> Iterator[Source]:
        """Open the benchmark as the split has it: with the repairs in it, where there are any."""
        edits = [
            edit
            for task in (self.manifest.repaired if isinstance(self.manifest, RepairedSplitManifest) else ())
            for edit in task.edits
        ]
        if not edits:
            yield self.source
            return
        root = self.source.folder or self.source.root.parent
        with TemporaryDirectory(prefix="agenthard-publish-") as folder:
            copy = mirror(root, Path(folder), edit_files(root, edits))
            yield self.audited.opener(self.source)(copy)


def choose_split(settings: PublishSettings) -> ChosenSplit:
    """Find the split and check it: files as they were written, decisions of this audit, benchmark unchanged.

    Raises:
        CommandError: something is missing, damaged or changed; the message says what and what to do.
        SourceError: the benchmark cannot be read.
    """
    run = Path(settings.run)
    audited = _intact(run, lambda: read_audited(run, settings.benchmark))
    decisions = _intact(run, lambda: read_decisions(run))
    findings = _intact(run, lambda: read_findings(run))
    report = read_report(run)
    folder = _folder(settings)
    manifest = _read_manifest(folder, settings.split)
    _require_files(folder, manifest)
    if manifest.benchmark != audited.version:
        raise CommandError(f"{folder}: is of another release than the audit in {run}; write the split again")
    dropped = {each.task_id for each in decisions if each.action == "drop"}
    put_back = {each.task_id for each in manifest.repaired} if isinstance(manifest, RepairedSplitManifest) else set()
    kept = [each.task_id for each in decisions if each.task_id not in dropped - put_back]
    left_out = {each.task_id for each in manifest.not_hard} if isinstance(manifest, HardSplitManifest) else set()
    if [task_id for task_id in kept if task_id not in left_out] != list(manifest.kept_ids):
        _, _, command = _KINDS[settings.split]
        raise CommandError(
            f"{folder}: does not follow from the decisions of the audit, which were made after it; run {command} again"
        )
    return ChosenSplit(settings.split, folder, manifest, audited, audited.open_unchanged(), decisions, findings, report)


def _intact(run: Path, read: Callable[[], _Read]) -> _Read:
    """Read a part of a run folder; what is damaged becomes one kind of message."""
    try:
        return read()
    except (ValueError, KeyError, TypeError, pyarrow.ArrowException) as error:
        if isinstance(error, AgentHardError):
            raise
        reason = " ".join(str(error).split())[:200]
        raise CommandError(f"{run}: the run folder is damaged ({reason}); audit again into a new folder") from error


def _folder(settings: PublishSettings) -> Path:
    run = Path(settings.run)
    if settings.split == "repaired":
        return Path(settings.repair or run / "repair") / "repaired"
    return run / "split" / ("cleaned" if settings.split == "clean" else "hard")


def _read_manifest(folder: Path, choice: SplitChoice) -> SplitManifest:
    record, name, command = _KINDS[choice]
    file = folder / "manifest.json"
    if not file.is_file():
        raise CommandError(f"{folder}: no {choice} split is here; {command} writes it")
    try:
        manifest = record.model_validate_json(file.read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the document"
        raise CommandError(f"{file}: damaged ({place}: {first['msg']}); run {command} again") from error
    if manifest.split != name:
        raise CommandError(f"{file}: is of the split {manifest.split!r}, not {name!r}; run {command} again")
    return manifest


def _require_files(folder: Path, manifest: SplitManifest) -> None:
    for file in manifest.files:
        path = folder / file.path
        if not path.is_file():
            raise CommandError(f"{path}: missing, and the split's manifest names it; write the split again")
        if sha256_of(path) != file.sha256:
            raise CommandError(f"{path}: damaged or edited: its bytes are not those that were written; write it again")


def sha256_of(path: Path) -> str:
    """Hash the bytes of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
